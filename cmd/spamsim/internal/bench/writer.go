package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"spamsim/store"
)

// A writer makes mail up. Its words are as frequent as those of a language (Mandelbrot's law), and a word in three is one of
// those that often follow the word before, so that pairs of words come again as they do in phrases. Lengths are
// log-normal. See Skew for how near to real mail that comes. One message in five is a copy of an earlier one, one word in
// twenty of it changed.
type writer struct {
	*rand.Rand
	seed      uint64
	n         int
	campaigns [][]int // words of the latest texts that are sent again and again
}

// The numbers of the language; they were fitted to the words and pairs of the SpamAssassin public corpus.
const (
	vocabulary = 50_000
	exponent   = 1.1
	offset     = 8.0
	following  = 0.35 // share of words that follow from the one before
	followers  = 50   // words that may follow one
)

// campaigns is how many campaigns run at a time.
const campaigns = 200

func newWriter(seed uint64) *writer {
	return &writer{Rand: rand.New(rand.NewPCG(seed, 7)), seed: seed}
}

// rank is the word, 0 the most frequent, at the part u of all words of a long text: the inverse of the distribution's sum.
func rank(u float64) int {
	first, last := math.Pow(offset, 1-exponent), math.Pow(offset+vocabulary, 1-exponent)
	return min(vocabulary-1, int(math.Pow(first-u*(first-last), 1/(1-exponent))-offset))
}

// next is the word after another.
func (w *writer) next(word int) int {
	if w.Float64() >= following {
		return rank(w.Float64())
	}
	u := w.Float64()
	which := int(math.Pow(followers, u*u)) // 1 to followers, the first ones most often
	h := mix(uint64(word)*followers + uint64(which))
	return rank(float64(h>>11) / (1 << 53))
}

// mix is a bijection of words that spreads every bit over all (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// spell writes a word: consonants and vowels in turn, frequent words short.
func spell(b []byte, word int) []byte {
	for n := word + 20; n > 0; n /= 100 {
		b = append(b, "bcdfghjklmnpqrstvwxz"[n/5%20], "aeiou"[n%5])
	}
	return b
}

// words are those of one text, half of which have more than 80.
func (w *writer) words() []int {
	out := make([]int, 12+int(70*math.Exp(1.1*w.NormFloat64())))
	out[0] = rank(w.Float64())
	for i := 1; i < len(out); i++ {
		out[i] = w.next(out[i-1])
	}
	return out
}

// text is about n bytes of text.
func (w *writer) text(n int) []byte {
	var out []byte
	for len(out) < n {
		out = append(out, lines(w.words(), "\n")...)
	}
	return out[:n]
}

// lines writes words in lines of about 70 letters.
func lines(words []int, end string) []byte {
	var out []byte
	begun := 0
	for _, word := range words {
		out = spell(out, word)
		if len(out)-begun < 70 {
			out = append(out, ' ')
			continue
		}
		out = append(out, end...)
		begun = len(out)
	}
	return append(out, end...)
}

// A mail is a made-up message.
type mail struct {
	raw                       []byte
	sender, recipient, client string
	id                        string
}

// mail is the next message.
func (w *writer) mail() mail { return w.of(w.letter()) }

// of is a message of these words.
func (w *writer) of(words []int) mail {
	w.n++
	m := mail{
		sender:    fmt.Sprintf("%s@%s.example", spell(nil, w.IntN(vocabulary)), spell(nil, w.IntN(vocabulary))),
		recipient: fmt.Sprintf("%s@site.example", spell(nil, w.IntN(2000))),
		client:    fmt.Sprintf("198.18.%d.%d", w.IntN(256), 1+w.IntN(254)), // RFC 2544: nobody's
		id:        fmt.Sprintf("%x.%d.%x@bench.example", w.seed, w.n, w.Uint32()),
	}
	m.raw = w.compose(&m, words)
	return m
}

// letter are the words of the next text: of a campaign, or its own, which may begin a campaign.
func (w *writer) letter() []int {
	if len(w.campaigns) == 0 || w.IntN(5) > 0 {
		words := w.words()
		if w.IntN(50) == 0 {
			w.campaigns = append(w.campaigns, words)
			w.campaigns = w.campaigns[max(0, len(w.campaigns)-campaigns):]
		}
		return words
	}
	return w.copied(0.05)
}

// copied are the words of a running campaign with a part of them changed.
func (w *writer) copied(part float64) []int {
	words := append([]int(nil), w.campaigns[w.IntN(len(w.campaigns))]...)
	for i := range words {
		if w.Float64() < part {
			words[i] = rank(w.Float64())
		}
	}
	return words
}

// compose writes the message: a header with three hops, and the text as plain text, or in two of five also as HTML.
func (w *writer) compose(m *mail, words []int) []byte {
	var b []byte
	for hop := range 3 {
		b = fmt.Appendf(b, "Received: from mx%d.example (mx%d.example [198.18.%d.%d])\r\n\tby mail%d.example with ESMTP id %08X\r\n"+
			"\tfor <%s>; Mon, 2 Jan 2023 03:04:%02d +0000\r\n", hop, hop, hop, w.IntN(256), hop+1, w.Uint32(), m.recipient, hop)
	}
	b = fmt.Appendf(b, "From: <%s>\r\nTo: <%s>\r\nSubject: %s\r\nDate: Mon, 2 Jan 2023 03:04:05 +0000\r\nMessage-ID: <%s>\r\nMIME-Version: 1.0\r\n",
		m.sender, m.recipient, lines(words[:min(5, len(words))], ""), m.id)
	text := lines(words, "\r\n")
	if w.IntN(5) > 1 {
		return append(append(b, "Content-Type: text/plain; charset=utf-8\r\n\r\n"...), text...)
	}
	b = append(b, "Content-Type: multipart/alternative; boundary=bench\r\n\r\n--bench\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"...)
	b = append(append(b, text...), "\r\n--bench\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><head><title>x</title></head><body>\r\n"...)
	for line := range strings.Lines(string(text)) {
		b = fmt.Appendf(b, "<p style=\"margin: 0 0 4px 0; font-family: sans-serif\">%s<br>\r\n</p>", strings.TrimSpace(line))
	}
	return append(b, "</body></html>\r\n--bench--\r\n"...)
}

// transaction is how the message came, and when.
func (m *mail) transaction(at time.Time) *store.Transaction {
	return &store.Transaction{
		Message: m.id, Sender: m.sender, Network: m.client + "/32", Recipients: []string{m.recipient}, Time: at,
	}
}
