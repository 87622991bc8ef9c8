package dccifd

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestCutRequest: a request that ends before its message is answered by a temporary failure wherever that is, and
// nobody is asked; a client that says nothing at all only looked whether the door is there.
func TestCutRequest(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(clean))
	for i := range len(one) {
		want := failedText
		if i == 0 {
			want = ""
		}
		if got := r.request(t, one[:i]); got != want {
			t.Errorf("cut after %q: answered %q", one[:i], got)
		}
	}
	if len(r.seen) != 0 {
		t.Errorf("the filter was asked of %+v", r.seen)
	}
	if n := r.Stats(); int(n.Refused) != len(one)-1 || n.Messages != 0 {
		t.Errorf("counted %+v", n)
	}
}

// TestLongEnvelope: no line, and no number of lines, may be longer than the envelope as a whole.
func TestLongEnvelope(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(clean))
	rcpt := strings.Repeat("r", 200) + "@example.net\n"
	for name, text := range map[string]string{
		"options":    strings.Repeat("header ", maxEnvelope/7+1) + one,
		"sender":     "header\n\n\n" + strings.Repeat("s", maxEnvelope) + "\nr\n\nx",
		"recipients": "header\n\n\n\n" + strings.Repeat(rcpt, maxEnvelope/len(rcpt)+1) + "\nx",
		"no end":     strings.Repeat("x", 3*maxEnvelope),
	} {
		if got := r.request(t, text); got != failedText {
			t.Errorf("%s: answered %q", name, got)
		}
	}
	if len(r.seen) != 0 {
		t.Errorf("the filter was asked %d times", len(r.seen))
	}
	many := 1000
	want := "A\n" + strings.Repeat("A", many) + "\n" + cleanLine
	if got := r.request(t, "header\n\n\n\n"+strings.Repeat(rcpt, many)+"\nx"); got != want {
		t.Errorf("%d recipients: answered %.80q", many, got)
	}
	if n := len(r.last(t).env.Recipients); n != many {
		t.Errorf("%d recipients arrived", n)
	}
}

// TestMessageSize: up to the limit a message is judged whole; one octet more and it is skipped, however much follows.
func TestMessageSize(t *testing.T) {
	const limit = 100_000 // no power of two, so that room grows past it
	r := start(t, "tcp", &Server{MaxMessage: limit}, says(clean))
	for _, size := range []int{0, 1, firstRoom - 1, firstRoom, firstRoom + 1, 2 * firstRoom, limit - 1, limit} {
		message := strings.Repeat("m", size)
		if got := r.request(t, one+message); got != "A\nA\n"+cleanLine {
			t.Errorf("%d octets: answered %q", size, got)
		}
		if r.last(t).raw != message {
			t.Errorf("of %d octets %d arrived", size, len(r.last(t).raw))
		}
	}
	judged := len(r.seen)
	for _, size := range []int{limit + 1, 2 * limit, 20 * limit} {
		if got := r.request(t, one+strings.Repeat("m", size)); got != "A\nA\nX-DCC-spamsim-Metrics: mx1 1; skipped\n\n" {
			t.Errorf("%d octets: answered %q", size, got)
		}
	}
	if len(r.seen) != judged {
		t.Error("a message over the limit was judged")
	}
	back := strings.Replace(one, "header", "body", 1)
	if got := r.request(t, back+strings.Repeat("m", limit+1)); got != failedText {
		t.Errorf("a message that was not kept, to be sent back: answered %q", got)
	}
	if n := r.Stats(); n.Skipped != 3 || n.Failed != 0 {
		t.Errorf("counted %+v", n)
	}
}

// TestMemory: a message for which there is no room is answered by a temporary failure; once others are gone there is
// room again.
func TestMemory(t *testing.T) {
	r := start(t, "tcp", &Server{MaxHeld: 2 * firstRoom}, says(clean))
	holding := r.dial(t)
	if _, err := io.WriteString(holding, one+strings.Repeat("m", firstRoom+1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first message is held", func() bool { return r.held.Held() == 2*firstRoom })
	if got := r.request(t, one+"x"); got != failedText {
		t.Errorf("without room: answered %q", got)
	}
	if got := end(t, holding); got != "A\nA\n"+cleanLine {
		t.Errorf("the first message: answered %q", got)
	}
	eventually(t, "its room is given back", func() bool { return r.held.Held() == 0 })
	if got := r.request(t, one+"x"); got != "A\nA\n"+cleanLine {
		t.Errorf("with room again: answered %q", got)
	}
}

// TestTooLargeHoldsNothing: what is read of a message over the limit until its end takes no room from others.
func TestTooLargeHoldsNothing(t *testing.T) {
	r := start(t, "tcp", &Server{MaxMessage: firstRoom}, says(clean))
	large := r.dial(t)
	if _, err := io.WriteString(large, one+strings.Repeat("m", 32<<20)); err != nil { // more than the kernel holds: most of it was read
		t.Fatal(err)
	}
	if n := r.held.Held(); n != 0 {
		t.Errorf("%d octets are held", n)
	}
	if got := end(t, large); got != "A\nA\nX-DCC-spamsim-Metrics: mx1 1; skipped\n\n" {
		t.Errorf("answered %q", got)
	}
}

// TestSlowClient: one that never finishes is answered by a temporary failure, wherever it stopped. It holds up nobody.
func TestSlowClient(t *testing.T) {
	r := start(t, "tcp", &Server{RequestTime: 100 * time.Millisecond}, says(clean))
	var conns []net.Conn
	for _, said := range []string{"h", one[:40], one, one + "half a mess"} {
		conn := r.dial(t)
		if _, err := io.WriteString(conn, said); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	for i, conn := range conns {
		if answer, err := io.ReadAll(conn); err != nil || string(answer) != failedText {
			t.Errorf("client %d: answered %q, %v", i, answer, err)
		}
	}
	if len(r.seen) != 0 {
		t.Errorf("the filter was asked of %+v", r.seen)
	}
}

// TestClientGone: a client that resets the connection within its message leaves nothing behind.
func TestClientGone(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(clean))
	conn := r.dial(t)
	if _, err := io.WriteString(conn, one+"half a mess"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message has begun", func() bool { return r.held.Held() > 0 })
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
	eventually(t, "the session is over", func() bool { return r.Stats().Sessions == 0 })
	if n := r.Stats(); n.Broken != 1 || n.Messages != 0 || len(r.seen) != 0 {
		t.Errorf("counted %+v, asked %d times", n, len(r.seen))
	}
}
