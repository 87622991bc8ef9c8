package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/doctor"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/smtpproxy"
)

// examined is what the doctor says of a daemon beside a real Postfix: the proxy before the clients' listener, mail back by
// the other one. listen is where the proxy and the milter are.
func examined(t *testing.T, smtp, milter, more string, p lab.PostfixConfig) (diagnosis, *config.Loaded) {
	t.Helper()
	lab.Need(t, "postfix")
	p.Inject = lab.FreeAddr(t)
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n%s\n[milter]\nlisten = [%q]\n", smtp, p.Inject, more, milter))
	start(t, conf)
	t.Setenv("MAIL_CONFIG", lab.StartPostfix(t, p).Config())
	return diagnose(t.Context(), conf), conf
}

// TestDoctorBesidePostfix: a real Postfix that hands its mail to the proxy and takes it back: nothing is dangerous, and all
// that has to be carried is offered.
func TestDoctorBesidePostfix(t *testing.T) {
	smtp := lab.FreeAddr(t)
	got, _ := examined(t, smtp, lab.FreeAddr(t), "", lab.PostfixConfig{ProxyFilter: smtp})
	if got.Dangerous {
		got.wants(t, "", doctor.Good, "nothing dangerous")
	}
	for _, w := range []struct{ leg, words string }{
		{"postfix", "filters before the queue"}, {"smtp", "offers 8BITMIME DSN ENHANCEDSTATUSCODES PIPELINING SIZE SMTPUTF8 XFORWARD"},
		{"next hop", "XCLIENT"}, {"next hop", "XFORWARD is allowed"},
	} {
		got.wants(t, w.leg, doctor.Good, w.words)
	}
}

// TestDoctorMilterBesideProxy: the milter of a listener with a proxy filter sees no messages.
func TestDoctorMilterBesideProxy(t *testing.T) {
	smtp, milter := lab.FreeAddr(t), lab.FreeAddr(t)
	got, _ := examined(t, smtp, milter, "", lab.PostfixConfig{ProxyFilter: smtp, Milters: []string{"inet:" + milter}, Main: []string{"smtpd_proxy_timeout = 30s"}})
	got.wants(t, "postfix", doctor.Danger, "a milter sees no message there")
	got.wants(t, "postfix", doctor.Danger, "smtpd_proxy_timeout is 30s")
	got.wants(t, "postfix", doctor.Lost, "milter_default_action is tempfail")
}

// TestDoctorAfterQueue: as content filter, with what the next hop does not offer.
func TestDoctorAfterQueue(t *testing.T) {
	smtp := lab.FreeAddr(t)
	got, _ := examined(t, smtp, lab.FreeAddr(t), "", lab.PostfixConfig{ContentFilter: smtp,
		Main: []string{"smtpd_discard_ehlo_keywords = dsn, smtputf8"}})
	got.wants(t, "postfix", doctor.Good, "filters behind the queue")
	for _, leg := range []string{"smtp", "next hop"} {
		got.wants(t, leg, doctor.Lost, "no DSN: ")
		got.wants(t, leg, doctor.Lost, "no SMTPUTF8: ")
	}
}

// TestAdviceWorks: a Postfix with the lines that the doctor prints takes mail and delivers it tagged, through the milter,
// before the queue and behind it.
func TestAdviceWorks(t *testing.T) {
	lab.Need(t, "postfix")
	for _, way := range []string{"as a milter", "before the queue", "or behind the queue"} {
		t.Run(way, func(t *testing.T) {
			smtp, milter, sink := lab.FreeAddr(t), lab.FreeAddr(t), lab.StartSink(t, lab.SinkConfig{})
			p := lab.PostfixConfig{Addr: lab.FreeAddr(t), Inject: lab.FreeAddr(t), NextHop: sink.Addr}
			conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n[milter]\nlisten = [%q]\n", smtp, p.Inject, milter))
			start(t, conf)
			for _, a := range doctor.Advise(conf) {
				switch {
				case !strings.HasPrefix(a.Title, way):
				case a.File == "main.cf":
					p.Main = append(p.Main, a.Lines...)
				default:
					p.Master = adapt(a.Lines, p)
				}
			}
			postfix := lab.StartPostfix(t, p)
			if reply := lab.Send(t, postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx \xe9\r\n")); reply[0] != '2' {
				t.Fatal(reply)
			}
			got := string(sink.Wait(t, 1)[0].Content)
			if strings.Count(got, "X-Spamsim: abstain; reason=short; id=mx.example\r\n") != 1 || !strings.HasSuffix(got, "\r\n\r\nx \xe9\r\n") {
				t.Errorf("delivered %q", got)
			}
			t.Setenv("MAIL_CONFIG", postfix.Config())
			if d := diagnose(t.Context(), conf); d.Dangerous || d.says("postfix", doctor.Lost, "no listener of Postfix") {
				d.wants(t, "", doctor.Good, "all well with the lines added")
			}
		})
	}
}

// TestAdviceInFront: with the lines for a listener behind spamsim a real Postfix takes mail, tagged, and the doctor finds that
// it hears of clients; without them spamsim does not start.
func TestAdviceInFront(t *testing.T) {
	lab.Need(t, "postfix")
	for setting, words := range map[string]string{"xclient = true": "XCLIENT", "next_hop_proxy = \"v1\"": "after a PROXY header",
		"next_hop_proxy = \"v2\"": "after a PROXY header"} {
		smtp, sink := lab.FreeAddr(t), lab.StartSink(t, lab.SinkConfig{})
		p := lab.PostfixConfig{Addr: lab.FreeAddr(t), NextHop: sink.Addr, Main: []string{"smtpd_authorized_xclient_hosts ="}}
		conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n%s\n", smtp, p.Addr, setting))
		bare := lab.StartPostfix(t, p)
		if d, err := startDaemon(conf, slog.New(slog.DiscardHandler)); !errors.Is(err, smtpproxy.ErrBlind) {
			t.Errorf("%s: started before a Postfix without the lines: %v", setting, err)
			if err == nil {
				_ = d.stop(time.Second)
			}
		}
		bare.Stop()
		for _, a := range doctor.Advise(conf) {
			p.Master = adapt(a.Lines, p)
		}
		lab.StartPostfix(t, p)
		start(t, conf)
		if reply := lab.Send(t, smtp, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
			t.Error(reply)
		}
		if got := string(sink.Wait(t, 1)[0].Content); !strings.Contains(got, "X-Spamsim: abstain;") {
			t.Errorf("delivered %q", got)
		}
		d := diagnose(t.Context(), conf)
		d.wants(t, "next hop", doctor.Good, words)
		if d.says("next hop", doctor.Danger, "") || d.says("next hop", doctor.Lost, "") {
			d.wants(t, "next hop", doctor.Good, "nothing lost")
		}
	}
}

// adapt puts the lab's address in the place of the service smtp, and takes the chroot away, which a private instance has not.
func adapt(lines []string, p lab.PostfixConfig) []string {
	var out []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "smtp inet "); ok {
			l = p.Addr + " inet " + rest
		}
		out = append(out, strings.Replace(l, " inet n - y ", " inet n - n ", 1))
	}
	return out
}
