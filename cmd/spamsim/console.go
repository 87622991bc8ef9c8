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
	at, none := e.place("http")
	if none {
		return nil
	}
	d.web = watchers(d.site(), d.log)
	var err error
	d.watched, err = d.listen(opening{name: at.door, door: d.web, place: at, guard: e.overTLS})
	return err
}

// overTLS puts TLS before a listener that others than this machine reach, and refuses it where there is none or no token.
func (e *entrance) overTLS(l net.Listener) (net.Listener, error) {
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || tcp.IP.IsLoopback() {
		return l, nil
	}
	if e.tls == nil || e.conf.HTTP.Token.Reveal() == "" {
		return nil, fmt.Errorf("%s %w", l.Addr(), errExposed)
	}
	return tls.NewListener(l, e.tls), nil
}

// site is what those who watch are served: metrics and health, and beside them the console. What is judged from now on is
// kept for it.
func (d *daemon) site() http.Handler {
	conf := d.conf.Load()
	token := conf.HTTP.Token.Reveal()
	d.judge.recent = console.NewRecent(time.Now, token != "")
	mux := http.NewServeMux()
	mux.Handle("/", console.New(d.service, console.Options{
		Token: token, Hosts: d.names, Limit: int64(conf.Limits.MaxJudgedSize), Ready: d.ready, Change: change,
		Threshold: func() (float64, int) { b := d.conf.Load().Bulk; return b.Threshold, b.Count },
		Recent:    d.judge.recent, Unrelated: d.recentSigmas, Now: time.Now, Log: d.log,
	}))
	watch := d.metrics.Handler(d.ready, token)
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, watch)
	}
	return mux
}

// recentSigmas are the store's, none where this daemon has none at the moment.
func (d *daemon) recentSigmas() []float64 {
	if !d.service.gate.try() {
		return nil
	}
	defer d.service.gate.leave()
	if d.store == nil {
		return nil
	}
	return d.store.RecentSigmas()
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
