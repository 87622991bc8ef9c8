package milter

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"spamsim/milter/filter"
)

// TestLog: each message has one line with its queue id, and nothing of its content.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		drop := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "verdict" {
				return slog.Attr{}
			}
			return a
		}
		j := tagged
		j.Action = filter.Quarantine
		j.Verdict = filter.Verdict{Kind: filter.Bulk, Reason: "why", Cluster: "7f3a"}
		s := &Server{Check: always(j), Log: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: drop}))}
		l := start(t, s)
		m := connect(t, l, postfix37)
		m.begin()
		m.mail(hello)
		bare := connect(t, l, contract{6, 0, 0})
		bare.mail(hello)
		want := `level=INFO msg=message door=milter client=192.0.2.7 sender=a@b.test recipients=1 size=25 reason=why cluster=7f3a id=4F00 message_id="" took=0s action=quarantine
level=INFO msg=message door=milter client="" sender=a@b.test recipients=1 size=25 reason=why cluster=7f3a id=4F00 message_id="" took=0s action=quarantine
level=WARN msg="the MTA does not let us add fields" door=milter id=4F00
`
		if got := b.String(); got != want {
			t.Errorf("logged\n%swant\n%s", got, want)
		}
		if strings.Contains(b.String(), "hello") {
			t.Error("the log holds something of the message")
		}
	})
}

// TestLogOfTooLarge: of what is not held the log has as many recipients as there were.
func TestLogOfTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		s := &Server{MaxMessage: 50, Check: always(tagged), Pass: func(*filter.Envelope, filter.Kind, string) filter.Judgement { return filter.Judgement{} },
			Log: slog.New(slog.NewTextHandler(&b, nil))}
		m := connect(t, start(t, s), postfix37)
		m.begin()
		large := hello
		large.headers, large.last = []string{"Message-ID\x00 <a.1@b.test>\x00"}, strings.Repeat("x", 100)
		m.mail(large)
		if !strings.Contains(b.String(), " recipients=1 ") || !strings.Contains(b.String(), " message_id=a.1@b.test ") {
			t.Errorf("logged %s", b.String())
		}
	})
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		may    uint32
		action filter.Action
		want   string
	}{
		{wanted.actions, filter.Quarantine, ""},
		{0, filter.Reject, ""},
		{0, filter.Tag, "add fields"},
		{mayAddHeaders, filter.Tag, "delete forged fields"},
		{mayAddHeaders | mayChangeHeaders, filter.Tag, ""},
		{mayAddHeaders | mayChangeHeaders, filter.Quarantine, "quarantine"},
	} {
		j := tagged
		j.Action = c.action
		if got := (contract{actions: c.may}).short(j); got != c.want {
			t.Errorf("granted %#x, action %d: %q, want %q", c.may, c.action, got, c.want)
		}
	}
}
