package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A site is some stores that share, and what is on its way between them.
type site struct {
	t     testing.TB
	r     *rand.Rand
	nodes []*siteNode
	now   time.Time
}

type siteNode struct {
	*Share
	s      *Store
	path   string
	coming []Entry
}

func newSite(t testing.TB, nodes int, seed uint64) *site {
	x := &site{t: t, r: rand.New(rand.NewPCG(seed, 3)), now: start}
	for i := range nodes {
		n := &siteNode{path: filepath.Join(t.TempDir(), "db")}
		x.nodes = append(x.nodes, n)
		n.s = open(t, n.path, Options{Key: []byte("a key for tests")})
		t.Cleanup(func() { n.s.Close() })
		x.share(n, fmt.Sprint("node ", i))
	}
	return x
}

// share makes a node share, by the clock of the site.
func (x *site) share(n *siteNode, name string) {
	var err error
	if n.Share, err = n.s.Share(name, []byte("a key for tests")); err != nil {
		x.t.Fatal(err)
	}
	n.x.now = func() time.Time { return x.now }
}

// reopen closes the store of a node and opens it again.
func (x *site) reopen(n *siteNode) {
	x.send(n)
	if err := n.s.Close(); err != nil {
		x.t.Fatal(err)
	}
	n.s = open(x.t, n.path, Options{})
	x.share(n, "another name does not matter")
}

// send takes what a node has to say and lets it be on its way to all others, some of it twice.
func (x *site) send(n *siteNode) {
	for _, e := range n.Changes(1 << 20) {
		for _, other := range x.nodes {
			if other != n {
				other.coming = append(other.coming, e)
				if x.r.IntN(4) == 0 {
					other.coming = append(other.coming, e)
				}
			}
		}
	}
}

// deliver lets a part of what is on its way to a node arrive, in any order.
func (x *site) deliver(n *siteNode, part float64) {
	x.r.Shuffle(len(n.coming), func(i, j int) { n.coming[i], n.coming[j] = n.coming[j], n.coming[i] })
	k := int(part * float64(len(n.coming)))
	n.Apply(n.coming[:k], false)
	n.coming = slices.Clone(n.coming[k:])
}

// quiet lets everything arrive until nobody has anything to say.
func (x *site) quiet() {
	for range 100 {
		idle := true
		for _, n := range x.nodes {
			for n.Settle(100) > 0 {
			}
			x.send(n)
		}
		for _, n := range x.nodes {
			idle = idle && len(n.coming) == 0
			x.deliver(n, 1)
		}
		if idle {
			return
		}
	}
	x.t.Fatal("the nodes do not come to rest")
}

// same fails unless all nodes hold the same.
func (x *site) same() {
	x.t.Helper()
	for _, n := range x.nodes[1:] {
		if n.Digest(0) != x.nodes[0].Digest(0) {
			x.t.Errorf("digests differ: %s", cmp.Diff(describe(x.nodes[0].x), describe(n.x)))
		}
		if d := cmp.Diff(shown(x.nodes[0].s), shown(n.s)); d != "" {
			x.t.Errorf("what is held differs:\n%s", d)
		}
	}
}

// describe is all that is held.
func describe(x *sharing) map[string]string {
	out := map[string]string{}
	for _, all := range x.held {
		for k, h := range all {
			out[fmt.Sprint(k)] = fmt.Sprintf("%+v", h)
		}
	}
	return out
}

// shown is all that people see of a store's clusters, but for the heat, which is rounded, and the messages.
func shown(s *Store) map[string]Detail {
	out := map[string]Detail{}
	for h := range uint32(len(s.memory.slab) * slabSize) {
		if s.memory.at(h).state == vacant {
			continue
		}
		seq := s.memory.at(h).seq
		d, err := s.Campaign(s.id(seq))
		if is, ok := s.memory.handle(seq); err != nil || !ok || is != h {
			panic(fmt.Sprint(err, " cluster ", seq))
		}
		d.Heat, d.Hours = 0, nil
		slices.Sort(d.BySender)
		slices.Sort(d.ByNet)
		out[d.ID] = d
	}
	return out
}

// Three nodes that count, train, label, forget, drop, stop and start come to hold the same, in whatever order, how often and how
// late what they say arrives.
func TestNodesConverge(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			x := newSite(t, 3, seed)
			for range 150 {
				n := x.nodes[x.r.IntN(3)]
				x.act(n)
				if x.r.IntN(3) == 0 {
					x.send(n)
				}
				if x.r.IntN(3) == 0 {
					x.deliver(n, x.r.Float64())
				}
				if x.r.IntN(8) == 0 {
					n.Settle(3)
				}
			}
			x.quiet()
			x.same()
			for _, n := range x.nodes {
				x.reopen(n)
			}
			x.same()
			x.act(x.nodes[0])
			x.quiet()
			x.same()
		})
	}
}

// act does something to a node.
func (x *site) act(n *siteNode) {
	x.now = x.now.Add(time.Duration(x.r.IntN(60)) * time.Second)
	campaign, copy := x.r.IntN(6), x.r.IntN(40)
	w := newWriter(uint64(campaign))
	m := traceOf(w.changed(w.text(60), 0.02*x.r.Float64()))
	at := from(1000*campaign + copy)
	at.Time = x.now
	switch x.r.IntN(20) {
	case 0:
		n.s.Train(m, at, Label(1+x.r.IntN(2)))
	case 1:
		n.s.Forget(m, at)
	case 2, 3:
		all := n.s.Campaigns(Live, 0)
		if len(all) == 0 {
			return
		}
		id, name := all[x.r.IntN(len(all))].ID, fmt.Sprint("name ", x.now.Unix())
		_, err := n.s.Label(id, Label(x.r.IntN(3)), &name)
		if x.r.IntN(8) == 0 {
			_, err = n.s.Drop(id)
		}
		if err != nil && !errors.Is(err, ErrNoCluster) {
			x.t.Fatal(err)
		}
	case 4:
		if x.r.IntN(4) == 0 {
			x.reopen(n)
		}
	default:
		n.s.Count(m, at)
	}
}
