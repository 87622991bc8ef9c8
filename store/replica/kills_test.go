package replica

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// A child is a node in a process of its own, that can be killed. Told "go" it counts and trains until it is told "quiet"; asked
// "digest" it answers.
type child struct {
	t      *testing.T
	name   string
	dir    string
	url    string
	seed   int
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	starts int
}

func (c *child) start() {
	c.t.Helper()
	c.starts++
	c.cmd = exec.Command(os.Args[0], "-test.run", "^TestChild$")
	c.cmd.Env = append(os.Environ(), "SPAMSIM_CHILD="+c.url, "SPAMSIM_NAME="+c.name, "SPAMSIM_DIR="+c.dir,
		fmt.Sprint("SPAMSIM_FIRST=", 1_000_000*c.seed+10_000*c.starts))
	c.cmd.Stderr = os.Stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	c.ask("digest") // it is up
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// ask returns the answer to a command.
func (c *child) ask(what string) string {
	c.t.Helper()
	fmt.Fprintln(c.in, what)
	if !c.out.Scan() {
		c.t.Fatalf("%s does not answer %q", c.name, what)
	}
	return c.out.Text()
}

func (c *child) path() string { return filepath.Join(c.dir, "db") }

// taught are the campaigns whose training was acknowledged.
func (c *child) taught() (out []int) {
	data, err := os.ReadFile(filepath.Join(c.dir, "taught"))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			c.t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// TestChild is such a process.
func TestChild(t *testing.T) {
	url := os.Getenv("SPAMSIM_CHILD")
	if url == "" {
		return
	}
	dir := os.Getenv("SPAMSIM_DIR")
	n := &node{path: filepath.Join(dir, "db"), name: os.Getenv("SPAMSIM_NAME"), url: url, key: siteKey}
	n.open(t)
	first, err := strconv.Atoi(os.Getenv("SPAMSIM_FIRST"))
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := os.OpenFile(filepath.Join(dir, "taught"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	quiet, idle := make(chan struct{}), make(chan struct{})
	close(idle)
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch commands.Text() {
		case "go":
			quiet, idle = make(chan struct{}), make(chan struct{})
			go func() { defer close(idle); first = n.work(t, first, ledger, quiet) }()
			fmt.Println("goes")
		case "quiet":
			close(quiet)
			<-idle
			fmt.Println("is quiet")
		case "digest":
			fmt.Println(short(n.share.Digest(hourNow())))
		}
	}
	n.close(t)
}

// work counts copies of campaigns that all nodes see, and trains messages that nobody else does, from a number on, each noted
// once it is on disk.
func (n *node) work(t *testing.T, from int, ledger io.Writer, quiet chan struct{}) int {
	for {
		select {
		case <-quiet:
			return from
		case <-time.After(10 * time.Millisecond): // a hundred a second
		}
		from++
		n.count(from%50, from)
		if from%5 == 0 {
			n.Train(trace(from, 0), transaction(from, 0), store.Spam)
			if err := n.Sync(); err != nil {
				t.Error(err)
			}
			fmt.Fprintln(ledger, from)
		}
	}
}

// Broker and nodes are killed at random, and the network of a node is cut, while all of them count and train: each time
// that all is well again, all come to hold the same, and at the end all know of every training that was acknowledged.
// SPAMSIM_MINUTES is for how long.
func TestAllAreKilled(t *testing.T) {
	t.Parallel()
	end, rounds := time.Now(), 2
	if m, err := strconv.Atoi(os.Getenv("SPAMSIM_MINUTES")); err == nil {
		end, rounds = end.Add(time.Duration(m)*time.Minute), 0
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	broker := redistest.Start(t, "--appendfsync", "everysec")
	cable := newProxy(t, broker.Addr)
	x := &fray{t: t, r: r, broker: broker, cable: cable}
	for i := range 3 {
		c := &child{t: t, name: fmt.Sprint("node", i), dir: t.TempDir(), url: broker.URL(), seed: i + 1}
		if i == 2 {
			c.url = "redis://" + cable.Addr().String()
		}
		c.start()
		t.Cleanup(c.kill)
		x.nodes = append(x.nodes, c)
	}
	for round := 0; round < rounds || time.Now().Before(end); round++ {
		x.round(round)
	}
	t.Logf("%d kills of the broker, %d of nodes, %d cuts; equal digests after at most %v, in the mean %v",
		x.brokers, x.killed, x.cuts, x.longest, x.all/time.Duration(max(1, x.rounds)))
	x.settle()
}

// A fray is the nodes and what is done to them.
type fray struct {
	t                             *testing.T
	r                             *rand.Rand
	broker                        *redistest.Server
	cable                         *proxy
	nodes                         []*child
	brokers, killed, cuts, rounds int
	longest, all                  time.Duration
}

// round lets all work while something is broken, mends it, and waits until all hold the same.
func (x *fray) round(n int) {
	for _, c := range x.nodes {
		c.ask("go")
	}
	x.pause()
	hit := x.r.IntN(len(x.nodes))
	what := n % 4
	if n > 4 {
		what = x.r.IntN(8) // 0 to 2 the broker, 3 and 7 the cable, all others or both a node
	}
	broken, cut, shot := what < 3 && what != 1, what == 3 || what == 7, what == 1 || what > 3
	if cut {
		x.cable.set(true)
		x.cuts++
	}
	if broken {
		x.broker.Kill()
		x.brokers++
	}
	x.pause()
	if shot {
		x.nodes[hit].kill()
		x.killed++
		x.pause()
	}
	if broken {
		x.broker.Run()
	}
	x.cable.set(false)
	if shot {
		x.nodes[hit].start()
	}
	begun := time.Now()
	for i, c := range x.nodes {
		if i != hit || !shot {
			c.ask("quiet")
		}
	}
	redistest.Eventually(x.t, "equal digests", func() bool {
		first := x.nodes[0].ask("digest")
		return first == x.nodes[1].ask("digest") && first == x.nodes[2].ask("digest")
	})
	took := time.Since(begun)
	x.rounds++
	x.longest, x.all = max(x.longest, took), x.all+took
}

// pause lets the load go on for a while.
func (x *fray) pause() { time.Sleep(time.Duration(50+x.r.IntN(400)) * time.Millisecond) }

// settle ends the nodes and looks into their files.
func (x *fray) settle() {
	var taught []int
	for _, c := range x.nodes {
		c.ask("digest")
		taught = append(taught, c.taught()...)
	}
	if len(taught) == 0 {
		x.t.Fatal("nothing was trained")
	}
	for _, c := range x.nodes {
		_ = c.in.Close()
		_ = c.cmd.Wait()
	}
	x.t.Logf("%d trainings were acknowledged", len(taught))
	for _, c := range x.nodes {
		c.knows(taught)
	}
}

// knows fails unless the file of a node has all that was taught, by whomever.
func (c *child) knows(taught []int) {
	s, err := store.Open(c.path(), store.Options{Background: quickBackground()})
	if err != nil {
		c.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Share(c.name, siteKey); err != nil {
		c.t.Fatal(err)
	}
	lost := 0
	for _, n := range taught {
		if ev := s.Judge(trace(n, 0), &store.Transaction{Message: "asked", Time: time.Now()}); ev.Label != store.Spam {
			lost++
		}
	}
	if lost > 0 {
		c.t.Errorf("%s does not know of %d of %d trainings", c.name, lost, len(taught))
	}
}
