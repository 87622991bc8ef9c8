package smtpproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"spamsim/milter/filter"
)

const small = "Subject: x\r\n\r\nbody\r\n"

func TestActions(t *testing.T) {
	for _, c := range []struct {
		name   string
		j      judgement
		answer string
	}{
		{"reject", judgement{Action: filter.Reject, Reply: "550 5.7.1 bulk mail"}, "550 5.7.1 bulk mail\r\n"},
		{"tempfail", judgement{Action: filter.TempFail, Reply: "451 4.7.1 bulk mail"}, "451 4.7.1 bulk mail\r\n"},
		{"reject without words", judgement{Action: filter.Reject}, string(replyRejected)},
		{"reject in the wrong class", judgement{Action: filter.Reject, Reply: "250 2.0.0 Ok"}, string(replyRejected)},
		{"tempfail in the wrong class", judgement{Action: filter.TempFail, Reply: "550 5.7.1 no"}, string(replyTryAgain)},
		{"words with a line end", judgement{Action: filter.Reject, Reply: "550 5.7.1 a\r\n250 b"}, string(replyRejected)},
	} {
		t.Run(c.name, func(t *testing.T) {
			hop := newFake(t, nil)
			s, addr := start(t, Config{NextHop: hop.url(), Check: judging(c.j)})
			client, _ := hello(t, addr)
			for range 2 {
				if r := client.mail(stuff(small)); r != c.answer {
					t.Errorf("answer: %q", r)
				}
			}
			if len(hop.mails()) != 0 || strings.Contains(strings.Join(hop.lines(), "|"), "DATA") {
				t.Errorf("the next hop heard %q", hop.lines())
			}
			if st := s.Stats(); st.Rejected != 2 || st.Delivered != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestQuarantine(t *testing.T) {
	hop := newFake(t, nil)
	var kept []string
	var fail error
	quarantine := func(env *envelope, raw []byte) error {
		if fail != nil && fail.Error() == "panic" {
			panic(fail)
		}
		if fail == nil {
			kept = append(kept, strings.Join(env.Recipients, ",")+": "+string(raw))
		}
		return fail
	}
	j := judgement{Action: filter.Quarantine}
	s, addr := start(t, Config{NextHop: hop.url(), Check: judging(j), Quarantine: quarantine})
	c, _ := hello(t, addr)
	if r := c.mail(stuff(small)); r != string(replyKept) {
		t.Errorf("answer: %q", r)
	}
	if want := []string{"b@hop.test: " + string(filter.Apply([]byte(small), j))}; !slices.Equal(kept, want) || len(hop.mails()) > 0 {
		t.Errorf("kept %q, arrived %+v", kept, hop.mails())
	}
	for i, err := range []error{errors.New("disk full"), errors.New("panic")} {
		fail = err
		if r := c.mail(stuff(small)); !strings.HasPrefix(r, "250 2.0.0 Ok: queued") {
			t.Errorf("%v: %q", err, r)
		}
		if len(hop.mails()) != i+1 {
			t.Errorf("%v: arrived %+v", err, hop.mails())
		}
	}
	if st := s.Stats(); st.Quarantined != 1 || st.Delivered != 2 {
		t.Errorf("%+v", st)
	}
	_, addr = start(t, Config{NextHop: hop.url(), Check: judging(j)})
	c, _ = hello(t, addr)
	if r := c.mail(stuff(small)); !strings.HasPrefix(r, "250 2.0.0 Ok: queued") || len(hop.mails()) != 3 {
		t.Errorf("no quarantine: %q", r)
	}
}

// passes is a Config.Pass that keeps what it was asked.
type passes struct {
	mu    sync.Mutex
	asked []string
}

func (p *passes) pass(_ *envelope, kind filter.Kind, reason string) judgement {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, reason)
	return judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason}}
}

// TestOwnFailures: a filter that panics or takes too long does not stop mail.
func TestOwnFailures(t *testing.T) {
	hop := newFake(t, nil)
	var p passes
	hang := make(chan struct{})
	check := func(ctx context.Context, _ *envelope, raw []byte) judgement {
		switch strings.TrimSpace(string(raw)) {
		case "panic":
			panic("at the filter")
		case "timeout":
			<-ctx.Done() // as told
		case "deaf":
			<-hang // as not told
		}
		return judgement{Action: filter.Reject}
	}
	s, addr := start(t, Config{NextHop: hop.url(), Check: check, Pass: p.pass, Timeouts: Timeouts{Check: 250 * time.Millisecond}})
	c, _ := hello(t, addr)
	for _, w := range []string{"panic", "timeout", "deaf"} {
		if r := c.mail(stuff(w)); !strings.HasPrefix(r, "250 2.0.0 Ok: queued") {
			t.Errorf("%s: %q", w, r)
		}
	}
	if want := []string{"panic", "timeout", "timeout"}; !slices.Equal(p.asked, want) {
		t.Errorf("asked %q", p.asked)
	}
	if st := s.Stats(); st.Failed != 3 || st.Delivered != 3 || len(hop.mails()) != 3 || st.Held == 0 {
		t.Errorf("%+v; the deaf filter holds its message still", st)
	}
	close(hang)
	eventually(t, "the message is given back", func() bool { return s.Stats().Held == 0 })
}

// TestLateIsNoJudgement: what a filter says when its time is over does not stand for a judgement, whichever is noticed first.
func TestLateIsNoJudgement(t *testing.T) {
	for range 64 {
		over, cancel := context.WithTimeout(t.Context(), 0)
		done := make(chan judgement, 1)
		done <- judgement{Action: filter.Reject}
		j, ok := await(over, done)
		cancel()
		if ok {
			t.Fatalf("%+v", j)
		}
	}
}

// TestJudgesLeave: of the judges that a crowd of messages took no more stay than can judge at once, and none when the server ends.
func TestJudgesLeave(t *testing.T) {
	const crowd, most = 20, 2
	judges := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "smtpproxy.(*Server).work(")
	}
	eventually(t, "those of other tests leave", func() bool { return judges() == 0 })
	hold := make(chan struct{})
	check := func(context.Context, *envelope, []byte) judgement {
		<-hold
		return judgement{}
	}
	s, err := New(Config{NextHop: "smtp://127.0.0.1:1", Hostname: "proxy.test", Trusted: loopback, Check: check, MaxJudging: most})
	if err != nil {
		t.Fatal(err)
	}
	var all []*job
	for range crowd {
		j := &job{ctx: t.Context(), env: &envelope{}, msg: aMessage(t, s), done: make(chan judgement, 1)}
		s.hand(j)
		j.msg.release()
		all = append(all, j)
	}
	eventually(t, "each message has a judge", func() bool { return judges() == crowd })
	close(hold)
	for _, j := range all {
		<-j.done
	}
	eventually(t, "the others leave", func() bool { return judges() == most && s.budget.Held() == 0 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "all leave", func() bool { return judges() == 0 })
}

// aMessage is one that the server has in memory.
func aMessage(t *testing.T, s *Server) *held {
	t.Helper()
	m := s.hold(netip.Prefix{})
	if m == nil {
		t.Fatal("no memory")
	}
	return m
}

// TestCrowdIsJudged: judgements that sessions wait for are none that hang, however many go on at a time.
func TestCrowdIsJudged(t *testing.T) {
	const crowd = maxStuck + 2
	shown, said, turn := make(chan bool, crowd), make(chan judgement, crowd), make(chan struct{})
	check := func(context.Context, *envelope, []byte) judgement {
		shown <- true
		<-turn
		return judgement{Action: filter.Reject}
	}
	s, err := New(Config{NextHop: "smtp://127.0.0.1:1", Check: check, MaxJudging: crowd, Timeouts: Timeouts{Check: patience}})
	if err != nil {
		t.Fatal(err)
	}
	for range crowd {
		m := aMessage(t, s)
		go func() {
			defer m.release()
			said <- s.judge(t.Context(), &envelope{}, m)
		}()
	}
	eventually(t, "all are shown, or one passes", func() bool { return len(shown) == crowd || len(said) > 0 })
	close(turn)
	for range crowd {
		if j := <-said; j.Action != filter.Reject {
			t.Errorf("one of %d passed unjudged", crowd)
		}
	}
	if err := s.Close(); err != nil || s.counters.stuckJudgings.Load() != 0 {
		t.Errorf("%d hang at the end, %v", s.counters.stuckJudgings.Load(), err)
	}
}

// TestDeafFilters: only so many judgements may hang at a time; then mail passes without being shown.
func TestDeafFilters(t *testing.T) {
	hop := newFake(t, nil)
	var p passes
	hang := make(chan struct{})
	check := func(context.Context, *envelope, []byte) judgement {
		<-hang
		return judgement{}
	}
	_, addr := start(t, Config{NextHop: hop.url(), Check: check, Pass: p.pass, MaxJudging: 2 * maxStuck,
		Timeouts: Timeouts{Check: time.Millisecond}})
	defer close(hang)
	c, _ := hello(t, addr)
	last := ""
	for n := 0; last != "busy" && n < 10*maxStuck; n++ { // one that times out before it begins does not hang
		if r := c.mail(stuff(small)); !strings.HasPrefix(r, "250 ") {
			t.Fatalf("answer: %q", r)
		}
		last = p.asked[len(p.asked)-1]
	}
	if n := len(p.asked); last != "busy" || n <= maxStuck || p.asked[maxStuck-1] != "timeout" {
		t.Errorf("asked %d times, at last %q", n, last)
	}
}

// TestPassPanics: even then the message passes.
func TestPassPanics(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), Check: func(context.Context, *envelope, []byte) judgement { panic("x") },
		Pass: func(*envelope, filter.Kind, string) judgement { panic("y") }})
	c, _ := hello(t, addr)
	if r := c.mail(stuff(small)); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}

// TestSkipped: what is too large to be judged is passed on with what Pass says, once and whole.
func TestSkipped(t *testing.T) {
	hop := newFake(t, nil)
	var p passes
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Check: got.check, Pass: p.pass, MaxJudged: 100})
	c, _ := hello(t, addr)
	for _, n := range []int{100, 101, 50_000} {
		content := strings.Repeat("x", n-2) + "\r\n"
		if r := c.mail(stuff(content)); !strings.HasPrefix(r, "250 ") {
			t.Errorf("%d: %q", n, r)
		}
		if m := hop.mails(); string(m[len(m)-1].content) != content {
			t.Errorf("%d: %d octets arrived", n, len(m[len(m)-1].content))
		}
	}
	if !slices.Equal(p.asked, []string{"size", "size"}) || len(got.raws) != 1 {
		t.Errorf("asked %q, judged %d", p.asked, len(got.raws))
	}
}

// TestSkippedHeader: forged fields go from a header that is larger than what is judged, too, wherever the content is cut into
// pieces; one that has no end is refused.
func TestSkippedHeader(t *testing.T) {
	hop := newFake(t, nil)
	j := judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " skipped"}}, Strip: []string{"X-Spamsim"}}
	pass := func(*envelope, filter.Kind, string) judgement { return j }
	s, _ := start(t, Config{NextHop: hop.url(), Check: judging(judgement{}), Pass: pass, MaxJudged: 100})
	const pad, forged = "Subject: x\r\n", "X-Spamsim: clean; forged\r\n\tand folded\r\n"
	long := pad + strings.Repeat("A: b\r\n", 14)
	for _, rest := range []string{"C: d\r\n\r\n" + forged, "\r\n" + strings.Repeat("b", 500) + "\r\n", ""} {
		wire := stuff(long + forged + rest)
		for cut := 80; cut < len(wire); cut += 7 {
			if r := inPieces(t, s, wire[:cut], wire[cut:]); !r.ok() {
				t.Fatalf("cut at %d: %q", cut, r)
			}
			mails := hop.mails()
			if one := string(mails[len(mails)-1].content); one != "X-Spamsim: skipped\r\n"+long+rest {
				t.Fatalf("cut at %d arrived %q", cut, one)
			}
		}
	}
	if r := inPieces(t, s, long, long, forged, "\r\n.\r\n"); r != replyTooLarge {
		t.Errorf("answer: %q", r)
	}
}

// inPieces takes the content of a message as it comes in these pieces, and returns the answer to its end.
func inPieces(t *testing.T, s *Server, pieces ...string) reply {
	t.Helper()
	out, err := s.hop.begin()
	if err != nil {
		t.Fatal(err)
	}
	defer out.drop()
	out.mail("MAIL FROM:<a@b>", nil)
	out.rcpt("RCPT TO:<c@d>")
	for range 2 {
		if r, err := out.next(); err != nil || !r.ok() {
			t.Fatal(r, err)
		}
	}
	tx := &transaction{session: &session{server: s, client: &client{server: s}}, out: out}
	in := &incoming{transaction: tx, server: s, env: &envelope{}, msg: aMessage(t, s), started: time.Now()}
	defer in.free()
	for _, p := range pieces {
		in.take([]byte(p))
	}
	return in.settle()
}

// TestSkippedRefused: a next hop that refuses DATA, or goes away, while a large message streams.
func TestSkippedRefused(t *testing.T) {
	for _, c := range []struct{ at, how, want string }{
		{"DATA", "452 4.3.1 hop is full", "452 4.3.1 hop is full\r\n"},
		{"DATA", hangUp, string(replyNextHop)},
		{"content", hangUp, string(replyNextHop)},
		{".", "552 5.3.4 hop finds it large", "552 5.3.4 hop finds it large\r\n"},
	} {
		hop := newFake(t, func(f *fake) {
			f.answer = func(_ int, line string) string {
				if line == c.at {
					return c.how
				}
				return ""
			}
		})
		s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 1000})
		client, _ := hello(t, addr)
		if r := client.mail(strings.Repeat("long\r\n", 1_000_000) + ".\r\n"); r != c.want {
			t.Errorf("%s %s: %q", c.at, c.how, r)
		}
		client.do("NOOP")
		if len(hop.mails()) > 0 || s.Stats().Held != 0 {
			t.Errorf("%s %s: arrived %d, %+v", c.at, c.how, len(hop.mails()), s.Stats())
		}
	}
}

// TestClientGoneWhileJudged: whoever does not wait for the answer will come back, so nothing is delivered.
func TestClientGoneWhileJudged(t *testing.T) {
	hop := newFake(t, nil)
	asked := make(chan struct{}, 1)
	check := func(ctx context.Context, _ *envelope, _ []byte) judgement {
		asked <- struct{}{}
		<-ctx.Done()
		return judgement{}
	}
	s, addr := start(t, Config{NextHop: hop.url(), Check: check, Timeouts: Timeouts{Check: patience}})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say(stuff(small))
	<-asked
	c.Close()
	eventually(t, "the message is given up", func() bool { return s.Stats().Aborted == 1 && s.Stats().Open == 0 })
	if len(hop.mails()) != 0 || s.Stats().Failed != 0 {
		t.Errorf("arrived %+v, %+v", hop.mails(), s.Stats())
	}
}

// TestSlowJudging: what a client sends while it is watched is not lost.
func TestSlowJudging(t *testing.T) {
	hop := newFake(t, nil)
	release := make(chan struct{})
	asked := make(chan struct{}, 1)
	check := func(context.Context, *envelope, []byte) judgement {
		asked <- struct{}{}
		<-release
		return judgement{}
	}
	_, addr := start(t, Config{NextHop: hop.url(), Check: check, Timeouts: Timeouts{Check: patience}})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say(stuff(small))
	<-asked
	time.Sleep(watchAfter + 50*time.Millisecond) // not a measure: sooner, the watch is not tried
	c.say("MAIL FROM:<c@client.test>\r\nRC")
	close(release)
	c.want("250 2.0.0 Ok: queued")
	c.say("PT TO:<b@hop.test>\r\nRSET\r\n")
	for range 3 {
		c.want("250")
	}
}

// TestPanicEndsOneConnection: what panics where go-smtp does not look ends that connection, not the daemon.
func TestPanicEndsOneConnection(t *testing.T) {
	var log bytes.Buffer
	there, here := net.Pipe()
	defer there.Close()
	defer here.Close()
	go func() { _, _ = there.Write([]byte("EHLO x\r\n")) }() // ends with the pipe
	c := newClient(&Server{log: slog.New(slog.NewTextHandler(&log, nil))}, here, netip.Addr{})
	c.session = nil
	if n, err := c.Read(make([]byte, 10)); n != 0 || err != io.EOF || !strings.Contains(log.String(), "panic in a connection") {
		t.Errorf("%d, %v; the log: %s", n, err, &log)
	}
}

// TestTooLate: once the time is over the next hop gets no final dot, whatever is being waited for.
func TestTooLate(t *testing.T) {
	t.Run("judging", func(t *testing.T) {
		hop := newFake(t, nil)
		check := func(ctx context.Context, _ *envelope, _ []byte) judgement {
			time.Sleep(2 * time.Millisecond)
			return judgement{}
		}
		_, addr := start(t, Config{NextHop: hop.url(), Check: check, Timeouts: Timeouts{Answer: time.Millisecond}})
		c, _ := hello(t, addr)
		if r := c.mail(stuff(small)); r != string(replyLate) {
			t.Errorf("answer: %q", r)
		}
		if len(hop.mails()) != 0 {
			t.Errorf("arrived %+v", hop.mails())
		}
	})
	t.Run("DATA", func(t *testing.T) {
		release := make(chan struct{})
		hop := newFake(t, func(f *fake) {
			f.answer = func(_ int, line string) string {
				if line == "DATA" {
					<-release
				}
				return ""
			}
		})
		s, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Abort: 100 * time.Millisecond}})
		c, _ := hello(t, addr)
		if r := c.mail(stuff(small)); r != string(replyLate) {
			t.Errorf("answer: %q", r)
		}
		close(release)
		eventually(t, "the next hop is cut off", func() bool { _, cut := hop.counts(); return cut == 1 })
		if st := s.Stats(); len(hop.mails()) != 0 || st.Aborted != 1 {
			t.Errorf("arrived %+v, %+v", hop.mails(), st)
		}
	})
	t.Run("final dot", func(t *testing.T) { // it was sent in time: its answer is waited for
		hop := newFake(t, func(f *fake) {
			f.answer = func(_ int, line string) string {
				if line == "." {
					time.Sleep(300 * time.Millisecond)
				}
				return ""
			}
		})
		_, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Abort: 100 * time.Millisecond}})
		c, _ := hello(t, addr)
		if r := c.mail(stuff(small)); !strings.HasPrefix(r, "250 ") || len(hop.mails()) != 1 {
			t.Errorf("answer: %q", r)
		}
	})
}

// smallBuffers drops those of messages before, which may be larger than a new one's: a pool is empty after two collections.
func smallBuffers() {
	runtime.GC()
	runtime.GC()
}

// TestMemoryBudget: a message for which there is no room is answered 452, to DATA or to its final dot, and the room
// comes back.
func TestMemoryBudget(t *testing.T) {
	smallBuffers()
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 2 * firstHeld, MemoryBudget: 3 * firstHeld})
	var all []*talk
	for range 3 {
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
		all = append(all, c)
	}
	d, _ := hello(t, addr)
	d.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
	d.say("DATA\r\n")
	d.want(string(replyNoMemory))
	for _, c := range all[1:] {
		c.say("x\r\n.\r\n")
		c.want("250 ")
	}
	all[1].do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	all[2].do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	all[0].say(strings.Repeat("y", firstHeld+1000) + "\r\n.\r\n")
	all[0].want(string(replyNoMemory))
	if r := d.mail(stuff(small)); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
	if st := s.Stats(); st.NoMemory != 2 || st.Held != 2*firstHeld || len(hop.mails()) != 3 {
		t.Errorf("%+v, %d mails", st, len(hop.mails()))
	}
	all[1].Close()
	all[2].Close()
	eventually(t, "the room is back", func() bool { return s.Stats().Held == 0 })
}

// TestMemoryOfANetwork: who holds all the memory that he can get leaves as much to others, and each of these the same; the trusted
// may have what is left.
func TestMemoryOfANetwork(t *testing.T) {
	smallBuffers()
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: firstHeld, MemoryBudget: 7 * firstHeld, ProxyPeers: loopback,
		Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, RecipientDomains: []string{"hop.test"}})
	var all []*talk
	begin := func(from string) bool {
		c := dialTalk(t, addr)
		all = append(all, c)
		c.say("PROXY TCP4 " + from + " 198.51.100.1 4242 25\r\n")
		c.want("220")
		c.do("EHLO x", "MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
		c.say("DATA\r\n")
		reply := c.reply()
		if !strings.HasPrefix(reply, "354") && reply != string(replyNoMemory) {
			t.Fatalf("DATA: %q", reply)
		}
		return strings.HasPrefix(reply, "354")
	}
	for _, c := range []struct {
		from string
		want int // messages of 9
	}{{"203.0.113.%d", 3}, {"198.51.100.%d", 2}, {"10.1.2.%d", 1}, {"192.0.2.%d", 1}, {"10.1.3.%d", 0}} {
		got := 0
		for i := range 9 {
			if begin(fmt.Sprintf(c.from, i+1)) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d messages, want %d", c.from, got, c.want)
		}
	}
	for _, c := range all {
		c.Close()
	}
	eventually(t, "all is given back", func() bool {
		s.budget.mu.Lock()
		defer s.budget.mu.Unlock()
		return s.Stats().Held == 0 && len(s.budget.of) == 0
	})
}

// TestLargestIsTaken: the largest message that is judged is taken by the least memory that can be configured for it, of a
// client that is not trusted too, and one octet more streams on.
func TestLargestIsTaken(t *testing.T) {
	const most = 1 << 20
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: most, MemoryBudget: most, RecipientDomains: []string{"hop.test"},
		Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	head := "Subject: x\r\n\r\n"
	for _, size := range []int{most - 10, most, most + 1} {
		c, _ := hello(t, addr)
		if r := c.mail(head + strings.Repeat("y", size-len(head)-2) + "\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("%d octets: %q", size, r)
		}
	}
	if st := s.Stats(); st.NoMemory != 0 || st.Skipped != 1 {
		t.Errorf("%+v", st)
	}
}

// TestHeaderEndsBetweenReads: the empty line that ends a header may come in two pieces.
func TestHeaderEndsBetweenReads(t *testing.T) {
	in := &incoming{msg: &held{}}
	for _, c := range []struct {
		more string
		want bool
	}{{"A: b\r\n", true}, {"\r", true}, {"\nbody\r\n", false}} {
		in.msg.raw = append(in.msg.raw, c.more...)
		if got := in.inHeader(); got != c.want {
			t.Errorf("%q: in the header: %v, want %v", in.msg.raw, got, c.want)
		}
	}
}
