package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"spamsim/parse"
)

// A writer makes up texts of words whose frequencies fall as those of a language do.
type writer struct {
	*rand.Rand
	zipf *rand.Zipf
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 7))
	return &writer{r, rand.NewZipf(r, 1.1, 4, 20_000)}
}

// word n of the language: consonants and vowels in turn.
func word(n uint64) string {
	var b strings.Builder
	for n += 20; n > 0; n /= 100 {
		b.WriteByte("bcdfghjklmnpqrstvwxz"[n/5%20])
		b.WriteByte("aeiou"[n%5])
	}
	return b.String()
}

func (w *writer) text(words int) []string {
	out := make([]string, words)
	for i := range out {
		out[i] = word(w.zipf.Uint64())
	}
	return out
}

// changed returns the words with a part of them exchanged.
func (w *writer) changed(words []string, part float64) []string {
	out := make([]string, len(words))
	for i, x := range words {
		if out[i] = x; w.Float64() < part {
			out[i] = word(w.zipf.Uint64())
		}
	}
	return out
}

// traceOf is the trace of a message of these words.
func traceOf(words []string) *Trace {
	raw := "Subject: something\r\n\r\n" + strings.Join(words, " ") + "\r\n"
	return NewTrace(parse.Parse([]byte(raw), parse.Limits{}))
}

var start = time.Unix(1_000_000_000, 0)

// from is transaction n of a campaign: all its copies differ in everything.
func from(n int) *Transaction {
	return &Transaction{
		Message: fmt.Sprint("message ", n), Sender: fmt.Sprintf("s@domain%d.example", n), Network: fmt.Sprintf("192.0.%d.0/24", n),
		Recipients: []string{fmt.Sprintf("r%d@example.net", n)}, Time: start.Add(time.Duration(n) * time.Second),
	}
}

func scratchStore(t testing.TB) *Store {
	t.Helper()
	return open(t, "", Options{Key: []byte("a key for tests")})
}

func open(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if path == "" { // nobody else closes it, and expiry may be under way
		t.Cleanup(func() { s.Close() })
	}
	return s
}
