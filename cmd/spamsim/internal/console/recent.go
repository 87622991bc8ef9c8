package console

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// Bounds of what is kept in memory.
const (
	maxVerdicts  = 10_000
	maxMinutes   = 25 * 60 // the columns of a day begin at full ten minutes
	maxMessageID = 200     // octets of one that are kept
)

// kinds is how many kinds of verdict there are.
const kinds = int(filter.Error) + 1

// A Judged is a message that a door was told the verdict of.
type Judged struct {
	Envelope  *filter.Envelope
	Verdict   *filter.Verdict
	MessageID string
	Raw       []byte // nil where it was not judged; not kept, but copied
}

// An Entry is what is remembered of a verdict.
type Entry struct {
	At        time.Time
	Door      string
	Verdict   filter.Verdict
	MessageID string // cut to maxMessageID octets
	minute    int64
}

// Recent is what a daemon judged of late. It is kept in memory and nowhere else: the verdicts of the last 10,000 messages,
// how many there were in each minute of a day, and the text of the last copies of each campaign, 8 MB in all. Its methods
// may be called from many goroutines; those of a nil Recent do nothing.
type Recent struct {
	now   func() time.Time
	texts bool

	mu      sync.Mutex
	entries []Entry // a ring of maxVerdicts
	next    int
	minutes [maxMinutes]minute
	copies  []*kept // the oldest first
	octets  int     // of copies
}

// A minute counts the verdicts of one.
type minute struct {
	at int64 // Unix time in minutes
	n  [kinds]int
}

// NewRecent returns one that has seen nothing. Without texts nothing that comes out of mail is kept: no Message-ID, no copy.
func NewRecent(now func() time.Time, texts bool) *Recent { return &Recent{now: now, texts: texts} }

// Note takes a message. It takes a few microseconds.
func (r *Recent) Note(j Judged) {
	if r == nil {
		return
	}
	at := r.now()
	e := Entry{At: at, Door: j.Envelope.Door, Verdict: *j.Verdict, minute: at.Unix() / 60}
	if r.texts {
		e.MessageID = clipID(j.MessageID)
	}
	keep := r.texts && j.Verdict.Cluster != "" && j.Verdict.Copies > 1 && len(j.Raw) > 0 && len(j.Raw) <= maxCopy
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(&e)
	if len(r.entries) < maxVerdicts {
		r.entries = append(r.entries, e)
	} else {
		r.entries[r.next] = e
	}
	r.next = (r.next + 1) % maxVerdicts
	if keep {
		r.keep(&kept{e, *j.Envelope, bytes.Clone(j.Raw)})
	}
}

// clipID is what is kept of a Message-ID. It is a copy, lest it hold the memory of the whole header.
func clipID(id string) string {
	id = strings.Trim(strings.TrimSpace(id), "<>")
	return strings.Clone(id[:min(len(id), maxMessageID)])
}

func (r *Recent) count(e *Entry) {
	m := &r.minutes[int(e.minute%maxMinutes)]
	if m.at != e.minute {
		*m = minute{at: e.minute}
	}
	m.n[e.Verdict.Kind]++
}

// each calls do for every entry, the newest first, until it returns false. The lock is held.
func (r *Recent) each(do func(e *Entry) bool) {
	for i := range r.entries {
		at := (r.next - 1 - i + 2*len(r.entries)) % len(r.entries)
		if !do(&r.entries[at]) {
			return
		}
	}
}

// latest returns the last n entries of which is says yes, the newest first.
func (r *Recent) latest(n int, is func(e *Entry) bool) (out []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(func(e *Entry) bool {
		if is(e) {
			out = append(out, *e)
		}
		return len(out) < n
	})
	return out
}

// find returns what is known of a Message-ID, the newest first, at most n of them.
func (r *Recent) find(id string, n int) []Entry {
	if id = clipID(id); id == "" {
		return nil
	}
	return r.latest(n, func(e *Entry) bool { return e.MessageID == id })
}

// firstMinute is the minute in which the first of some columns begins: each begins at a multiple of its length, and now is
// in the last.
func (r *Recent) firstMinute(columns, each int) int64 {
	length := int64(each)
	return (r.now().Unix()/60/length+1)*length - length*int64(columns)
}

// A column is what came in a span of time, by the kind of verdict.
type column struct {
	From time.Time
	N    [kinds]int
}

// traffic counts the messages of the last minutes, up to the one of now, in columns of some minutes each.
func (r *Recent) traffic(columns, each int) []column {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]column, columns)
	begin := r.firstMinute(columns, each)
	for i := range out {
		from := begin + int64(i*each)
		out[i].From = time.Unix(from*60, 0)
		for m := from; m < from+int64(each); m++ {
			if held := &r.minutes[int(m%maxMinutes)]; held.at == m {
				for k, n := range held.n {
					out[i].N[k] += n
				}
			}
		}
	}
	return out
}

// lives returns, for each of some campaigns, how many of the verdicts remembered were of it in each of the last columns of
// some minutes.
func (r *Recent) lives(of []store.Campaign, columns, each int) map[string][]int {
	out := make(map[string][]int, len(of))
	for i := range of {
		out[of[i].ID] = make([]int, columns)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := r.firstMinute(columns, each)
	r.each(func(e *Entry) bool {
		life, at := out[e.Verdict.Cluster], int(e.minute-begin)/each
		if life != nil && e.minute >= begin && at < columns {
			life[at]++
		}
		return true
	})
	return out
}

// sigmas returns the sigma of each of the verdicts remembered that were held against the store: those of bulk mail, and the
// others.
func (r *Recent) sigmas() (bulk, other []float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each(func(e *Entry) bool {
		v := &e.Verdict
		switch {
		case v.Kind == filter.Bulk || v.Kind == filter.Exempt && v.Would == filter.Bulk:
			bulk = append(bulk, v.Sigma)
		case v.Judged || v.Kind == filter.Clean:
			other = append(other, v.Sigma)
		}
		return true
	})
	return bulk, other
}
