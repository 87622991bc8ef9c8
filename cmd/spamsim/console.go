package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"spamsim/cmd/spamsim/internal/console"
)

// errExposed is an address that others than this machine reach, without what keeps the token from them.
var errExposed = errors.New("is not of loopback: set http.token, tls.certificate and tls.key")

// openWeb serves those who watch, where there is a place for it: on loopback and Unix sockets as it is, elsewhere by TLS.
func (d *daemon) openWeb(e *entrance) error {
	at, none := e.place("http", e.conf.HTTP.Listen)
	if none {
		return nil
	}
	listeners, err := at.open()
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	for i, l := range listeners {
		if tcp, ok := l.Addr().(*net.TCPAddr); !ok || tcp.IP.IsLoopback() {
			continue
		}
		if e.tls == nil || e.conf.HTTP.Token.Reveal() == "" {
			for _, l := range listeners {
				l.Close()
			}
			return fmt.Errorf("http: %s %w", l.Addr(), errExposed)
		}
		listeners[i] = tls.NewListener(l, e.tls)
	}
	d.web = watchers(d.site(), d.log)
	d.watched, err = d.listen(opening{"http", d.web, place{passed: listeners}})
	return err
}

// site is what those who watch are served: metrics and health, and beside them the console. What is judged from now on is
// kept for it.
func (d *daemon) site() http.Handler {
	conf := d.conf.Load()
	token := conf.HTTP.Token.Reveal()
	d.judge.recent = console.NewRecent(time.Now, token != "")
	mux := http.NewServeMux()
	mux.Handle("/", console.New(d.local, console.Options{
		Token: token, Hosts: d.names, Limit: int64(conf.Limits.MaxJudgedSize), Ready: d.ready, Change: change,
		Threshold: func() (float64, int) { b := d.conf.Load().Bulk; return b.Threshold, b.Count },
		Recent:    d.judge.recent, Unrelated: d.store.RecentSigmas, Now: time.Now, Log: d.log,
	}))
	watch := d.metrics.Handler(d.ready, token)
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, watch)
	}
	return mux
}

// names are those that this host goes by: its own, and those of its certificate.
func (d *daemon) names() []string {
	out := []string{d.conf.Load().ID}
	if d.tls != nil {
		out = append(out, d.tls.names()...)
	}
	for _, a := range d.conf.Load().HTTP.Listen {
		if host, _, err := net.SplitHostPort(a.Addr); err == nil && a.Network != "unix" {
			out = append(out, host)
		}
	}
	return slices.Compact(out)
}
