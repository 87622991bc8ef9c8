package smtpproxy

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// TestLogLine: what is judged, what is too large for that, and what is refused before has its Message-ID, and a verdict that is true.
func TestLogLine(t *testing.T) {
	var log bytes.Buffer
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), BareLF: RejectBareLF, MaxJudged: 200, MaxMessage: 2000, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Check: judging(judgement{Verdict: filter.Verdict{Kind: filter.Bulk}})})
	c, _ := hello(t, addr)
	for _, body := range []string{"short", strings.Repeat("streams\r\n", 100), strings.Repeat("too large\r\n", 1000), "bare\nLF"} {
		c.mail("Message-ID: <" + body[:3] + "@x>\r\n\r\n" + body + "\r\n.\r\n")
	}
	_ = s.Close()
	lines := strings.Split(log.String(), "\n")
	for i, want := range []string{
		`verdict=bulk reason="" cluster="" id="" message_id=sho@x `, `verdict=skipped reason=size cluster="" id="" message_id=str@x `,
		`verdict=skipped reason=refused cluster="" id="" message_id=too@x `, `verdict=skipped reason=refused cluster="" id="" message_id=bar@x `,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%s\nwant %s", lines[i], want)
		}
	}
}

// TestLogOfQuarantine: where it fails the log says so once it is known what became of the message.
func TestLogOfQuarantine(t *testing.T) {
	for _, answer := range []string{"250 2.0.0 Ok: queued", "550 5.7.1 hop says no"} {
		var log bytes.Buffer
		hop := newFake(t, func(f *fake) {
			f.answer = func(_ int, line string) string { return map[string]string{".": answer}[line] }
		})
		s, addr := start(t, Config{NextHop: hop.url(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Check: judging(judgement{Action: filter.Quarantine}),
			Quarantine: func(*envelope, []byte) error { return errors.New("no room") }})
		c, _ := hello(t, addr)
		if r := c.mail("Message-ID: <a@x>\r\n\r\nx\r\n.\r\n"); r != answer+"\r\n" {
			t.Errorf("answer: %q", r)
		}
		_ = s.Close()
		want := "msg=\"quarantine failed, the message was not kept\" door=smtp id=\"\" message_id=a@x reply=\"" + answer + "\" err=\"no room\"\n"
		if !strings.Contains(log.String(), want) || strings.Contains(log.String(), "delivered") {
			t.Errorf("%s\nwant %s", &log, want)
		}
	}
}
