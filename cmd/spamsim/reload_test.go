package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
)

// A reloading is a daemon whose configuration file the test changes.
type reloading struct {
	*daemon
	t    *testing.T
	file string
	log  bytes.Buffer // written by reloads alone: nothing else is logged at level error while they run
}

// startReloading runs a daemon by a configuration.
func startReloading(t *testing.T, text string) *reloading {
	t.Helper()
	r := &reloading{t: t, file: testConfig(t, text).File}
	conf, err := r.read()
	if err != nil {
		t.Fatal(err)
	}
	r.daemon = start(t, conf)
	r.daemon.log = slog.New(slog.NewTextHandler(&r.log, nil))
	return r
}

func (r *reloading) read() (*config.Loaded, error) { return config.Load(r.file, testEnv(r.t)) }

// edit replaces a text in the file.
func (r *reloading) edit(old, next string) {
	r.t.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		r.t.Fatalf("no %q in %q, %v", old, text, err)
	}
	if err := os.WriteFile(r.file, bytes.ReplaceAll(text, []byte(old), []byte(next)), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// change edits the file, reloads, and returns what is logged of it.
func (r *reloading) change(old, next string) string {
	r.t.Helper()
	r.edit(old, next)
	r.log.Reset()
	r.reload(r.read)
	return r.log.String()
}

// told fails the test unless each part is in what was logged.
func told(t *testing.T, log string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(log, part) {
			t.Errorf("no %q in the log:\n%s", part, log)
		}
	}
}

// TestReloadAmidTransaction reloads between a client's DATA and its final dot: its message is judged by the new rules, and the
// connection goes on.
func TestReloadAmidTransaction(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	r := startReloading(t, fmt.Sprintf("mode = \"observe\"\n[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n"+
		"[bulk]\ncount = 2\n[actions]\nbulk = \"tempfail\"\n", sink.Addr))
	c := lab.Dial(t, r.smtp[0].String())
	c.Must("EHLO client.example")
	mail := func(n int, amid func()) string {
		c.Must(fmt.Sprintf("MAIL FROM:<a@shop%d.example>", n), "RCPT TO:<b@site.example>", "DATA")
		half := lab.Stuff(offer(n))
		c.Write(string(half[:200]))
		amid()
		c.Write(string(half[200:]))
		return c.Reply()
	}
	if reply := mail(1, func() {}); reply[0] != '2' {
		t.Fatal(reply)
	}
	reply := mail(2, func() {
		told(t, r.change("observe", "enforce"), `msg="a setting changed" setting=mode old='observe' new='enforce'`, "msg=reloaded changed=1 need_restart=0")
	})
	if !strings.HasPrefix(reply, "451 4.7.1 Message refused for now: bulk mail") {
		t.Errorf("after the reload: %q", reply)
	}
	reply = mail(3, func() { r.change("[actions]", "[[exempt]]\nname = \"shop\"\nsender = \"@shop3.example\"\n[actions]") })
	if reply[0] != '2' {
		t.Errorf("of an exempt sender: %q", reply)
	}
	if got := sink.Wait(t, 2)[1]; !strings.HasPrefix(string(got.Content), "X-Spamsim: exempt; reason=shop; would=bulk;") {
		t.Errorf("delivered %.200q", got.Content)
	}
	stats, err := r.local.Stats(t.Context())
	if err != nil || stats.Would != nil || len(stats.Exempt) != 1 || stats.Exempt[0].N != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	told(t, r.change(`"shop"`, `"shops"`), "setting=exempt.shop old=", "setting=exempt.shops old=")
	r.change("count = 2", "count = 20")
	if stats, err = r.local.Stats(t.Context()); err != nil || len(stats.Exempt) != 2 || stats.Exempt[0].N != 1 {
		t.Errorf("the hits of a rule that is gone are lost: %+v, %v", stats.Exempt, err)
	}
	if reply := mail(4, func() {}); reply[0] != '2' {
		t.Errorf("with another count: %q", reply)
	}
}

// TestReloadRefusesWhatIsBad: the log says what is wrong and where, and everything is as before.
func TestReloadRefusesWhatIsBad(t *testing.T) {
	p := newPair(t, "mx.example")
	r := startReloading(t, "# mark\n"+p.section()+"[bulk]\ncount = 7\n[smtp]\nlisten = [\"127.0.0.1:0\"]\n")
	before := r.conf.Load()
	for _, c := range []struct{ old, next, want string }{
		{"count = 7", "count = 0", "spamsim.toml:9:1: bulk.count is 0: write 2 to 1000000"},
		{"count = 0", "count = 7\ncuont = 8", "spamsim.toml:10:1: unknown key"},
		{"cuont = 8", "]", "spamsim.toml:10:1: invalid"},
		{"\n]", "\n" + `threshold = 4.0`, ""},
		{p.key, p.certificate, "tls: "},
	} {
		held := r.conf.Load()
		log := r.change(c.old, c.next)
		if c.want == "" {
			told(t, log, "msg=reloaded changed=1 ")
			continue
		}
		told(t, log, `level=ERROR msg="not reloaded: the configuration before stays in effect"`, c.want)
		if r.conf.Load() != held || strings.Count(log, "\n") != 1 {
			t.Errorf("%q was taken up: %s", c.next, log)
		}
	}
	if got := r.conf.Load(); got.Bulk.Threshold != 4 || got.Bulk.Count != before.Bulk.Count || got.TLS.Key != p.key {
		t.Errorf("in effect: %+v", got.Config)
	}
	if got := names(t, r.smtp[0].String()); !slices.Equal(got, []string{"mx.example"}) {
		t.Errorf("the certificate is for %q", got)
	}
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.log.Reset()
	r.reload(r.read)
	told(t, r.log.String(), "level=ERROR", "no such file")
}

// TestReloadCounts: /metrics tells of reloads that were done and of those that failed.
func TestReloadCounts(t *testing.T) {
	r := startReloading(t, "[http]\nlisten = [\"127.0.0.1:0\"]\n[bulk]\ncount = 7\n")
	r.change("count = 7", "count = 1")
	r.change("count = 1", "count = 9")
	r.change("count = 9", "count = 9")
	got := scraped(t, r.daemon)
	if done, failed := got[`spamsim_reloads_total{result="done"}`], got[`spamsim_reloads_total{result="failed"}`]; done != "2" || failed != "1" {
		t.Errorf("done %s, failed %s", done, failed)
	}
}

// TestReloadCertificates: the next client gets the new certificate, and a session under the old one goes on.
func TestReloadCertificates(t *testing.T) {
	old, next := newPair(t, "old.example"), newPair(t, "new.example")
	r := startReloading(t, old.section())
	c := lab.Dial(t, r.smtp[0].String())
	c.Must("EHLO client.example", "STARTTLS")
	conn := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}) // whose it is, is not the question here
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	r.edit(old.key, next.key)
	told(t, r.change(old.certificate, next.certificate), "setting=tls.certificate", "setting=tls.key", "changed=2 need_restart=0")
	if got := names(t, r.smtp[0].String()); !slices.Equal(got, []string{"new.example"}) {
		t.Errorf("the certificate is for %q", got)
	}
	reply := make([]byte, 4)
	_, err := conn.Write([]byte("EHLO again.example\r\n"))
	_ = conn.SetReadDeadline(time.Now().Add(lab.Patience))
	_, err2 := conn.Read(reply)
	if errors.Join(err, err2) != nil || string(reply) != "250-" {
		t.Errorf("the old session: %q, %v, %v", reply, err, err2)
	}
}

// TestReloadTellsWhatNeedsRestart: such a setting keeps its value, and is told again at the next reload; secrets are not told.
func TestReloadTellsWhatNeedsRestart(t *testing.T) {
	r := startReloading(t, "[http]\ntoken = \"0123456789abcdef\"\n[limits]\nmemory = \"100MB\"\n[log]\nlevel = \"warn\"\n[bulk]\ncount = 7\n")
	log := r.change("100MB", "200MB")
	told(t, log, `level=WARN msg="a changed setting needs a restart" setting=limits.memory old='100MB' new='200MB'`, "changed=0 need_restart=1")
	log = r.change("0123456789", "9876543210") + r.change("warn", "debug")
	told(t, log, "setting=http.token", "setting=limits.memory", "setting=log.level", "changed=1 need_restart=2")
	if strings.Contains(log, "abcdef") {
		t.Errorf("the token was told: %s", log)
	}
	if r.conf.Load().Limits.Memory != 100<<20 || r.level.Level() != slog.LevelDebug {
		t.Errorf("in effect: memory %v, level %v", r.conf.Load().Limits.Memory, r.level)
	}
}
