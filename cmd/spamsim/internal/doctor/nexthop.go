package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// nextHop connects as the proxy does.
func (f *findings) nextHop(ctx context.Context, s *Site) {
	leg := "next hop " + s.Config.SMTP.NextHop
	if path, ok := strings.CutPrefix(s.Config.SMTP.NextHop, "maildir:"); ok {
		f.maildir(leg, path, s.Running, Danger, "new")
		return
	}
	network, addr, lmtp := hopAddress(s.Config.SMTP.NextHop)
	t, err := dial(ctx, network, addr, nil)
	if err != nil {
		f.add(leg, Danger, "it cannot be reached, and clients are told to come back: %v", err)
		return
	}
	defer t.close()
	t.lmtp = lmtp
	if err = t.introduce(s.Config.SMTP.NextHopProxy); err == nil {
		err = t.greet(s.Config.ID)
	}
	if err == nil && s.NextHopTLS != nil {
		err = f.hopTLS(ctx, leg, t, s, addr)
	}
	if err != nil {
		f.add(leg, Danger, "no mail goes there: %v", err)
		return
	}
	f.add(leg, Good, "offers %s", strings.Join(words(t.offer), " "))
	f.extensions(leg, t, "")
	f.rights(leg, t, s)
	_, _, _ = t.ask("QUIT")
}

// hopAddress is where a next hop that is a server listens.
func hopAddress(hop string) (network, addr string, lmtp bool) {
	if path, ok := strings.CutPrefix(hop, "lmtp+unix:"); ok {
		return "unix", path, true
	}
	u, err := url.Parse(hop)
	if err != nil {
		return "tcp", hop, false // the configuration was checked
	}
	lmtp = u.Scheme == "lmtp"
	port := u.Port()
	switch {
	case port == "" && lmtp:
		port = "24"
	case port == "":
		port = "25"
	}
	return "tcp", net.JoinHostPort(u.Hostname(), port), lmtp
}

// hopTLS goes over to TLS as the configuration demands.
func (f *findings) hopTLS(ctx context.Context, leg string, t *talk, s *Site, addr string) error {
	c := s.NextHopTLS.Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(addr)
	}
	state, err := t.startTLS(ctx, c, s.Config.ID)
	if err == nil {
		f.add(leg, Good, "STARTTLS, %s, the certificate is good for %s", tls.VersionName(state.Version), c.ServerName)
	}
	return err
}

// rights tries what the next hop has to allow this host.
func (f *findings) rights(leg string, t *talk, s *Site) {
	switch code, text, err := 0, "", error(nil); {
	case s.Config.SMTP.NextHopProxy != "": // it hears of the client by that, and offers XFORWARD to no stranger
		f.add(leg, Good, "EHLO is answered after a PROXY header: the client's address is handed on")
	case !t.offers("XFORWARD"):
		f.add(leg, Lost, "no XFORWARD: its log and its own rules do not hear of the client's address (Postfix: smtpd_authorized_xforward_hosts)")
	default:
		if code, text, err = t.ask("XFORWARD ADDR=" + stranger); err != nil || code/100 != 2 {
			f.add(leg, Lost, "XFORWARD is offered and refused: %d %s", code, firstLine(text))
			break
		}
		f.add(leg, Good, "XFORWARD is allowed: the client's address is handed on")
		_, _, _ = t.ask("RSET")
	}
	if s.Config.SMTP.XCLIENT && !t.offers("XCLIENT") {
		f.add(leg, Danger, "smtp.xclient is set, but XCLIENT is not offered to this host: serve does not start, and no mail goes there "+
			"(Postfix: smtpd_authorized_xclient_hosts)")
	}
	if s.Config.SMTP.Auth && !t.offers("AUTH") {
		f.add(leg, Lost, "smtp.auth is set, but AUTH is not offered: nobody can authenticate (Postfix may demand TLS for it: smtp.next_hop_tls)")
	}
}

// introduce sends a PROXY header of a version, "" for none, as serve does: of a client on this host.
func (t *talk) introduce(version string) error {
	header := map[string]string{
		"v1": "PROXY TCP4 127.0.0.1 127.0.0.1 0 0\r\n",
		"v2": "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x00\x00\x00",
	}[version]
	_, err := io.WriteString(t.conn, header)
	return err
}

// maildir looks whether mail can be written. Its folders are made when a daemon starts, and not again.
func (f *findings) maildir(leg, path string, running bool, bad Level, folders ...string) {
	if _, err := os.Stat(path); os.IsNotExist(err) && !running {
		f.add(leg, Good, "not there yet: serve makes it")
		return
	}
	file, err := os.CreateTemp(filepath.Join(path, "tmp"), "doctor")
	if err == nil {
		err = errors.Join(file.Close(), os.Remove(file.Name()))
	}
	for _, folder := range folders {
		_, gone := os.Stat(filepath.Join(path, folder))
		err = errors.Join(err, gone)
	}
	if err != nil {
		f.add(leg, bad, "cannot be written: %v", err)
		return
	}
	f.add(leg, Good, "can be written; it owns what it takes, so nothing is forwarded from there")
}
