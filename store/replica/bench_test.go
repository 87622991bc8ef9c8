package replica

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// scale is how many entries a benchmark is about: few where each is run once so that it does not rot.
func scale(b *testing.B, usual int) int {
	if n, err := strconv.Atoi(os.Getenv("SPAMSIM_ENTRIES")); err == nil {
		return n
	}
	return usual
}

// publisher is a node that tells what it counts and does not listen.
func publisher(b *testing.B, url string) (*node, *Replica, *broker) {
	n := &node{name: "publisher", url: url, key: siteKey}
	var err error
	if n.Store, err = store.Open("", store.Options{Key: n.key}); err != nil {
		b.Fatal(err)
	}
	if n.share, err = n.Store.Share(n.name, n.key); err != nil {
		b.Fatal(err)
	}
	br, err := dial(url, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(br.close)
	r := &Replica{share: n.share, o: Options{Name: n.name, Log: slog.New(slog.DiscardHandler)}, seal: newSealer(siteKey), session: 1,
		seen: map[uint32]*peer{}, missing: map[store.Key]time.Time{}}
	return n, r, br
}

// A node joins a site whose nodes hold many clusters: how long until it holds them too. SPAMSIM_ENTRIES says how many those
// are.
func BenchmarkJoin(b *testing.B) {
	clusters := scale(b, 2000)
	broker := redistest.Start(b, "--appendonly", "no")
	n, r, br := publisher(b, broker.URL())
	for i := range clusters {
		n.count(i, 1)
	}
	for entries := n.share.Changes(batchSize); len(entries) > 0; entries = n.share.Changes(batchSize) {
		if err := r.send(b.Context(), br, 1, entries); err != nil {
			b.Fatal(err)
		}
	}
	held := n.Stats().Clusters
	*n = node{}
	*r = Replica{}
	runtime.GC() // it is no part of the node that joins
	b.ResetTimer()
	begun := cpu(b)
	for b.Loop() {
		c := newNode(b, broker.URL(), "joining")
		for c.Stats().Clusters < held {
			time.Sleep(10 * time.Millisecond)
		}
		b.StopTimer()
		c.close(b)
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/join")
	b.ReportMetric((cpu(b)-begun).Seconds()/float64(b.N), "cpu-s/join")
	b.ReportMetric(float64(held), "clusters")
}

// cpu is the processor time that this process has taken.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// One node tells as fast as it can, and three others, in processes of their own, take it in: of new clusters, and of known
// ones that were counted into once more. SPAMSIM_ENTRIES says how many events those are. Nothing may be lost: each reader
// ends once it has the digests of who tells.
func BenchmarkThreeReaders(b *testing.B) {
	if os.Getenv("SPAMSIM_READER") != "" {
		b.Skip("this process is a reader")
	}
	events := scale(b, 2000)
	b.Run("new", func(b *testing.B) {
		x := newReaders(b)
		for i := range events {
			x.n.count(i, 1)
		}
		x.run(b, x.changes())
	})
	b.Run("known", func(b *testing.B) {
		const clusters = 1000
		x := newReaders(b)
		var told []store.Entry
		for round := range max(1, events/clusters) + 3 {
			for i := range clusters {
				x.n.count(i, round+1)
			}
			if some := x.changes(); round < 3 {
				x.send(b, some)
			} else {
				told = append(told, some...)
			}
		}
		x.run(b, told)
	})
}

// readers are a node that tells and three processes that listen.
type readers struct {
	n    *node
	r    *Replica
	br   *broker
	url  string
	seq  uint64
	cmds []*exec.Cmd
}

func newReaders(b *testing.B) *readers {
	x := &readers{url: redistest.Start(b, "--appendonly", "no").URL()}
	x.n, x.r, x.br = publisher(b, x.url)
	return x
}

func (x *readers) changes() (out []store.Entry) {
	for some := x.n.share.Changes(batchSize); len(some) > 0; some = x.n.share.Changes(batchSize) {
		out = append(out, some...)
	}
	return out
}

func (x *readers) send(b *testing.B, entries []store.Entry) {
	for some := range slices.Chunk(entries, batchSize) {
		x.seq++
		if err := x.r.send(b.Context(), x.br, x.seq, some); err != nil {
			b.Fatal(err)
		}
	}
}

func (x *readers) run(b *testing.B, entries []store.Entry) {
	for i := range 3 {
		c := exec.Command(os.Args[0], "-test.run", "^TestReader$")
		c.Env = append(os.Environ(), "SPAMSIM_READER="+x.url, fmt.Sprint("SPAMSIM_DIGEST=", short(x.n.share.Digest(0))), fmt.Sprint("SPAMSIM_NAME=reader", i))
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		x.cmds = append(x.cmds, c)
	}
	redistest.Eventually(b, "the readers listen", func() bool {
		all, _, err := x.br.beat(b.Context(), x.n.share.Node(), nil)
		return err == nil && len(all) == 4
	})
	begun, reading := cpu(b), time.Duration(0)
	b.ResetTimer()
	for b.Loop() {
		x.send(b, entries)
		for _, c := range x.cmds {
			if err := c.Wait(); err != nil {
				b.Fatal(err)
			}
			reading += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		}
		x.cmds = nil
	}
	n := float64(len(entries))
	b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((cpu(b)-begun).Nanoseconds())/n, "cpu-ns/sent")
	b.ReportMetric(float64(reading.Nanoseconds())/3/n, "cpu-ns/read")
}

// TestReader is a process of BenchmarkThreeReaders: it ends well once it holds what the node that tells does.
func TestReader(t *testing.T) {
	url := os.Getenv("SPAMSIM_READER")
	if url == "" {
		return
	}
	n := &node{path: filepath.Join(t.TempDir(), "db"), name: os.Getenv("SPAMSIM_NAME"), url: url, key: siteKey}
	n.open(t)
	defer n.close(t)
	for want := os.Getenv("SPAMSIM_DIGEST"); short(n.share.Digest(0)) != want; {
		time.Sleep(time.Millisecond)
	}
	if s := n.Status(); s.Sessions != 1 {
		t.Errorf("a session was not enough: %+v", s)
	}
}
