// Package doctor tries a site as its mail servers use it: it connects to every listener and to the next hop, speaks to them
// as an MTA would, reads how Postfix is set up, and says leg by leg what is offered, lost or dangerous.
//
// No message is sent: a conversation ends before DATA, and what is asked of the socket for scanners is not counted.
package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// Level says what a finding means.
type Level string

// The levels.
const (
	Good    Level = "ok"
	Lost    Level = "lost"    // mail passes, but something of it or about it does not
	Danger  Level = "danger"  // mail is lost, sent twice or relayed for strangers, or will be
	Unknown Level = "unknown" // it could not be tried
)

// A Finding is one thing that was found.
type Finding struct {
	Leg   string `json:"leg"` // "smtp 127.0.0.1:10025", "next hop", "state", "postfix", ...
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// A Site is what there is to try.
type Site struct {
	Config     *config.Loaded
	NextHopTLS *tls.Config // what is demanded of the next hop; nil is plain text
	Postfix    *Postfix    // nil where there is none
	Running    bool        // a daemon has made the folders that it needs
	Quarantine string      // the maildir of what is quarantined; "" where nothing is
}

// timeout bounds one step of a conversation. Postfix waits for 100 s (smtpd_proxy_timeout), people do not.
const timeout = 20 * time.Second

// A findings collects what was found.
type findings []Finding

func (f *findings) add(leg string, l Level, format string, args ...any) {
	*f = append(*f, Finding{leg, l, fmt.Sprintf(format, args...)})
}

// Examine tries everything of a site but its store.
func Examine(ctx context.Context, s *Site) []Finding {
	var f findings
	f.settings(s.Config)
	f.state(s.Config)
	if s.Quarantine != "" {
		f.maildir("quarantine "+s.Quarantine, s.Quarantine, s.Running, Lost, "envelope", "new")
	}
	for _, a := range s.Config.SMTP.Listen {
		f.listener(ctx, s, "smtp", a)
	}
	for _, a := range s.Config.SMTP.LMTPListen {
		f.listener(ctx, s, "lmtp", a)
	}
	for _, a := range s.Config.Milter.Listen {
		f.milter(ctx, a)
	}
	for _, a := range s.Config.Dccifd.Listen {
		f.scanner(ctx, a)
	}
	if len(s.Config.SMTP.Listen)+len(s.Config.SMTP.LMTPListen) > 0 {
		f.nextHop(ctx, s)
	}
	if s.Postfix != nil {
		f.postfix(s)
	}
	return f
}

// settings looks at what the configuration alone tells.
func (f *findings) settings(c *config.Loaded) {
	const leg = "configuration"
	f.add(leg, Good, "%s, mode %s", c.File, c.Mode)
	for _, p := range c.SMTP.ProxyProtocol {
		for _, t := range c.SMTP.Trusted {
			if p.Overlaps(t.Prefix) {
				f.add(leg, Danger, "smtp.proxy_protocol %s lies in smtp.trusted %s: a client whose address the load balancer does not "+
					"tell may send anywhere. Take it out of smtp.trusted", p, t)
			}
		}
	}
	if c.Mode == "enforce" && c.Actions.Bulk == "tag" && c.Actions.Spam == "tag" {
		f.add(leg, Lost, "mode is \"enforce\", but both actions are \"tag\": nothing more is done than in mode \"observe\"")
	}
}
