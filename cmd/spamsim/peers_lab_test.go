package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// startSite runs daemons that share a memory through a broker, each behind its own SMTP listener.
func startSite(t *testing.T, url string, nodes int) []*daemon {
	t.Helper()
	key := filepath.Join(t.TempDir(), "peers.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5e", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out []*daemon
	for range nodes {
		out = append(out, start(t, testConfig(t, fmt.Sprintf("[peers]\nurl = %q\nkey_file = %q\n", url, key))))
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
	site := startSite(t, redistest.Start(t).URL(), 3)
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
