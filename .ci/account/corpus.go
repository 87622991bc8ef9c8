package main

import (
	"bytes"
	"log"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
	"spamsim/store"
)

// A mail is a message of the corpus.
type mail struct {
	name    string
	trace   *store.Trace
	body    string // as an author wrote it, for templates
	sender  string
	thread  uint64 // of the subject without "Re:"
	arrived time.Time
}

var (
	envelopeFrom = regexp.MustCompile(`^From .*\n`)
	replyMark    = regexp.MustCompile(`(?i)^((re|fwd?|aw)(\[\d+\])?: *|\[[^\]]*\] *)+`)
)

// load reads the messages of the folders whose names have a word in them, in the order of arrival.
func load(corpus, word string) []*mail {
	files, err := filepath.Glob(filepath.Join(corpus, "*"+word+"*", "*.txt"))
	if err != nil {
		log.Fatal(err)
	}
	var out []*mail
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, read(name, envelopeFrom.ReplaceAll(raw, nil)))
	}
	slices.SortStableFunc(out, func(a, b *mail) int { return a.arrived.Compare(b.arrived) })
	return out
}

func read(name string, raw []byte) *mail {
	p := parse.Parse(raw, parse.Limits{})
	m := &mail{name: name, trace: store.NewTrace(p), sender: p.From}
	for _, b := range p.Blocks {
		if b.Kind == parse.Body {
			m.body += b.Text + "\n"
		}
	}
	m.thread = xxhash.Sum64String(strings.ToLower(replyMark.ReplaceAllString(strings.TrimSpace(p.Subject), "")))
	if h, err := netmail.ReadMessage(bytes.NewReader(raw)); err == nil {
		m.arrived, _ = h.Header.Date()
	}
	return m
}

// transaction is one that differs from all others in all but the sender.
func (m *mail) transaction() *store.Transaction {
	return &store.Transaction{Message: m.name, Sender: m.sender, Network: m.sender, Recipients: []string{m.name}, Time: time.Unix(1e9, 0)}
}

// halves cuts mail in two by its threads.
func halves(all []*mail) (a, b []*mail) {
	for _, m := range all {
		if m.thread&1 == 0 {
			a = append(a, m)
		} else {
			b = append(b, m)
		}
	}
	return a, b
}

// unrelated are the traces of the messages that share little with any other.
func unrelated(all []*mail) []*store.Trace {
	var c store.Calibrator
	for _, m := range all {
		c.Add(m.trace)
	}
	return c.Unrelated()
}
