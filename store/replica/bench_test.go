package replica

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
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
}

// One node tells of new clusters as fast as it can, and three others, in processes of their own, take them in.
// SPAMSIM_ENTRIES says how many those are.
func BenchmarkThreeReaders(b *testing.B) {
	if os.Getenv("SPAMSIM_READER") != "" {
		b.Skip("this process is a reader")
	}
	clusters := scale(b, 2000)
	broker := redistest.Start(b, "--appendonly", "no")
	n, r, br := publisher(b, broker.URL())
	for i := range clusters {
		n.count(i, 1)
	}
	var readers []*exec.Cmd
	for i := range 3 {
		c := exec.Command(os.Args[0], "-test.run", "^TestReader$")
		c.Env = append(os.Environ(), "SPAMSIM_READER="+broker.URL(), fmt.Sprint("SPAMSIM_CLUSTERS=", n.Stats().Clusters), fmt.Sprint("SPAMSIM_NAME=reader", i))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		readers = append(readers, c)
	}
	redistest.Eventually(b, "the readers listen", func() bool {
		all, _, err := br.beat(b.Context(), n.share.Node(), nil)
		return err == nil && len(all) == 4
	})
	b.ResetTimer()
	for b.Loop() {
		seq := uint64(1)
		for entries := n.share.Changes(batchSize); len(entries) > 0; entries = n.share.Changes(batchSize) {
			if err := r.send(b.Context(), br, seq, entries); err != nil {
				b.Fatal(err)
			}
			seq++
		}
		for _, c := range readers {
			if err := c.Wait(); err != nil {
				b.Fatal(err)
			}
		}
		readers = nil
	}
	b.ReportMetric(float64(clusters)/b.Elapsed().Seconds()*float64(b.N), "clusters/s")
}

// TestReader is a process of BenchmarkThreeReaders: it ends well once it holds all clusters.
func TestReader(t *testing.T) {
	url := os.Getenv("SPAMSIM_READER")
	if url == "" {
		return
	}
	want, err := strconv.Atoi(os.Getenv("SPAMSIM_CLUSTERS"))
	if err != nil {
		t.Fatal(err)
	}
	n := &node{path: filepath.Join(t.TempDir(), "db"), name: os.Getenv("SPAMSIM_NAME"), url: url, key: siteKey}
	n.open(t)
	defer n.close(t)
	for n.Stats().Clusters < want {
		time.Sleep(time.Millisecond)
	}
}
