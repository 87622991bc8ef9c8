package lab

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// A Ledger is the account of a test that sends numbered messages through a filter while things break. Clients send a
// message again and again until it is accepted, as a mail server does; each attempt has a content of its own, so that what
// arrives tells of which attempt it is. Balance then holds every attempt against what arrived:
//
//   - answered 2xx: it is there, once and whole;
//   - answered 4xx or 5xx: it is not there, unless the next hop took the content and was gone before its answer was heard;
//   - not answered, and the final dot was sent: it is there once or not at all;
//   - broken off before the final dot: it is not there.
//
// Who does not own a message cannot tell a sender more than that in the third case (RFC 1047), so that each copy too many
// comes from there; Balance counts them.
type Ledger struct {
	Fresh bool // each message has a connection of its own

	// Letter, where there is one, makes the content of an attempt, which begins with the field X-Attempt and its number. Of the
	// same number it makes the same.
	Letter func(number int) []byte

	seed   uint64
	steps  atomic.Int64 // commands and answers, of all clients
	hops   atomic.Int64 // deaths of the next hop
	relays atomic.Int64 // of a relay before it, twice each
	turned atomic.Int64 // connections that were refused, or ended before EHLO was answered

	mu       sync.Mutex
	attempts []attempt
	messages int
	wrong    []string
}

// An attempt is one try to send a message, and what became of it.
type attempt struct {
	message int
	reply   string   // the one that decided; "" where there was none
	dotted  bool     // the final dot was sent
	hops    int64    // deaths of the next hop until the reply
	copies  []copied // at the sink
}

// A copied is one arrival of an attempt at the sink.
type copied struct {
	heard bool  // the sink answered it by 2xx
	hops  int64 // deaths of the next hop before the life in which it took this
	relay int64 // deaths of a relay until then
}

// NewLedger makes an empty account. Contents come from the seed.
func NewLedger(seed uint64) *Ledger { return &Ledger{seed: seed} }

// content is what an attempt sends: lines of any kind, 100 octets to 128 KB.
func (l *Ledger) content(number int) []byte {
	if l.Letter != nil {
		return l.Letter(number)
	}
	r := rand.New(rand.NewPCG(l.seed, uint64(number)))
	b := fmt.Appendf(nil, "X-Attempt: %d\r\nFrom: a@lab.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-Id: <%d@lab.test>\r\n\r\n", number, number)
	for size := len(b) + 1<<r.IntN(18); len(b) < size; {
		b = fmt.Appendf(b, "%.*s %x %x\r\n", r.IntN(3), "..", r.Uint64(), r.Uint64())
	}
	return b
}

// begin opens an attempt and returns its number.
func (l *Ledger) begin(message int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts = append(l.attempts, attempt{message: message})
	return len(l.attempts) - 1
}

// end notes how an attempt ended for its client.
func (l *Ledger) end(number int, reply string, dotted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := &l.attempts[number]
	a.reply, a.dotted, a.hops = reply, dotted, l.hops.Load()
}

// message begins a new message and returns its number.
func (l *Ledger) message() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages++
	return l.messages - 1
}

var numbered = regexp.MustCompile(`X-Attempt: (\d+)\r\n`)

// arrived notes what arrived, with whatever stands above the content that was sent. heard tells whether it was answered 2xx,
// hops in which life of the next hop.
func (l *Ledger) arrived(m Mail, heard bool, hops int64) {
	at := numbered.FindSubmatchIndex(m.Content)
	l.mu.Lock()
	defer l.mu.Unlock()
	number := -1
	if at != nil {
		number, _ = strconv.Atoi(string(m.Content[at[2]:at[3]]))
	}
	if number < 0 || number >= len(l.attempts) {
		l.wrong = append(l.wrong, fmt.Sprintf("what arrived is of no attempt: %.200q", m.Content))
		return
	}
	if want := l.content(number); !bytes.Equal(m.Content[at[0]:], want) {
		l.wrong = append(l.wrong, fmt.Sprintf("attempt %d: %d octets arrived of %d, or others", number, len(m.Content)-at[0], len(want)))
	}
	a := &l.attempts[number]
	a.copies = append(a.copies, copied{heard, hops, l.relays.Load()})
}

// Hop is a sink's configuration that notes each message and accepts it.
func (l *Ledger) Hop(addr string) SinkConfig {
	life := l.hops.Load()
	return SinkConfig{Addr: addr, Final: func(m Mail) string {
		l.arrived(m, true, life)
		return "250 2.0.0 Ok: kept"
	}}
}

// Kept notes a message that a sink of the test's own took, without an answer that could be understood.
func (l *Ledger) Kept(m Mail) { l.arrived(m, false, 0) }

// HopDies notes that the next hop is about to be killed: what it has answered may not be heard.
func (l *Ledger) HopDies() { l.hops.Add(1) }

// RelayDies notes that a relay in front of the next hop is about to be killed, and then that it is dead.
func (l *Ledger) RelayDies() { l.relays.Add(1) }

// Pass waits until the clients have done so many steps more.
func (l *Ledger) Pass(t testing.TB, steps int) {
	t.Helper()
	end := l.steps.Load() + int64(steps)
	Eventually(t, fmt.Sprint(steps, " steps of the clients"), func() bool { return l.steps.Load() >= end })
}

// Missing is how many messages were accepted that have not arrived.
func (l *Ledger) Missing() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, a := range l.attempts {
		if positive(a.reply) && len(a.copies) == 0 {
			n++
		}
	}
	return n
}

// Sums are what an account comes to.
type Sums struct {
	Messages, Attempts         int
	Accepted, Refused, Unknown int // attempts: 2xx; 4xx and 5xx, or broken off before the dot; no answer to the dot
	Duplicates                 int // copies of a message that was there already
	Arrived                    int // copies in all
	Turned                     int // connections that came to nothing, before a message was tried
}

// String is the line that a test prints.
func (s Sums) String() string {
	return fmt.Sprintf("%d messages, %d attempts: %d accepted, %d refused, %d without an answer to the dot; %d arrived, %d of them twice",
		s.Messages, s.Attempts, s.Accepted, s.Refused, s.Unknown, s.Arrived, s.Duplicates)
}

// Balance fails the test where an attempt does not balance, and returns the sums.
func (l *Ledger) Balance(t testing.TB) Sums {
	t.Helper()
	return l.balance(t, attempt.refusedRight, func(a attempt) bool { return len(a.copies) == 1 })
}

// BalanceRelay is Balance for a relay that owns what it accepts, and may die: it then may send again what it had not yet
// struck off, so that of two copies of one attempt the relay has died in between.
func (l *Ledger) BalanceRelay(t testing.TB) Sums {
	t.Helper()
	return l.balance(t, func(a attempt) bool { return len(a.copies) == 0 }, func(a attempt) bool {
		for i := 1; i < len(a.copies); i++ {
			if a.copies[i].relay == a.copies[i-1].relay {
				return false
			}
		}
		return len(a.copies) > 0
	})
}

// refusedRight tells whether what was answered 4xx or 5xx, or broken off, has arrived only as it may.
func (a attempt) refusedRight() bool {
	if len(a.copies) == 0 {
		return true
	}
	c := a.copies[0]
	return len(a.copies) == 1 && a.dotted && (!c.heard || c.hops != a.hops)
}

func (l *Ledger) balance(t testing.TB, refused, accepted func(attempt) bool) Sums {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	sums := Sums{Messages: l.messages, Attempts: len(l.attempts), Turned: int(l.turned.Load())}
	there := make([]int, l.messages)
	for i, a := range l.attempts {
		there[a.message] += len(a.copies)
		sums.Arrived += len(a.copies)
		right := false
		switch {
		case a.reply == "" && a.dotted:
			sums.Unknown++
			right = len(a.copies) <= 1 || accepted(a)
		case a.reply != "" && a.reply[0] == '2':
			sums.Accepted++
			right = accepted(a)
		default:
			sums.Refused++
			right = refused(a)
		}
		if !right {
			t.Errorf("attempt %d, %d octets, was answered %q, dot sent %v, and arrived as %+v; the next hop died %d times until then", i, len(l.content(i)), a.reply, a.dotted, a.copies, a.hops)
		}
	}
	for _, n := range there {
		sums.Duplicates += max(0, n-1)
	}
	for _, w := range l.wrong {
		t.Error(w)
	}
	return sums
}
