package replica

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"spamsim/store"
	"spamsim/store/replica/redistest"
)

// The broker is killed again and again while three nodes count: what it lost is told again, and all come to hold the same.
// SPAMSIM_KILLS is how often.
func TestBrokerIsKilled(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t, "--appendfsync", "everysec")
	nodes := []*node{newNode(t, broker.URL(), "a"), newNode(t, broker.URL(), "b"), newNode(t, broker.URL(), "c")}
	const each = 60
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("SPAMSIM_KILLS")); err == nil {
		rounds = n
	}
	for round := range rounds {
		for i := range each {
			n := round*each + i
			nodes[n%3].count(n%10, n)
			if i == each/2 {
				broker.Kill()
			}
		}
		broker.Run()
	}
	inStep(t, nodes...)
	agree(t, rounds*each, nodes...)
}

// agree waits until all nodes know so many copies in all.
func agree(t *testing.T, copies int, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		redistest.Eventually(t, fmt.Sprint(n.name, " knows all copies"), func() bool { return n.total() == copies })
	}
}

// total is how many copies there are of all campaigns.
func (n *node) total() (sum int) {
	for _, c := range n.Campaigns(store.Biggest, 0) {
		sum += c.Copies
	}
	return sum
}

// A node is killed, by which it loses what it had not committed, but nothing that it had told: it has it from its peers.
// What was learnt and is on disk is told when it comes back, though it had no broker to tell it to.
func TestNodeIsKilled(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t)
	a, b := newNode(t, broker.URL(), "a"), newNode(t, broker.URL(), "b")
	for i := range 20 {
		a.count(1, i)
	}
	inStep(t, a, b)
	agree(t, 20, b)
	broker.Kill()
	for i := range 10 {
		a.Train(trace(2, i), transaction(2, i), store.Spam)
	}
	if err := a.Sync(); err != nil {
		t.Fatal(err)
	}
	crash(t, a, func() {
		for i := range 10 {
			a.count(3, i)
		}
	})
	broker.Run()
	a.open(t)
	redistest.Eventually(t, "all that was acknowledged is with both", func() bool { return a.total() == 30 && b.total() == 30 && equal(a, b) })
	if c := b.Campaigns(store.Labelled, 1); len(c) != 1 || c[0].Copies != 10 || c[0].Label != store.Spam {
		t.Errorf("what was learnt: %+v", c)
	}
}

// crash leaves a node as it would be after a kill: its file is as it was before do.
func crash(t *testing.T, n *node, do func()) {
	t.Helper()
	was, err := os.ReadFile(n.path)
	if err != nil {
		t.Fatal(err)
	}
	do()
	n.close(t)
	n.path = filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(n.path, was, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A state that is lost or old is made whole by the nodes that are there, also what those have said that are not.
func TestStateIsLost(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t)
	a, b := newNode(t, broker.URL(), "a"), newNode(t, broker.URL(), "b")
	for i := range 20 {
		a.count(i, 1)
		b.count(i+100, 1)
	}
	inStep(t, a, b)
	a.close(t)
	b.age(a.share.Node())
	if !broker.Ask("FLUSHALL\r\n", "+OK\r\n") {
		t.Fatal("the broker does not forget")
	}
	redistest.Eventually(t, "the state is whole", func() bool { s := b.Status(); return s.State >= int64(s.Entries) && s.Entries >= 40 })
	c := newNode(t, broker.URL(), "c")
	inStep(t, b, c)
	if n := c.Stats().Clusters; n != 40 {
		t.Errorf("%d clusters of 40", n)
	}
}

// withBroker is a node, and a connection to a broker that knows nothing of it.
func withBroker(t *testing.T) (*node, *broker) {
	t.Helper()
	b, err := dial(redistest.Start(t).URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.close() })
	return alone(t, "a"), b
}

// What a node took back while another was away is gone there too when that one comes back, though by then it has ended that it
// is gone: what holds longer is let go for what was said later.
func TestTakenBackWhileAway(t *testing.T) {
	t.Parallel()
	n, b := withBroker(t)
	gone := store.Entry{Key: store.Key{Item: 5, Origin: 77, Kind: store.KindTaught}, Stamp: 9, Until: hourNow()}
	had := store.Entry{Key: gone.Key, Stamp: 5, Until: hourNow() + 9, Value: []byte{1}}
	n.share.Apply([]store.Entry{had}, false)
	s := n.seal.entry(&gone)
	if err := b.c.HSet(t.Context(), stateKey(gone.Bucket()), s.key, s.value).Err(); err != nil {
		t.Fatal(err)
	}
	if err := n.compareOne(t.Context(), b, gone.Bucket(), &newcomers{share: n.share}); err != nil {
		t.Fatal(err)
	}
	if held := n.share.Len(); held != 0 {
		t.Errorf("%d entries are held, want none", held)
	}
}

// A node whose clock is ahead of the broker's takes nothing out of the state for that, which others would lose, and takes in what
// the state has as soon as its clock is right.
func TestClockAheadTakesNothingAway(t *testing.T) {
	t.Parallel()
	n, b := withBroker(t)
	e := store.Entry{Key: store.Key{Item: 5, Origin: 77, Kind: store.KindTaught}, Stamp: 9, Until: hourNow() - 100, Value: []byte{1}}
	s := n.seal.entry(&e)
	if err := b.c.HSet(t.Context(), stateKey(e.Bucket()), s.key, s.value).Err(); err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []time.Duration{102 * time.Hour, 98 * time.Hour} { // of the broker's clock
		n.clock = ahead
		if err := n.compareOne(t.Context(), b, e.Bucket(), &newcomers{share: n.share}); err != nil {
			t.Fatal(err)
		}
		if left, err := b.size(t.Context()); err != nil || (left == 1) != (ahead > 100*time.Hour) {
			t.Errorf("%v ahead: %d entries are left of one, %v", ahead, left, err)
		}
	}
}

// A node whose clock is behind does not tell again and again what has ended for the others.
func TestClockBehindTellsOnce(t *testing.T) {
	t.Parallel()
	n, b := withBroker(t)
	e := store.Entry{Key: store.Key{Item: 5, Origin: n.share.Node(), Kind: store.KindTaught}, Stamp: 9, Until: hourNow() + 10, Value: []byte{1}}
	n.share.Apply([]store.Entry{e}, true)
	for _, behind := range []time.Duration{12 * time.Hour, 5 * time.Hour} { // the broker's clock
		n.clock = -behind
		if err := n.compareOne(t.Context(), b, e.Bucket(), &newcomers{share: n.share}); err != nil {
			t.Fatal(err)
		}
		if told := n.share.Changes(10); len(told) != 0 && behind > 10*time.Hour || len(told) != 1 && behind < 10*time.Hour {
			t.Errorf("%v behind it tells %+v", behind, told)
		}
	}
}

// Nodes whose clocks differ by hours compare themselves with the broker for what lasts, not for what has ended for one of them.
func TestClocksAreNoDifference(t *testing.T) {
	n := alone(t, "a")
	lasting := store.Entry{Key: store.Key{Item: 5, Origin: 77, Kind: store.KindTaught}, Stamp: 9, Until: hourNow() + 100, Value: []byte{1}}
	ending := store.Entry{Key: store.Key{Item: 6, Origin: 77, Kind: store.KindTaught}, Stamp: 9, Until: hourNow() + 1, Value: []byte{1}}
	told := func(hour uint32, entries ...store.Entry) {
		o := alone(t, "b")
		o.share.Apply(entries, false)
		a := about{Hour: hour}
		for _, v := range o.share.Digest(hour) {
			a.Digests += fmt.Sprintf("%016x", v)
		}
		n.seen[1] = &peer{about: a, seen: time.Now()}
	}
	for i, x := range []struct {
		clock  time.Duration // of this node, ahead of the broker's
		hour   uint32        // that the other tells of
		here   []store.Entry
		there  []store.Entry
		state  int64
		differ bool
	}{
		{0, hourNow(), []store.Entry{lasting, ending}, []store.Entry{lasting, ending}, 2, false},
		{0, hourNow(), []store.Entry{lasting, ending}, []store.Entry{lasting}, 2, true},
		{0, hourNow(), []store.Entry{lasting}, []store.Entry{lasting}, 0, true},
		{5 * time.Hour, hourNow() - 5, []store.Entry{lasting}, []store.Entry{lasting, ending}, 2, false}, // it has let go of it
		{-5 * time.Hour, hourNow() + 5, []store.Entry{lasting, ending}, []store.Entry{lasting}, 1, false},
		{-5 * time.Hour, hourNow() + 5, nil, []store.Entry{lasting}, 1, true},
	} {
		n.Store.Close()
		n = alone(t, "a")
		n.share.Apply(x.here, false)
		n.clock, n.status.State = x.clock, x.state
		told(x.hour, x.there...)
		if got := len(n.differing()) > 0; got != x.differ {
			t.Errorf("%d: differ %v", i, got)
		}
	}
}

// age lets a node take another for gone.
func (n *node) age(other uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.seen[other]; p != nil {
		p.seen = time.Now().Add(-goneAfter)
	}
}

// A node that is not heard of for long is told of no more, by its own clock or a wrong one; one that was there of late is.
func TestNodesAreForgotten(t *testing.T) {
	t.Parallel()
	n, b := withBroker(t)
	tell := func(node uint32, ago, ahead time.Duration) {
		data, err := json.Marshal(about{Name: "other", Beat: uint64(time.Now().Add(ahead - ago).UnixNano()), Clock: ahead})
		if err == nil {
			err = b.c.HSet(t.Context(), keyNodes, nodeField(node), append(data, n.seal.sum("n", data)...)).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tell(1, keepNode+time.Hour, 0)
	tell(2, keepNode-time.Hour, 0)
	tell(3, keepNode+time.Hour, 10*keepNode)
	tell(4, time.Second, -10*keepNode)
	n.seen[1] = &peer{seen: time.Now().Add(-goneAfter)} // it was heard of once
	if err := n.meet(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := n.meet(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	told, err := b.c.HKeys(t.Context(), keyNodes).Result()
	slices.Sort(told)
	want := []string{nodeField(2), nodeField(4), nodeField(n.share.Node())}
	slices.Sort(want)
	if err != nil || !slices.Equal(told, want) || len(n.seen) != 3 {
		t.Errorf("told of %v, %d known, %v, want %v", told, len(n.seen), err, want)
	}
}

// A proxy is the network between a node and the broker, which can be cut.
type proxy struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() { l.Close(); p.set(true); running.Wait() })
	return p
}

// pass passes on both ways until either ends.
func (p *proxy) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer d.Close()
	p.mu.Lock()
	if p.cut {
		p.mu.Unlock()
		return
	}
	p.conns = append(p.conns, c, d)
	p.mu.Unlock()
	go func() { io.Copy(d, c); d.Close(); c.Close() }()
	io.Copy(c, d)
}

// set cuts the network, or heals it.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for _, c := range p.conns {
			c.Close()
		}
		p.conns = nil
	}
}

// While the network between a node and the broker is cut, both sides go on and miss each other's; afterwards a campaign
// that both have seen is one, and all that was said holds.
func TestNetworkIsCut(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t)
	p := newProxy(t, broker.Addr)
	a, b := newNode(t, broker.URL(), "a"), newNode(t, "redis://"+p.Addr().String(), "b")
	a.count(1, 0)
	inStep(t, a, b)
	p.set(true)
	redistest.Eventually(t, "b notices", func() bool { return !b.Status().Connected })
	for i := range 5 {
		a.count(2, i)
		b.count(2, 100+i)
	}
	if a.copies(2) != 5 || b.copies(2) != 5 {
		t.Errorf("%d and %d copies on either side, want 5", a.copies(2), b.copies(2))
	}
	p.set(false)
	redistest.Eventually(t, "the campaign is one", func() bool { return a.copies(2) == 10 && b.copies(2) == 10 })
	redistest.Eventually(t, "by the same id", func() bool { return a.biggest() == b.biggest() })
	inStep(t, a, b)
}

// A broker that hangs does not keep mail waiting: all of it is judged before the broker goes on.
func TestBrokerHangs(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t)
	a, b := newNode(t, broker.URL(), "a"), newNode(t, broker.URL(), "b")
	a.count(1, 0)
	inStep(t, a, b)
	broker.Signal(syscall.SIGSTOP)
	for i := range 200 {
		if ev := a.count(1, i+1); ev.Copies != i+2 {
			t.Fatalf("copy %d is one of %d", i+2, ev.Copies)
		}
	}
	broker.Signal(syscall.SIGCONT)
	redistest.Eventually(t, "b knows all", func() bool { return b.copies(1) == 201 })
	inStep(t, a, b)
}

// Who has another key is not heard, and does not hear.
func TestStranger(t *testing.T) {
	t.Parallel()
	broker := redistest.Start(t)
	a, b := newNode(t, broker.URL(), "a"), newNode(t, broker.URL(), "b")
	a.count(1, 0)
	inStep(t, a, b)
	stranger := &node{path: filepath.Join(t.TempDir(), "db"), name: "stranger", url: broker.URL(), key: []byte("another key, as long as it is")}
	stranger.open(t)
	t.Cleanup(func() { stranger.close(t) })
	stranger.count(2, 0)
	redistest.Eventually(t, "it is noticed", func() bool { return a.Status().Forged > 0 && stranger.Status().Forged > 0 })
	a.count(1, 1)
	redistest.Eventually(t, "the others go on", func() bool { return b.copies(1) == 2 })
	if n, m := a.Stats().Clusters, stranger.Stats().Clusters; n != 1 || m != 1 {
		t.Errorf("%d clusters here and %d there, want one each", n, m)
	}
}

// A store that was made with another key than the site's is refused.
func TestKeyOfStore(t *testing.T) {
	s, err := store.Open("", store.Options{Key: siteKey})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Share("a", []byte("another key")); err != store.ErrKey {
		t.Errorf("%v", err)
	}
}

// All keys of the site lie in one slot of a Redis Cluster of three shards.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	var shards []*redistest.Server
	for range 3 {
		shards = append(shards, redistest.Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"))
	}
	redistest.Join(t, shards...)
	url := "redis+cluster://" + shards[0].Addr + "?addr=" + shards[1].Addr + "&addr=" + shards[2].Addr
	a, b := newNode(t, url, "a"), newNode(t, url, "b")
	for i := range 30 {
		a.count(i, 1)
		b.count(i+100, 1)
	}
	inStep(t, a, b)
	agreeClusters(t, 60, a, b)
	holding := 0
	for _, s := range shards {
		if !s.Ask("DBSIZE\r\n", ":0\r\n") {
			holding++
		}
	}
	if holding != 1 {
		t.Errorf("%d of 3 shards hold keys of the site, want one", holding)
	}
}

func agreeClusters(t *testing.T, want int, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		redistest.Eventually(t, n.name+" knows all", func() bool { return n.Stats().Clusters == want })
	}
}
