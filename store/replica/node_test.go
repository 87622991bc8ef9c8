package replica

import (
	"crypto/x509"
	"log/slog"
	"path/filepath"
	"testing"

	"spamsim/store"
	"spamsim/store/replica/redistest"
)

var siteKey = []byte("the key of the site for tests")

// A node is a store that shares.
type node struct {
	*store.Store
	*Replica
	share *store.Share
	path  string
	name  string
	url   string
	key   []byte
	roots *x509.CertPool
}

func newNode(t testing.TB, url, name string) *node {
	t.Helper()
	n := &node{path: filepath.Join(t.TempDir(), "db"), name: name, url: url, key: siteKey}
	n.open(t)
	t.Cleanup(func() { n.close(t) })
	return n
}

func (n *node) open(t testing.TB) {
	t.Helper()
	var err error
	if n.Store, err = store.Open(n.path, store.Options{Key: n.key, Background: quickBackground()}); err != nil {
		t.Fatal(err)
	}
	if n.share, err = n.Store.Share(n.name, n.key); err != nil {
		t.Fatal(err)
	}
	if n.Replica, err = Start(n.share, Options{URL: n.url, Name: n.name, Key: n.key, Roots: n.roots, Version: "test", Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
}

func (n *node) close(t testing.TB) {
	t.Helper()
	if n.Store == nil {
		return
	}
	n.Replica.Close()
	if err := n.Store.Close(); err != nil {
		t.Error(err)
	}
	n.Store = nil
}

// inStep waits until all nodes hold the same.
func inStep(t testing.TB, nodes ...*node) {
	t.Helper()
	redistest.Eventually(t, "equal digests", func() bool { return equal(nodes...) })
}

func equal(nodes ...*node) bool {
	for _, n := range nodes[1:] {
		if n.share.Digest(0) != nodes[0].share.Digest(0) {
			return false
		}
	}
	return true
}

// quickBackground is one that is read at once: of 3,000 messages of which none has a word of another.
func quickBackground() []byte {
	var b store.BackgroundBuilder
	for range 3000 {
		b.Add(&store.Trace{})
	}
	return b.Bytes()
}
