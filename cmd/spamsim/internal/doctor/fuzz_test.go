package doctor

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/config"
)

// FuzzPostfix reads anything as what postconf prints. Nothing breaks, every service that is found has a command, and an
// address that is called the same has the same port.
func FuzzPostfix(f *testing.F) {
	f.Add(mainOf, servicesOf, "smtp/inet/smtpd_proxy_filter = 127.0.0.1:10025\n", "spamsim:[127.0.0.1]:10025")
	f.Add("a=", "x inet - - - - - smtpd\n", "x/inet/content_filter=:[\n", "]:[")
	f.Add("smtpd_milters = unix:\nqueue_directory = ..", "# c\n", "//=\n", "inet::10025")
	f.Fuzz(func(t *testing.T, main, services, options, word string) {
		p := parsePostfix(main, services, options)
		for i := range p.services {
			if p.services[i].command == "" {
				t.Fatalf("a service without a command in %q", services)
			}
		}
		c := &config.Loaded{}
		c.SMTP.Listen = []config.Address{{Network: "tcp", Addr: "127.0.0.1:10025"}}
		c.Milter.Listen = []config.Address{{Network: "unix", Addr: "/run/milter"}}
		c.SMTP.NextHop = "smtp://127.0.0.1:10026"
		var found findings
		found.postfix(&Site{Config: c, Postfix: p})
		if len(found) == 0 {
			t.Fatal("nothing is said")
		}
		if same(word, c.SMTP.Listen[0]) && !strings.HasSuffix(word, "10025") {
			t.Fatalf("%q is called port 10025", word)
		}
	})
}

// wire is a connection on which everything was said already.
type wire struct {
	io.Reader
	io.Writer
}

// FuzzNegotiate reads anything as a milter's answer: no more of it than an answer may have.
func FuzzNegotiate(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0dO\x00\x00\x00\x06\x00\x00\x01\xff\x00\x1f\xff\xff"))
	f.Add([]byte("\xff\xff\xff\xffO"))
	f.Add([]byte("220 mx.example ESMTP\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		r := bytes.NewReader(answer)
		version, err := negotiate(wire{r, io.Discard})
		if read := len(answer) - r.Len(); read > maxPacket+4 {
			t.Fatalf("%d octets were read", read)
		}
		if err == nil && (len(answer) < 17 || answer[4] != 'O' || byte(version) != answer[8]) {
			t.Fatalf("version %d in %q", version, answer)
		}
	})
}
