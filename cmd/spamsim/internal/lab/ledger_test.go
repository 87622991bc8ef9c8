package lab

import (
	"fmt"
	"slices"
	"testing"
)

// Errorf counts as a failure without an end.
func (f *fakeTB) Errorf(format string, a ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, a...))
}
func (f *fakeTB) Error(a ...any) { f.errors = append(f.errors, fmt.Sprint(a...)) }

// TestLedgerBalances: each line is an attempt with what became of it, and whether an account with it balances, for a proxy and
// for a relay that owns what it takes.
func TestLedgerBalances(t *testing.T) {
	once, twice := []copied{{heard: true}}, []copied{{heard: true}, {heard: true}}
	for _, c := range []struct {
		what         string
		a            attempt
		proxy, relay bool
	}{
		{"delivered", attempt{reply: "250 ok", dotted: true, copies: once}, true, true},
		{"lost", attempt{reply: "250 ok", dotted: true}, false, false},
		{"twice", attempt{reply: "250 ok", dotted: true, copies: twice}, false, false},
		{"twice, the relay died between", attempt{reply: "250 ok", dotted: true, copies: []copied{{heard: true}, {heard: true, relay: 2}}}, false, true},
		{"refused", attempt{reply: "550 no", dotted: true}, true, true},
		{"refused and delivered", attempt{reply: "451 no", dotted: true, copies: once}, false, false},
		{"refused, the next hop died after its answer", attempt{reply: "451 no", dotted: true, hops: 1, copies: once}, true, false},
		{"refused, the next hop said nothing", attempt{reply: "451 no", dotted: true, copies: []copied{{}}}, true, false},
		{"refused before the dot and delivered", attempt{reply: "451 no", copies: []copied{{}}}, false, false},
		{"no answer", attempt{dotted: true}, true, true},
		{"no answer and delivered", attempt{dotted: true, copies: once}, true, true},
		{"no answer and twice", attempt{dotted: true, copies: twice}, false, false},
		{"broken off", attempt{}, true, true},
		{"broken off and delivered", attempt{copies: once}, false, false},
	} {
		for name, want := range map[string]bool{"proxy": c.proxy, "relay": c.relay} {
			l := &Ledger{attempts: []attempt{c.a}, messages: 1}
			f := &fakeTB{}
			balance := l.Balance
			if name == "relay" {
				balance = l.BalanceRelay
			}
			sums := balance(f)
			if got := len(f.errors) == 0; got != want {
				t.Errorf("%s, %s: balances %v, want %v", c.what, name, got, want)
			}
			if sums.Arrived != len(c.a.copies) || sums.Duplicates != max(0, len(c.a.copies)-1) {
				t.Errorf("%s: %+v", c.what, sums)
			}
		}
	}
}

// TestLedgerKnowsContents: what arrives is recognised below any header, and only if it is whole.
func TestLedgerKnowsContents(t *testing.T) {
	whole := func(b []byte) []byte { return append([]byte("Received: by x\r\n"), b...) }
	for name, change := range map[string]func([]byte) []byte{
		"": whole, "cut": func(b []byte) []byte { return whole(b[:len(b)-2]) }, "strange": func([]byte) []byte { return []byte("x") },
		"of no attempt": func(b []byte) []byte { return slices.Concat([]byte("X-Attempt: 7\r\n"), b) },
	} {
		l := NewLedger(1)
		number := l.begin(l.message())
		l.Hop("").Final(Mail{Content: change(l.content(number))})
		l.end(number, "", true)
		f := &fakeTB{}
		l.Balance(f)
		if (name == "") != (len(f.errors) == 0) {
			t.Errorf("content that is %q: %q", name, f.errors)
		}
	}
}
