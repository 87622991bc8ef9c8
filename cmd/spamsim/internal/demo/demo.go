// Package demo writes the mail stream of "spamsim demo": unrelated mail, and campaigns hidden in it. All of it is made
// up; the same seed gives the same stream.
package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Kind is a kind of mail in the stream.
type Kind int

// The kinds, in the order of the summary.
const (
	Unrelated  Kind = iota
	Note            // too short to judge
	Pills           // a campaign: some words of each copy changed
	Invoice         // a campaign: a name on top, and text of its own below each copy
	Newsletter      // a campaign that people want
)

// Kinds say what each kind is.
var Kinds = [...]string{
	Unrelated:  "unrelated mail",
	Note:       "notes of a few words",
	Pills:      "campaign: one word in twenty changed in each copy",
	Invoice:    "campaign: other names and other text added to each copy",
	Newsletter: "newsletter that was learnt as good mail",
}

// A Mail is one message with its envelope.
type Mail struct {
	Kind    Kind
	From    string // envelope sender
	To      string
	Client  string // the sending host's address
	Subject string
	Raw     []byte
}

// amounts are how many of each kind a stream holds.
var amounts = [...]int{Unrelated: 90, Note: 5, Pills: 10, Invoice: 10, Newsletter: 7}

// Stream returns the mail of a seed in the order of sending.
func Stream(seed uint64) []Mail {
	w := &writer{rand.New(rand.NewPCG(seed, 0))}
	var out []Mail
	for kind, n := range amounts {
		for range n {
			out = append(out, w.mail(Kind(kind), len(out)))
		}
	}
	w.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Issue is the newsletter that is learnt before the stream begins.
func Issue(seed uint64) Mail {
	w := &writer{rand.New(rand.NewPCG(seed, 1))}
	return w.mail(Newsletter, 10_000)
}

// A writer makes mail up.
type writer struct{ *rand.Rand }

func (w *writer) pick(list []string) string { return list[w.IntN(len(list))] }

// mail is message n of a kind.
func (w *writer) mail(kind Kind, n int) Mail {
	m := Mail{
		Kind:   kind,
		From:   fmt.Sprintf("%s%d@%s%d.example", w.pick(names), w.IntN(100), w.pick(nouns), n),
		To:     strings.ToLower(w.pick(names)) + "@site.example",
		Client: fmt.Sprintf("198.18.%d.%d", n%256, 1+w.IntN(250)), // RFC 2544: nobody's
	}
	m.From = strings.ToLower(m.From)
	var text string
	m.Subject, text = w.text(kind)
	if kind == Newsletter {
		m.From, m.Client = "news@garden.example", "198.19.0.1"
	}
	m.Raw = fmt.Appendf(nil, "From: <%s>\r\nTo: <%s>\r\nSubject: %s\r\nMessage-ID: <%d.%08x@%s>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s",
		m.From, m.To, m.Subject, n, w.Uint32(), m.From[strings.IndexByte(m.From, '@')+1:], wrap(text))
	return m
}

// text is a subject and a body, its paragraphs parted by line ends.
func (w *writer) text(kind Kind) (subject, body string) {
	switch kind {
	case Note:
		return "Re: " + w.pick(nouns), w.pick(notes)
	case Pills:
		return "Save on your " + w.pick(nouns), w.change(pills)
	case Invoice:
		name := w.pick(names)
		return fmt.Sprintf("Invoice %d", w.IntN(1e6)), "Dear " + name + ",\n" + invoice + "\n" + w.paragraph(4)
	case Newsletter:
		return "The garden letter", newsletter
	}
	return w.subject(), w.paragraph(4+w.IntN(4)) + "\n" + w.paragraph(3+w.IntN(5)) + "\n" + w.pick(names)
}

// change changes one word in twenty.
func (w *writer) change(text string) string {
	words := strings.Split(text, " ")
	for i := range words {
		if w.IntN(20) == 0 {
			words[i] = w.pick(nouns)
		}
	}
	return strings.Join(words, " ")
}

func (w *writer) subject() string {
	return "The " + w.pick(adjectives) + " " + w.pick(nouns) + " and " + w.pick(nouns)
}

// paragraph is n sentences.
func (w *writer) paragraph(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = w.sentence()
	}
	return strings.Join(out, " ")
}

// sentence fills a pattern: N a noun, V a verb, A an adjective, P a name, D an adverb.
func (w *writer) sentence() string {
	lists := map[string][]string{"N": nouns, "V": verbs, "A": adjectives, "P": names, "D": adverbs}
	words := strings.Fields(w.pick(patterns))
	for i, p := range words {
		bare := strings.TrimRight(p, ",?")
		if list, ok := lists[bare]; ok {
			words[i] = w.pick(list) + p[len(bare):]
		}
	}
	s := strings.Join(words, " ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// wrap breaks paragraphs into lines of mail.
func wrap(text string) string {
	var b strings.Builder
	for para := range strings.SplitSeq(text, "\n") {
		for words := strings.Fields(para); len(words) > 0; {
			n := 0
			for length := 0; n < len(words) && length+len(words[n]) < 72; n++ {
				length += len(words[n]) + 1
			}
			b.WriteString(strings.Join(words[:n], " ") + "\r\n")
			words = slices.Delete(words, 0, n)
		}
		b.WriteString("\r\n")
	}
	return b.String()
}
