package filter

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"spamsim/store"
)

// host is one of a site: a store of its own, with the site's key.
func host(t testing.TB, key string) *Filter {
	t.Helper()
	s, err := store.Open("", store.Options{Key: []byte(key)})
	if err != nil {
		t.Fatal(err)
	}
	return New(s, Config{ID: "mx.example.net"})
}

// TestSecondHostDoesNotCount: what one host of a site has counted is no copy to the next, nor to the one after it; each
// judges it by what it has counted itself.
func TestSecondHostDoesNotCount(t *testing.T) {
	first, second, third := host(t, "site"), host(t, "site"), host(t, "site")
	for n := 1; n <= 6; n++ {
		env, raw := copyOf(n)
		for i, f := range []*Filter{first, second, third} {
			j := f.Check(context.Background(), env, raw)
			if want := map[bool]Kind{true: Bulk}[i == 0 && n >= 5]; j.Verdict.Kind != want {
				t.Errorf("copy %d at host %d: %+v", n, i+1, j.Verdict)
			}
			raw = Apply(raw, j)
			if bytes.Count(raw, []byte("mac=")) != 1 || !bytes.Contains(raw, []byte("mac="+j.Verdict.Seal+"\r\n")) {
				t.Errorf("copy %d behind host %d: %.200q", n, i+1, raw)
			}
		}
	}
	if a, b, c := first.store.Stats().Messages, second.store.Stats().Messages, third.store.Stats().Messages; a != 6 || b != 0 || c != 0 {
		t.Errorf("counted %d, %d and %d", a, b, c)
	}
}

// TestSealIsForOneMessage: a field that is forged, or stands on another message, makes no difference.
func TestSealIsForOneMessage(t *testing.T) {
	env, plain := copyOf(1)
	sealed := string(Apply(plain, host(t, "site").Check(context.Background(), env, plain)))
	field, _, _ := strings.Cut(sealed, "From:")
	mac := field[strings.Index(field, "mac=")+4:][:16]
	other, _ := copyOf(2)
	with := func(change func(*Envelope)) *Envelope {
		e := *env
		change(&e)
		return &e
	}
	for what, c := range map[string]struct {
		env     *Envelope
		raw     string
		counted int
	}{
		"as it was":            {env, sealed, 0},
		"below other fields":   {env, "Received: x\r\nX-Spamsim: bulk; id=x\r\n" + sealed, 0},
		"with another subject": {env, strings.Replace(sealed, "herring", "kipper", 1), 0},
		"to others":            {with(func(e *Envelope) { e.Recipients = other.Recipients }), sealed, 1},
		"to others too":        {with(func(e *Envelope) { e.Recipients = append(other.Recipients, e.Recipients...) }), sealed, 1},
		"from another":         {with(func(e *Envelope) { e.Sender = other.Sender }), sealed, 1},
		"with another id":      {env, strings.Replace(sealed, "<1@", "<2@", 1), 1},
		"with another text":    {env, sealed + "Buy two, get a third one for nothing at all, and a fourth for the price of the second.\r\n", 1},
		"with another verdict": {env, strings.Replace(sealed, "clean;", "bulk;", 1), 1},
		"with another mac":     {env, strings.Replace(sealed, mac, "0123456789abcdef", 1), 1},
		"with half of it":      {env, strings.Replace(sealed, mac, mac[:8], 1), 1},
		"with an empty one":    {env, strings.Replace(sealed, mac, "", 1), 1},
		"after too many":       {env, strings.Repeat("X-Spamsim: bulk; mac=0\r\n", maxSealed) + sealed, 1},
		"under another name":   {env, strings.Replace(sealed, "X-Spamsim:", "X-Spamsim-Old:", 1), 1},
		"without a Message-ID": {env, strings.Replace(sealed, "Message-ID: <1@example.com>\r\n", "", 1), 1},
	} {
		f := host(t, "site")
		f.Check(context.Background(), c.env, []byte(c.raw))
		if got := f.store.Stats().Messages; got != c.counted {
			t.Errorf("%s: counted %d, want %d", what, got, c.counted)
		}
	}
	f := host(t, "another site")
	if f.Check(context.Background(), env, []byte(sealed)); f.store.Stats().Messages != 1 {
		t.Error("the seal of another site holds")
	}
}

// TestOnlyWhatIsCountedIsSealed: a seal elsewhere would keep a host from counting what nobody has counted.
func TestOnlyWhatIsCountedIsSealed(t *testing.T) {
	f := host(t, "site")
	env, raw := copyOf(1)
	if v := f.Peek(context.Background(), env, raw).Verdict; v.Seal != "" {
		t.Errorf("seen only: %+v", v)
	}
	own := *env
	own.Authenticated = true
	if v := f.Check(context.Background(), &own, raw).Verdict; v.Seal != "" {
		t.Errorf("of our own user: %+v", v)
	}
	if v := f.Check(context.Background(), env, []byte("Message-ID: <3@example.com>\r\n\r\nToo short.\r\n")).Verdict; v.Kind != Abstain || v.Seal != "" {
		t.Errorf("too short: %+v", v)
	}
	if v := f.Check(context.Background(), env, bytes.Replace(raw, []byte("Message-ID"), []byte("X-Other"), 1)).Verdict; v.Seal != "" {
		t.Errorf("without a Message-ID: %+v", v)
	}
	for range 2 { // a retry is sealed as its first coming was
		if v := f.Check(context.Background(), env, raw).Verdict; len(v.Seal) != 16 {
			t.Errorf("counted: %+v", v)
		}
	}
}

// FuzzSealOf: what a verdict's own field says is read back; of any other value a seal is its end.
func FuzzSealOf(f *testing.F) {
	f.Add(" bulk; sigma=4.6;\n\tid=mx;\n\tmac=0123456789abcdef")
	f.Add("mac=;mac=")
	f.Add(" clean; mac=a; id=b")
	f.Fuzz(func(t *testing.T, value string) {
		if word, mac, ok := sealOf(value); ok && (!strings.HasSuffix(strings.TrimSpace(value), "mac="+mac) || !strings.HasPrefix(strings.TrimSpace(value), word)) {
			t.Errorf("%q: %q, %q", value, word, mac)
		}
		id := strings.Map(func(r rune) rune {
			if r == ';' || r <= ' ' || r > '~' {
				return -1
			}
			return r
		}, value)
		v := Verdict{Kind: Exempt, Reason: "ham", Seal: "0123456789abcdef"}
		if word, mac, ok := sealOf(v.Field(id)); word != "exempt" || mac != v.Seal || !ok {
			t.Errorf("id %q: %q, %q, %v", id, word, mac, ok)
		}
	})
}
