package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// startSite runs daemons that share a memory through a broker, each behind its own SMTP listener, with further lines of
// configuration.
func startSite(t *testing.T, url string, nodes int, more string) []*daemon {
	t.Helper()
	key := filepath.Join(t.TempDir(), "peers.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5e", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []*daemon
	for range nodes {
		out = append(out, start(t, testConfig(t, fmt.Sprintf("%s\n[peers]\nurl = %q\nkey_file = %q\n", more, url, key))))
	}
	return out
}

// known is how many copies of its largest campaign a daemon knows.
func (d *daemon) known() int {
	all := d.store.Campaigns(store.Biggest, 1)
	if len(all) == 0 {
		return d.store.Stats().Clusters
	}
	return all[0].Copies
}

// verdicts are those of the messages in a daemon's maildir.
func verdicts(t *testing.T, d *daemon) (out []string) {
	t.Helper()
	for _, m := range delivered(t, d.conf.Load()) {
		verdict, _, _ := strings.Cut(strings.TrimPrefix(m, "X-Spamsim: "), ";")
		out = append(out, verdict)
	}
	return out
}

func copyOf(n int) []byte {
	return fmt.Appendf(nil, "From: sender%d@bulk.example\r\nTo: rcpt%d@site.example\r\nMessage-ID: <copy%d@bulk.example>\r\nSubject: an offer\r\n\r\n"+
		"Dear customer %d, our warehouse closes at the end of this month and every remaining garden chair, table and parasol\r\n"+
		"must go at half its former price. Visit the showroom by the harbour on any weekday between nine and five, bring\r\n"+
		"this letter along, and our staff will gladly reserve your favourite pieces until you have found a larger car.\r\n", n, n, n, n)
}

// A campaign that is spread over three nodes, each copy sent when all know of the last, is called bulk at the same copy as by
// one node alone.
func TestCampaignOverThreeNodes(t *testing.T) {
	const copies = 15
	alone := start(t, testConfig(t, ""))
	site := startSite(t, redistest.Start(t).URL(), 3, "")
	for i := range copies {
		d := site[i%len(site)]
		for _, to := range []*daemon{d, alone} {
			if reply := lab.Send(t, to.smtp[0].String(), fmt.Sprintf("sender%d@bulk.example", i), []string{fmt.Sprintf("rcpt%d@site.example", i)}, copyOf(i)); reply[0] != '2' {
				t.Fatal(reply)
			}
		}
		lab.Eventually(t, "all nodes know of the copy", func() bool {
			return !slices.ContainsFunc(site, func(d *daemon) bool { return d.known() != i+1 })
		})
	}
	var got []string
	for _, d := range site {
		got = append(got, verdicts(t, d)...)
	}
	want := verdicts(t, alone)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || strings.Count(strings.Join(want, " "), "bulk") != copies-4 {
		t.Errorf("on three nodes %v, on one %v", got, want)
	}
}

// Mail does not wait for a broker that hangs: while it is stopped, every message is judged as ever. How long the messages took
// with the broker well and hanging, in turns so that what else the machine does is the same for both, is printed;
// SPAMSIM_MESSAGES says of how many.
func TestMailWhileBrokerHangs(t *testing.T) {
	messages, turns := 100, 4
	if n, err := strconv.Atoi(os.Getenv("SPAMSIM_MESSAGES")); err == nil {
		messages = n
	}
	broker := redistest.Start(t)
	sink := lab.StartSink(t, lab.SinkConfig{})
	site := startSite(t, broker.URL(), 2, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n", sink.Addr))
	mails := lab.Unlike(2 * messages)
	c := lab.Dial(t, site[0].smtp[0].String())
	c.Must("EHLO client.example")
	var well, hangs []time.Duration
	for turn := range turns {
		lab.Eventually(t, "the nodes are connected", func() bool { return site[0].standing().Connected && site[1].standing().Connected })
		part := mails[turn*len(mails)/turns : (turn+1)*len(mails)/turns]
		well = append(well, timeAll(t, c, part[:len(part)/2])...)
		broker.Signal(syscall.SIGSTOP)
		hangs = append(hangs, timeAll(t, c, part[len(part)/2:])...)
		broker.Signal(syscall.SIGCONT)
	}
	t.Logf("of %d messages each: broker well p50 %v, p99 %v; hanging p50 %v, p99 %v", len(well),
		quantile(well, 0.5), quantile(well, 0.99), quantile(hangs, 0.5), quantile(hangs, 0.99))
	if got := sink.Wait(t, len(mails)); len(got) != len(mails) {
		t.Errorf("%d messages of %d arrived", len(got), len(mails))
	}
	for _, m := range sink.Mails() {
		if !strings.HasPrefix(string(m.Content), "X-Spamsim: clean") {
			t.Fatalf("not judged: %.80s", m.Content)
		}
	}
	lab.Eventually(t, "the other node learns of all", func() bool { return site[1].store.Stats().Clusters == len(mails) })
}

// timeAll returns how long each took, from its envelope to the answer to its final dot.
func timeAll(t *testing.T, c *lab.Client, mails [][]byte) (took []time.Duration) {
	t.Helper()
	for _, m := range mails {
		begun := time.Now()
		c.Must("MAIL FROM:<sender@bulk.example>", "RCPT TO:<rcpt@site.example>")
		c.Must("DATA")
		if reply := c.Content(m); reply[0] != '2' {
			t.Fatal(reply)
		}
		took = append(took, time.Since(begun))
	}
	return took
}

// quantile of times, in place.
func quantile(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[int(p*float64(len(all)-1))].Round(10 * time.Microsecond)
}

// A host that was alone keeps what it learnt when its store's key becomes the site's.
func TestKeyOfTheStore(t *testing.T) {
	conf := testConfig(t, "")
	d := startAlone(t, conf)
	if reply := lab.Send(t, d.smtp[0].String(), "a@bulk.example", []string{"b@site.example"}, copyOf(1)); reply[0] != '2' {
		t.Fatal(reply)
	}
	printed := func(want int) string {
		var out, trouble strings.Builder
		if got := run([]string{"--config", conf.File, "config", "key"}, strings.NewReader(""), &out, &trouble); got != want {
			t.Fatalf("status %d, want %d: %s%s", got, want, &out, &trouble)
		}
		return out.String() + trouble.String()
	}
	if got := printed(statusTemp); !strings.Contains(got, "stop the daemon") {
		t.Errorf("while the daemon runs: %q", got)
	}
	if err := d.stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(t.TempDir(), "peers.key")
	if err := os.WriteFile(key, []byte(printed(statusDone)), 0o600); err != nil {
		t.Fatal(err)
	}
	url := redistest.Start(t).URL()
	peers := fmt.Sprintf("[peers]\nurl = %q\nkey_file = %q\n", url, key)
	other := start(t, testConfig(t, peers))
	kept := testConfig(t, fmt.Sprintf("[store]\npath = %q\n%s", conf.Store.Path, peers))
	start(t, kept)
	lab.Eventually(t, "the other learns what the first knew", func() bool { return other.known() == 1 })
}
