package milter

import (
	"context"
	"net"
	"strings"
	"testing"

	gomilter "github.com/emersion/go-milter"
	"spamsim/milter/filter"
)

// TestOtherClient speaks with somebody else's reading of the protocol, over TCP and over a Unix socket.
func TestOtherClient(t *testing.T) {
	var all []seen
	s := &Server{Check: func(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		j := remember(&all)(ctx, env, raw)
		j.Action = filter.Quarantine
		return j
	}}
	defer s.Close()
	for _, network := range []string{"tcp", "unix"} {
		addr := "127.0.0.1:0"
		if network == "unix" {
			addr = t.TempDir() + "/milter"
		}
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = s.Serve(l) }()
		client := gomilter.NewClientWithOptions(network, l.Addr().String(), gomilter.ClientOptions{
			ActionMask: gomilter.OptAddHeader | gomilter.OptChangeHeader | gomilter.OptQuarantine})
		c, err := client.Session()
		if err != nil {
			t.Fatal(err)
		}
		step := func(a *gomilter.Action, err error) {
			t.Helper()
			if err != nil || a.Code != gomilter.ActContinue {
				t.Fatalf("answered %+v, %v", a, err)
			}
		}
		step(c.Conn("client.test", gomilter.FamilyInet, 4242, "192.0.2.7"))
		step(c.Helo("client.test"))
		step(c.Mail("a@b.test", nil))
		step(c.Rcpt("c@d.test", nil))
		step(c.HeaderField("x-spamsim", "forged"))
		step(c.HeaderEnd())
		changes, end, err := c.BodyReadFrom(strings.NewReader("hello\r\n"))
		if err != nil || end.Code != gomilter.ActContinue || len(changes) != 3 {
			t.Fatalf("the end was answered by %+v %+v, %v", changes, end, err)
		}
		if m := changes[0]; m.Code != gomilter.ActChangeHeader || m.HeaderIndex != 1 || m.HeaderName != "X-Spamsim" || m.HeaderValue != "" {
			t.Errorf("first change %+v", m)
		}
		if m := changes[1]; m.Code != gomilter.ActInsertHeader || m.HeaderIndex != 0 || m.HeaderName != "X-Spamsim" || m.HeaderValue != "clean; id=mx" {
			t.Errorf("second change %+v", m)
		}
		if m := changes[2]; m.Code != gomilter.ActQuarantine || m.Reason != "held by spamsim" {
			t.Errorf("third change %+v", m)
		}
		c.Close()
	}
	for _, one := range all {
		if one.raw != "x-spamsim: forged\r\n\r\nhello\r\n" || one.env.ClientAddr != "192.0.2.7" || one.env.Sender != "a@b.test" {
			t.Errorf("the filter saw %+v", one)
		}
	}
	if len(all) != 2 {
		t.Errorf("the filter saw %d messages", len(all))
	}
}
