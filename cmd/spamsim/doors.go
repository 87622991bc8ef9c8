package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/quarantine"
	"spamsim/milter"
	"spamsim/milter/dccifd"
	"spamsim/milter/smtpproxy"
)

// An opening is a door with the places where it is to be served.
type opening struct {
	name string
	door door
	place
	guard func(net.Listener) (net.Listener, error) // what stands before the door; nil is nothing
}

// An entrance makes doors.
type entrance struct {
	conf    *config.Loaded
	judge   *judging
	tls     *tls.Config // what clients are offered, nil is none
	sockets *sockets
	log     *slog.Logger
}

// doorNames are those that sockets may be passed for.
var doorNames = []string{"smtp", "lmtp", "milter", "dccifd", "http"}

// errNoDoor is a socket that was passed for nothing that there is.
var errNoDoor = errors.New("the service manager passed a socket whose name is no door's")

// open makes the doors that the configuration names, and those that sockets were passed for.
func (e *entrance) open() ([]opening, error) {
	for name := range e.sockets.passed {
		if !slices.Contains(doorNames, name) {
			return nil, fmt.Errorf("%w: %q (write FileDescriptorName=%s)", errNoDoor, name, strings.Join(doorNames, " or "))
		}
	}
	out, err := e.proxies()
	if err != nil {
		return nil, err
	}
	limits := e.conf.Limits
	if at, none := e.place("milter"); !none {
		m := &milter.Server{
			Check: e.judge.check, Pass: e.judge.pass, Log: e.log,
			MaxMessage: int(limits.MaxJudgedSize), MaxHeld: int64(limits.Memory),
		}
		out = append(out, opening{name: at.door, door: m, place: at})
	}
	if at, none := e.place("dccifd"); !none {
		s := &dccifd.Server{
			Check: e.judge.check, Peek: e.judge.peek, Pass: e.judge.pass, ID: e.conf.ID, Log: e.log,
			MaxMessage: int(limits.MaxJudgedSize), MaxHeld: int64(limits.Memory),
		}
		if !e.conf.Dccifd.Learn {
			s.Check = e.judge.peek
		}
		out = append(out, opening{name: at.door, door: s, place: at})
	}
	return out, nil
}

// proxies are a proxy for clients that speak SMTP and one for those that speak LMTP, with the same next hop.
func (e *entrance) proxies() ([]opening, error) {
	c, err := e.proxyConfig()
	if err != nil {
		return nil, err
	}
	var out []opening
	for _, name := range []string{"smtp", "lmtp"} {
		at, none := e.place(name)
		if none {
			continue
		}
		c.LMTP, c.Listen = name == "lmtp", at.names()
		proxy, err := smtpproxy.New(c)
		if err != nil {
			return nil, err
		}
		if err := tryNextHop(proxy, e.log); err != nil {
			return nil, errors.Join(err, proxy.Close())
		}
		out = append(out, opening{name: name, door: proxy, place: at})
	}
	return out, nil
}

// tryNextHop makes sure that the next hop hears of clients where the configuration lets strangers in for that. One that is
// not there now is no error: no mail goes to any that does not hear.
func tryNextHop(p *smtpproxy.Server, log *slog.Logger) error {
	err := p.TryNextHop()
	if errors.Is(err, smtpproxy.ErrBlind) {
		return fmt.Errorf("%w (smtp.xclient, smtp.next_hop_proxy): it would take every client for this host, which it trusts", err)
	}
	if err != nil {
		log.Warn("the next hop is not available; mail is put off until it is", "err", err)
	}
	return nil
}

// proxyVersion is that of the PROXY header that the next hop gets, 0 where it gets none.
func proxyVersion(c config.SMTP) byte { return map[string]byte{"v1": 1, "v2": 2}[c.NextHopProxy] }

// proxyConfig is what the configuration says of both proxies. The quarantine is there even where nothing goes to it: a reload
// may send something.
func (e *entrance) proxyConfig() (smtpproxy.Config, error) {
	conf := e.conf
	c := smtpproxy.Config{
		NextHop: conf.SMTP.NextHop, Hostname: conf.ID, Logger: e.log, Check: e.judge.check, Pass: e.judge.pass,
		Trusted: prefixes(conf.SMTP.Trusted), RecipientDomains: conf.SMTP.RecipientDomains,
		ProxyPeers: prefixes(conf.SMTP.ProxyProtocol), XCLIENT: conf.SMTP.XCLIENT, NextHopProxy: proxyVersion(conf.SMTP), Auth: conf.SMTP.Auth,
		MaxJudged: int(conf.Limits.MaxJudgedSize), MemoryBudget: int64(conf.Limits.Memory), MaxConns: conf.SMTP.Connections,
		TLS: e.tls, Quarantine: quarantine.At(quarantineDir(conf)).Keep,
		MaxConnsPer: conf.SMTP.PerNetwork,
	}
	if conf.SMTP.BareLF == "reject" {
		c.BareLF = smtpproxy.RejectBareLF
	}
	if err := prepareQuarantine(conf); err != nil {
		return c, err
	}
	var err error
	c.NextHopTLS, err = hopTLS(conf.SMTP)
	return c, err
}

// prepareQuarantine makes the folders of the quarantine where mail may go there.
func prepareQuarantine(conf *config.Loaded) error {
	if !configuredActions(conf).quarantines() {
		return nil
	}
	return quarantine.At(quarantineDir(conf)).Prepare()
}

// counters are what each door counted, by the names of the fields of its Stats: HopDials is "hop_dials".
func counters(openings []opening) map[string]map[string]int64 {
	out := map[string]map[string]int64{}
	for _, o := range openings {
		var stats reflect.Value
		switch d := o.door.(type) {
		case *smtpproxy.Server:
			stats = reflect.ValueOf(d.Stats())
		case *milter.Server:
			stats = reflect.ValueOf(d.Stats())
		case *dccifd.Server:
			stats = reflect.ValueOf(d.Stats())
		}
		of := map[string]int64{}
		for i := range stats.NumField() {
			of[snake(stats.Type().Field(i).Name)] = stats.Field(i).Int()
		}
		out[o.name] = of
	}
	return out
}

// humps are where a word begins within a name: "HopDials", "BareLF".
var humps = regexp.MustCompile(`([a-z])([A-Z])`)

// snake is a name of Go as JSON has it here.
func snake(name string) string { return strings.ToLower(humps.ReplaceAllString(name, "${1}_$2")) }
