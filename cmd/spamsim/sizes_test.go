package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// What help topic peers says of the sizes of sites, from the figures that it says were measured and a simulation of one
// node at the busiest time: mail and what others see take turns at the store's lock.
const (
	judgeLocked   = 150 * time.Microsecond // of a message, against what is remembered
	applyLocked   = 7 * time.Microsecond   // of a cluster that another node began
	soloSlice     = 256                    // clusters for which mail waits at once
	settleLocked  = 50 * time.Microsecond  // of one such, held against all others
	settlesAtOnce = 64                     // of those between two slices; mail may come between each
	settledHere   = 0.5                    // share of them that a node holds against the others
	entryOctets   = 805                    // of such a cluster, with key and seal
	unlikeOthers  = 0.9                    // share of the messages that begin a cluster
	peakToMean    = 4                      // times the mean
	toldEvery     = 10 * time.Millisecond
	simulated     = 8 * time.Second
)

// A load is a site of so many messages a second at the busiest time, over some nodes.
type load struct {
	messages float64
	nodes    int
}

func loadOf(millionADay float64, nodes int) load {
	return load{peakToMean * millionADay * 1e6 / 86_400, nodes}
}

// foreign is how many clusters a second others begin.
func (l load) foreign() float64 {
	return unlikeOthers * l.messages * float64(l.nodes-1) / float64(l.nodes)
}

// A node at the busiest time: now is the time, and whoever has the lock has it until then.
type simNode struct {
	load
	r        *rand.Rand
	now      time.Duration
	nextMail time.Duration
	nextTold time.Duration
	coming   float64 // clusters that others began, not taken in
	unheld   float64 // of those taken in, to be held against the others
	waits    []time.Duration
}

// run returns how long the last of a hundred messages waits for the lock, and how far behind the node is at the end.
func (l load) run() (wait, behind time.Duration) {
	n := &simNode{load: l, r: rand.New(rand.NewPCG(1, 2))}
	for n.now < simulated {
		n.mail()
		n.others()
	}
	slices.Sort(n.waits)
	lag := n.coming / n.foreign()
	lag += n.unheld / (settledHere * n.foreign())
	return n.waits[len(n.waits)*99/100], time.Duration(lag * float64(time.Second))
}

// mail judges all messages that wait.
func (n *simNode) mail() {
	for n.nextMail <= n.now && n.now < simulated {
		n.waits = append(n.waits, n.now-n.nextMail)
		n.now += judgeLocked
		n.nextMail += time.Duration(n.r.ExpFloat64() / (n.messages / float64(n.nodes)) * float64(time.Second))
	}
}

// others takes in a slice, and holds some against the others; with nothing to do it waits for mail or for others.
func (n *simNode) others() {
	for n.nextTold <= n.now {
		n.coming += n.foreign() * toldEvery.Seconds()
		n.nextTold += toldEvery
	}
	if n.coming < 1 && n.unheld < 1 {
		n.now = max(n.now, min(n.nextMail, n.nextTold))
		return
	}
	k := math.Min(soloSlice, n.coming)
	n.coming -= k
	n.unheld += settledHere * k
	n.now += time.Duration(k) * applyLocked
	for range settlesAtOnce {
		if n.unheld < 1 {
			return
		}
		n.mail()
		n.unheld--
		n.now += settleLocked
	}
}

// keepsUp says whether a node learns within a second.
func (l load) keepsUp() bool {
	_, behind := l.run()
	return behind < time.Second
}

// most is how many million messages a day so many nodes keep up with, to two digits.
func most(nodes int) float64 {
	low, high := 1.0, 10_000.0
	for high/low > 1.02 {
		if mid := math.Sqrt(low * high); loadOf(mid, nodes).keepsUp() {
			low = mid
		} else {
			high = mid
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(low))-1)
	return math.Floor(low/step) * step
}

// sizes is the table of the page.
func sizes() string {
	var b strings.Builder
	b.WriteString("  messages a day    nodes    new clusters a second    from the broker    mail waits for    others are learnt\n" +
		"                             (mean, busiest)          to each node       the index, p99    of within\n")
	for _, site := range []struct {
		millions float64
		nodes    int
	}{{10, 2}, {100, 3}, {1000, 10}} {
		l := loadOf(site.millions, site.nodes)
		wait, behind := l.run()
		within := fmt.Sprint(max(toldEvery, behind.Round(toldEvery)))
		if !l.keepsUp() {
			within = "not any more"
		}
		rate := fmt.Sprintf("%.0f, %.0f", unlikeOthers*l.messages/peakToMean, unlikeOthers*l.messages)
		fmt.Fprintf(&b, "  %-18s%-9d%-25s%-19s%-18s%s\n", fmt.Sprintf("%.0f million", site.millions), site.nodes, rate,
			fmt.Sprintf("%.1f MB/s", l.foreign()*entryOctets/1e6), wait.Round(100*time.Microsecond), within)
	}
	for _, nodes := range []int{3, 10} {
		fmt.Fprintf(&b, "  %d nodes keep up with %.0f million messages a day.\n", nodes, most(nodes))
	}
	return b.String()
}

// The page says what the simulation does.
func TestSizesOfSites(t *testing.T) {
	page, err := pages.ReadFile("help/peers.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := sizes(); !strings.Contains(string(page), want) {
		t.Errorf("help topic peers has not this table:\n%s", want)
	}
}
