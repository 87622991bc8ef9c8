package replica

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"spamsim/parse"
	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// trace is that of a copy of a campaign: a text of 60 words made of the campaign's number, of which a few differ.
func trace(campaign, copy int) *store.Trace {
	r, c := rand.New(rand.NewPCG(uint64(campaign), 1)), rand.New(rand.NewPCG(uint64(campaign), uint64(copy)))
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprintf("w%dx", r.IntN(20_000))
	}
	words[c.IntN(60)] = fmt.Sprintf("w%dx", c.IntN(20_000))
	return store.NewTrace(parse.Parse([]byte("Subject: campaign\r\n\r\n"+strings.Join(words, " ")+"\r\n"), parse.Limits{}))
}

func transaction(campaign, copy int) *store.Transaction {
	return &store.Transaction{
		Message: fmt.Sprint(campaign, " ", copy), Sender: fmt.Sprint("s", campaign, ".", copy, "@example.com"),
		Network: fmt.Sprint("192.0.2.", copy%250), Recipients: []string{fmt.Sprint("r", copy, "@example.net")}, Time: time.Now(),
	}
}

func (n *node) count(campaign, copy int) store.Evidence {
	return n.Store.Count(trace(campaign, copy), transaction(campaign, copy))
}

// copies is how many of a campaign a node knows.
func (n *node) copies(campaign int) int {
	return n.Store.Judge(trace(campaign, 0), &store.Transaction{Message: "asked", Time: time.Now()}).Copies - 1
}

// What one node counts the other knows, under the same id.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	a, b := newNode(t, url, "a"), newNode(t, url, "b")
	for i := range 6 {
		n := a
		if i%2 == 1 {
			n = b
		}
		n.count(1, i+1)
		redistest.Eventually(t, "both know it", func() bool { return a.copies(1) == i+1 && b.copies(1) == i+1 })
	}
	id := a.Campaigns(store.Biggest, 1)[0].ID
	if _, err := b.Campaign(id); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	name := "a name"
	if _, err := b.Store.Label(id, store.Spam, &name); err != nil {
		t.Fatal(err)
	}
	redistest.Eventually(t, "the label is known", func() bool {
		c, err := a.Campaign(id)
		return err == nil && c.Label == store.Spam && c.Name == name
	})
	inStep(t, a, b)
}

// Copies that come to three nodes at once make one cluster, of one id, on all of them.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	nodes := []*node{newNode(t, url, "a"), newNode(t, url, "b"), newNode(t, url, "c")}
	for i, n := range nodes {
		n.count(100+i, 0) // each knows something that the others learn of
	}
	var counting sync.WaitGroup
	for i, n := range nodes {
		counting.Go(func() {
			for copy := range 5 {
				n.count(1, 10*i+copy)
			}
		})
	}
	counting.Wait()
	for _, n := range nodes {
		redistest.Eventually(t, n.name+" knows all", func() bool { return n.copies(1) == 15 })
		redistest.Eventually(t, "by the same id", func() bool { return n.biggest() == nodes[0].biggest() })
	}
	inStep(t, nodes...)
}

// biggest is the id of a node's largest campaign.
func (n *node) biggest() string { return n.Campaigns(store.Biggest, 1)[0].ID }

// FuzzOpen: nothing that was not sealed with the key is opened, and what was is as it was.
func FuzzOpen(f *testing.F) {
	s := newSealer(siteKey)
	e := store.Entry{Key: store.Key{Item: 1, Origin: 2, Kind: store.KindDrop}, Stamp: 3, Until: 4, Value: []byte{1}}
	sealedOne := s.entry(&e)
	f.Add(s.batch(&batch{origin: 2, session: 7, seq: 1, entries: []sealed{sealedOne}}), sealedOne.key, sealedOne.value)
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, data, key, value []byte) {
		if got, err := s.openBatch(data); err == nil && string(s.batch(got)) != string(data) {
			t.Errorf("batch %x is not that which was sealed", data)
		}
		if got, err := s.open(key, value); err == nil {
			if again := s.entry(&got); string(again.key) != string(key) || string(again.value) != string(value) {
				t.Errorf("entry %x %x is not that which was sealed", key, value)
			}
		}
		whole := batch{origin: 9, session: 1, seq: 2, entries: []sealed{{s.entry(&e).key, value}}}
		got, err := s.openBatch(s.batch(&whole))
		if err != nil || len(got.entries) != 1 || string(got.entries[0].value) != string(value) {
			t.Errorf("a batch of %x: %+v, %v", value, got, err)
		}
	})
}
