package main

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/quarantine"
	"spamsim/milter"
	"spamsim/milter/dccifd"
	"spamsim/milter/smtpproxy"
)

// An opening is a door with the addresses that it is to be served on.
type opening struct {
	name      string
	door      door
	addresses []config.Address
}

// openDoors makes the doors that the configuration names.
func openDoors(conf *config.Loaded, judge *judging, log *slog.Logger) ([]opening, error) {
	out, err := proxies(conf, judge, log)
	if err != nil {
		return nil, err
	}
	if len(conf.Milter.Listen) > 0 {
		m := &milter.Server{
			Check: judge.check, Pass: judge.pass, Log: log,
			MaxMessage: int(conf.Limits.MaxJudgedSize), MaxHeld: int64(conf.Limits.Memory),
		}
		out = append(out, opening{"milter", m, conf.Milter.Listen})
	}
	if len(conf.Dccifd.Listen) > 0 {
		s := &dccifd.Server{
			Check: judge.check, Peek: judge.peek, Pass: judge.pass, ID: conf.ID, Log: log,
			MaxMessage: int(conf.Limits.MaxJudgedSize), MaxHeld: int64(conf.Limits.Memory),
		}
		if !conf.Dccifd.Learn {
			s.Check = judge.peek
		}
		out = append(out, opening{"dccifd", s, conf.Dccifd.Listen})
	}
	return out, nil
}

// proxies are a proxy for clients that speak SMTP and one for those that speak LMTP, with the same next hop.
func proxies(conf *config.Loaded, judge *judging, log *slog.Logger) ([]opening, error) {
	c, err := proxyConfig(conf, log)
	if err != nil {
		return nil, err
	}
	c.Check, c.Pass = judge.check, judge.pass
	var out []opening
	for _, o := range []opening{{"smtp", nil, conf.SMTP.Listen}, {"lmtp", nil, conf.SMTP.LMTPListen}} {
		if len(o.addresses) == 0 {
			continue
		}
		c.LMTP, c.Listen = o.name == "lmtp", nil
		for _, a := range o.addresses {
			c.Listen = append(c.Listen, a.Addr)
		}
		proxy, err := smtpproxy.New(c)
		if err != nil {
			return nil, err
		}
		if err := tryNextHop(proxy, log); err != nil {
			return nil, errors.Join(err, proxy.Close())
		}
		o.door = proxy
		out = append(out, o)
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

// proxyConfig is what the configuration says of both proxies.
func proxyConfig(conf *config.Loaded, log *slog.Logger) (smtpproxy.Config, error) {
	c := smtpproxy.Config{
		NextHop: conf.SMTP.NextHop, Hostname: conf.ID, Logger: log,
		Trusted: prefixes(conf.SMTP.Trusted), RecipientDomains: conf.SMTP.RecipientDomains,
		ProxyPeers: prefixes(conf.SMTP.ProxyProtocol), XCLIENT: conf.SMTP.XCLIENT, NextHopProxy: proxyVersion(conf.SMTP), Auth: conf.SMTP.Auth,
		MaxJudged: int(conf.Limits.MaxJudgedSize), MemoryBudget: int64(conf.Limits.Memory), MaxConns: conf.SMTP.Connections,
	}
	if conf.SMTP.BareLF == "reject" {
		c.BareLF = smtpproxy.RejectBareLF
	}
	if configuredActions(conf).quarantines() {
		box := quarantine.At(quarantineDir(conf))
		if err := box.Prepare(); err != nil {
			return c, err
		}
		c.Quarantine = box.Keep
	}
	var err error
	if c.TLS, err = clientTLS(conf.TLS, log); err != nil {
		return c, err
	}
	c.NextHopTLS, err = hopTLS(conf.SMTP)
	return c, err
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
