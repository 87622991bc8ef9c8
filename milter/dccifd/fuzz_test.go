package dccifd

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"spamsim/milter/filter"
)

// FuzzRequest: an envelope that is written as the protocol has it is read as it was meant.
func FuzzRequest(f *testing.F) {
	f.Add("header", "192.0.2.7", "helo", "s@example.org", "one@example.net two@example.net")
	f.Add("cksums query", "", "", "", "unknown")
	f.Add("", "::1", "[::1]", "<>", "")
	f.Fuzz(func(t *testing.T, options, addr, helo, sender, rcpts string) {
		if strings.ContainsAny(options+addr+helo+sender+rcpts, "\r\n") {
			t.Skip()
		}
		lines := strings.Fields(rcpts)
		text := options + "\n" + addr + "\rname\n" + helo + "\n" + sender + "\n" + strings.Join(append(lines, ""), "\n") + "\nmessage"
		r := bufio.NewReader(strings.NewReader(text))
		q, err := readRequest(r, func() {})
		if err != nil {
			if len(text) < maxEnvelope {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		rest := make([]byte, len("message"))
		if _, err := io.ReadFull(r, rest); err != nil || string(rest) != "message" {
			t.Errorf("%q: %q is left for the message", text, rest)
		}
		if q.answers != len(lines) || len(q.env.Recipients) > len(lines) || q.env.Helo != helo {
			t.Errorf("%q was read as %+v", text, q)
		}
		if q.env.ClientAddr != addr && addr != "0.0.0.0" || q.env.Sender != sender && sender[0] != '<' && sender != placeholder {
			t.Errorf("%q was read as %+v", text, q)
		}
	})
}

// A replay is a connection on which a client says what it says, whatever the answer.
type replay struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (r *replay) Read(p []byte) (int, error)       { return r.in.Read(p) }
func (r *replay) Write(p []byte) (int, error)      { return r.out.Write(p) }
func (r *replay) SetReadDeadline(time.Time) error  { return nil }
func (r *replay) SetWriteDeadline(time.Time) error { return nil }

// answers are all that there may be, but for the message that comes back with option body.
var answers = regexp.MustCompile(`^(|T\n\nX-DCC-spamsim-Metrics: mx1 1; error\n\n` +
	`|A\nA*\n(X-DCC-spamsim-Metrics: mx1 1; (skipped|Body=4 Fuz1=3 Fuz2=2)(\r?\n(?s:.*))?)?)$`)

// FuzzSession: a client may say anything. The answer is one that the protocol has; a message is judged at most once, of
// octets that were sent after an empty line, and where it is not, no count is told; nothing stays held.
func FuzzSession(f *testing.F) {
	f.Add([]byte(one + "Subject: x\n\nx\n"))
	f.Add([]byte("body\n\n\n\nr@example.net\rs@example.net\n\nX-DCC-spamsim-Metrics: forged\n\nx\n"))
	f.Add([]byte("header\n\n\n\n\n"))
	f.Add([]byte("header\n\n\n\n\n" + strings.Repeat("x", 5000)))
	f.Add([]byte("header\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, in []byte) {
		asked := 0
		judge := func(_ context.Context, _ *filter.Envelope, raw []byte) filter.Judgement {
			if asked++; !bytes.HasSuffix(in, append([]byte("\n"), raw...)) {
				t.Errorf("asked of %q, which was not sent", raw)
			}
			return filter.Judgement{Verdict: clean}
		}
		s := &Server{Check: judge, Peek: judge, ID: "mx1", MaxMessage: 4 << 10}
		s.init()
		conn := &replay{in: bytes.NewReader(in)}
		c := newSession(s, conn)
		err := c.Converse()
		c.Release()
		s.Close()
		out := conn.out.String()
		if !answers.MatchString(out) {
			t.Errorf("answered %q", out)
		}
		if judged := strings.HasPrefix(out, "A") && s.stats.Skipped == 0; asked > 1 || judged != (asked == 1) {
			t.Errorf("judged %d times, answered %q", asked, out)
		}
		if (err != nil) != strings.HasPrefix(out, "T") {
			t.Errorf("answered %q, noted %v", out, err)
		}
		if s.held.Held() != 0 {
			t.Errorf("%d octets are still held", s.held.Held())
		}
	})
}
