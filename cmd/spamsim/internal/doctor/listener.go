package doctor

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// wanted are the extensions that a filter has to carry, and what becomes of mail where one is missing
// (measured with Postfix 3.7).
var wanted = []struct{ word, without string }{
	{"8BITMIME", "an MTA rewrites 8-bit mail as quoted-printable before it sends it here, which breaks its DKIM signature"},
	{"SMTPUTF8", "mail that needs addresses in UTF-8 is bounced"},
	{"DSN", "what senders ask about notifications (NOTIFY, RET, ENVID) is dropped without a word"},
	{"SIZE", "a message that is too large is sent whole before it is refused"},
	{"PIPELINING", "each command waits for the answer to the one before"},
}

// slowGreeting is a tenth of what Postfix waits for (smtpd_proxy_timeout, 100 s).
const slowGreeting = 10 * time.Second

// soon is how long before its end a certificate is worth a word.
const soon = 14 * 24 * time.Hour

// listener connects as an MTA on this host does.
func (f *findings) listener(ctx context.Context, s *Site, kind string, a config.Address) {
	leg := kind + " " + a.String()
	begun := time.Now()
	t, err := dial(ctx, a.Network, reachable(a), nil)
	if err != nil {
		f.add(leg, Danger, "nobody answers: %v", err)
		return
	}
	defer t.close()
	t.lmtp = kind == "lmtp"
	if balanced(s.Config, a) {
		f.add(leg, Unknown, "this host is one of smtp.proxy_protocol: only a connection with a PROXY header is served")
	} else {
		f.trusted(ctx, s, leg, t, begun)
	}
	f.openness(ctx, s, leg, a, t.lmtp)
}

// trusted looks at what an MTA on this host is offered.
func (f *findings) trusted(ctx context.Context, s *Site, leg string, t *talk, begun time.Time) {
	if err := t.greet(s.Config.ID); err != nil {
		f.add(leg, Danger, "%v", err)
		return
	}
	took := time.Since(begun)
	f.add(leg, Good, "offers %s, %s after connecting", strings.Join(words(t.offer), " "), took.Round(time.Millisecond))
	if took > slowGreeting {
		f.add(leg, Danger, "an MTA waits %s for EHLO to be answered; Postfix gives a filter 100 s (smtpd_proxy_timeout) for each answer", took.Round(time.Second))
	}
	f.extensions(leg, t, "the next hop does not offer it: ")
	if !t.offers("XFORWARD") {
		f.add(leg, Lost, "no XFORWARD for this host, which is not in smtp.trusted: copies from an MTA here are counted as from one network, its own")
	}
	f.offeredTLS(ctx, leg, t, s.Config)
}

// words are the keywords of an EHLO reply, sorted.
func words(offer map[string]string) []string {
	var out []string
	for w := range offer {
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

// extensions tells what is missing.
func (f *findings) extensions(leg string, t *talk, why string) {
	for _, w := range wanted {
		if !t.offers(w.word) {
			f.add(leg, Lost, "no %s: %s%s", w.word, why, w.without)
		}
	}
}

// offeredTLS tries STARTTLS and looks at the certificate's time.
func (f *findings) offeredTLS(ctx context.Context, leg string, t *talk, c *config.Loaded) {
	switch {
	case c.TLS.Certificate == "":
		return
	case !t.offers("STARTTLS"):
		f.add(leg, Danger, "no STARTTLS, though tls.certificate is set: does another configuration run?")
		return
	}
	// Whose certificate it is, is the clients' to judge; here it is read.
	state, err := t.startTLS(ctx, &tls.Config{InsecureSkipVerify: true}, c.ID)
	if err != nil {
		f.add(leg, Danger, "%v", err)
		return
	}
	leaf := state.PeerCertificates[0]
	switch left := time.Until(leaf.NotAfter); {
	case left < 0:
		f.add(leg, Danger, "the certificate of %q ended on %s", leaf.DNSNames, leaf.NotAfter.Format(time.DateOnly))
	case left < soon:
		f.add(leg, Lost, "the certificate of %q ends on %s", leaf.DNSNames, leaf.NotAfter.Format(time.DateOnly))
	default:
		f.add(leg, Good, "STARTTLS with a certificate of %q, good until %s", leaf.DNSNames, leaf.NotAfter.Format(time.DateOnly))
	}
}
