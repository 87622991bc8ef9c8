package replica

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spamsim/store/replica/redistest"
)

// rights are those that help topic peers tells to give the broker's user.
var rights = []string{"~{spamsim}:*", "+@read", "+@write", "+@connection", "+@transaction", "+time"}

// guarded starts a server that wants TLS, and a user's password. Another user may only read.
func guarded(t *testing.T, a *redistest.Authority) *redistest.Server {
	user := append([]string{"--user", "default", "off", "--user", "spamsim", "on", ">a password"}, rights...)
	user = append(user, "--user", "poor", "on", ">secret", "~{spamsim}:*", "+@read", "+@connection", "+time")
	return redistest.StartTLS(t, a, user...)
}

// With TLS by an authority of the site's own, and a user who may do no more than the help says, nodes share.
func TestTLSAndPassword(t *testing.T) {
	t.Parallel()
	a := redistest.NewAuthority(t)
	broker := guarded(t, a)
	url := "rediss://spamsim:a%20password@" + broker.Addr
	one, two := newNodeOf(t, a, url, "one"), newNodeOf(t, a, url, "two")
	one.count(1, 0)
	two.count(2, 0)
	inStep(t, one, two)
	agreeClusters(t, 2, one, two)
	one.close(t)
	one.open(t)
	inStep(t, one, two)
}

// newNodeOf is newNode that trusts an authority.
func newNodeOf(t *testing.T, a *redistest.Authority, url, name string) *node {
	t.Helper()
	n := &node{path: filepath.Join(t.TempDir(), "db"), name: name, url: url, key: siteKey}
	if a != nil {
		n.roots = a.Roots
	}
	n.open(t)
	t.Cleanup(func() { n.close(t) })
	return n
}

// What is wrong with the way to the broker is told with what mends it, and without the password.
func TestAdvice(t *testing.T) {
	t.Parallel()
	a := redistest.NewAuthority(t)
	broker, plain := guarded(t, a), redistest.Start(t)
	second := redistest.Repeat(t, plain)
	_, port, _ := strings.Cut(broker.Addr, ":")
	for _, c := range []struct {
		name, url string
		trusts    *redistest.Authority
		want      string
	}{
		{"wrong authority", "rediss://spamsim:secret@" + broker.Addr, redistest.NewAuthority(t), "peers.ca"},
		{"system's authorities", "rediss://spamsim:secret@" + broker.Addr, nil, "peers.ca"},
		{"wrong name", "rediss://spamsim:secret@localhost:" + port, a, "a name that the broker's certificate is for"},
		{"wrong password", "rediss://spamsim:secret@" + broker.Addr, a, "are not those of the broker"},
		{"too few rights", "rediss://poor:secret@" + broker.Addr, a, "the rights that"},
		{"replica", "redis://" + second.Addr, nil, "let it name the master"},
		{"no password", "rediss://" + broker.Addr, a, "let peers.url have it"},
		{"sentinel that is none", "redis+sentinel://" + plain.Addr + "?master_name=" + redistest.MasterName, nil, "broker:"},
	} {
		n := newNodeOf(t, c.trusts, c.url, c.name)
		var s Status
		redistest.Eventually(t, c.name+" is told", func() bool { s = n.Status(); return s.Error != "" })
		if !strings.Contains(s.Error, c.want) || strings.Contains(s.Error, "secret") || s.Connected {
			t.Errorf("%s: %+v, want %q", c.name, s.Error, c.want)
		}
		n.close(t)
	}
}

// When the master is killed, and Sentinel lets its replica take its place, nodes go on sharing by that one.
func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	second := redistest.Repeat(t, master)
	sentinel := redistest.Sentinel(t, master)
	redistest.Eventually(t, "the sentinel knows the replica", func() bool {
		return sentinel.Ask(fmt.Sprintf("SENTINEL CKQUORUM %s\r\n", redistest.MasterName), "+OK") &&
			!sentinel.Ask(fmt.Sprintf("SENTINEL REPLICAS %s\r\n", redistest.MasterName), "*0")
	})
	url := "redis+sentinel://" + sentinel.Addr + "?master_name=" + redistest.MasterName
	a, b := newNode(t, url, "a"), newNode(t, url, "b")
	for i := range 20 {
		a.count(i, 1)
	}
	inStep(t, a, b)
	agreeClusters(t, 20, a, b)
	master.Kill()
	for i := range 20 {
		b.count(100+i, 1)
	}
	begun := time.Now()
	redistest.Eventually(t, "what was counted meanwhile is known", func() bool { return a.Stats().Clusters == 40 && equal(a, b) })
	t.Logf("shared again %v after the kill", time.Since(begun).Round(time.Millisecond))
	redistest.Eventually(t, "the second has it all", func() bool { return a.Status().Connected && a.Status().State >= 40 })
	if !second.Ask("ROLE\r\n", "*3\r\n$6\r\nmaster") {
		t.Error("the second is no master")
	}
}

// Log lines of a lost broker have no password either.
func TestLogHasNoPassword(t *testing.T) {
	var log strings.Builder
	r := &Replica{o: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	_, err := dial("redis://user:secret@host:port", nil)
	r.lost(err)
	if !strings.Contains(log.String(), "lost") || strings.Contains(log.String(), "secret") {
		t.Error(log.String())
	}
}
