package store

import (
	"strings"
	"testing"

	"spamsim/parse"
)

// BenchmarkMail does what is done of each message before the store is asked, with texts of 50 to 800 words.
func BenchmarkMail(b *testing.B) {
	w := newWriter(3)
	mails, traces := make([]*parse.Message, 400), make([]*Trace, 400)
	for i := range mails {
		mails[i] = parse.Parse([]byte("Subject: something\n\n"+strings.Join(w.text(50+w.IntN(750)), " ")+"\n"), parse.Limits{})
		traces[i] = NewTrace(mails[i])
	}
	b.Run("trace", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			NewTrace(mails[i%len(mails)]).Release()
		}
	})
	b.Run("query", func(b *testing.B) {
		m := &scratchStore(b).memory
		b.ReportAllocs()
		for i := range b.N {
			m.query(traces[i%len(traces)]).release()
		}
	})
}
