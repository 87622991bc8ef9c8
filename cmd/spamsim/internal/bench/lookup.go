package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"spamsim/parse"
	"spamsim/store"
)

// A Lookup says how a message is found among so many remembered ones.
type Lookup struct {
	Remembered  int     `json:"remembered"`
	PerSPerCore float64 `json:"per_s_per_core"` // messages that store.Judge answers in a second of processor time
	// SameVerdicts is the part of messages with the verdict that a scan of all clusters gives, near-copies among them.
	SameVerdicts    float64 `json:"same_verdicts"`
	BytesPerMessage float64 `json:"bytes_per_message"` // of memory, after a garbage collection
}

// A memory is a scratch store and the stream of mail that it remembers.
type memory struct {
	store  *store.Store
	writer *writer
	n      int       // messages that were counted
	began  time.Time // when the first of them came, by the stream's clock
	before uint64    // octets on the heap before there were any
	failed atomic.Pointer[error]
}

func newMemory(dir string) (*memory, error) {
	// The proxy counts by the clock of the wall, and what is older than the window would expire: the stream begins a day
	// ago, and a thousand messages come in a second.
	m := &memory{writer: newWriter(2), before: heap(), began: time.Now().Add(-24 * time.Hour)}
	var err error
	m.store, err = store.Open(filepath.Join(dir, "bench.db"), store.Options{
		Key:     []byte("spamsim bench: this is no key"),
		OnError: func(err error) { m.failed.CompareAndSwap(nil, &err) },
	})
	return m, err
}

// trouble is the first thing that went wrong with the store's file.
func (m *memory) trouble() error {
	if err := m.failed.Load(); err != nil {
		return fmt.Errorf("scratch store: %w", *err)
	}
	return nil
}

// heap is the memory in use after a collection. The second one frees what the first found to be finalized.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// measure fills the store and measures at each size that the time and the memory allow. Where the time is up amid a size,
// what was remembered until then is the last one.
func (m *memory) measure(ctx context.Context, o Options) ([]Lookup, error) {
	until := time.Now().Add(o.Fill)
	var out []Lookup
	for _, n := range o.Sizes {
		if len(out) > 0 && !fits(n, out[len(out)-1].BytesPerMessage) {
			o.Tell(fmt.Sprintf("%d messages are left out: there is too little memory", n))
			break
		}
		o.Tell(fmt.Sprintf("lookups among %d messages, once they are remembered", n))
		err := m.fill(ctx, n, until, o.Remember)
		late := errors.Is(err, errLate)
		if late {
			o.Tell(fmt.Sprintf("after %v there are %d messages", o.Fill, m.n))
		} else if err != nil {
			return nil, err
		}
		if late && len(out) > 0 && m.n < 2*out[len(out)-1].Remembered {
			break // too near to the size before to say anything new
		}
		l, err := m.lookup()
		if err != nil {
			return nil, err
		}
		out = append(out, l)
		if late {
			break
		}
	}
	return out, nil
}

// fits tells whether n messages of so many octets fit into the memory that is free now, with as much again for the collector.
func fits(n int, octets float64) bool {
	free, err := freeMemory()
	return err != nil && n <= 1_000_000 || float64(n)*octets*2 < float64(free)
}

// freeMemory is what Linux says can be had without swapping, in octets.
func freeMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	return kib << 10, err
}

// errLate is returned where the time is up.
var errLate = errors.New("the time is up")

// A read is a message that was parsed.
type read struct {
	trace  *store.Trace
	from   *store.Transaction
	octets int
}

// read makes up the next message and parses it.
func (m *memory) read(n int) read { return m.parsed(m.writer.mail(), n) }

func (m *memory) parsed(next mail, n int) read {
	return read{store.NewTrace(parse.Parse(next.raw, parse.Limits{})), next.transaction(m.began.Add(time.Duration(n) * time.Millisecond)), len(next.raw)}
}

// fill remembers messages until there are n. They are written and parsed beside, in the same order.
func (m *memory) fill(ctx context.Context, n int, until time.Time, tell func(octets int)) error {
	ctx, cancel := context.WithDeadlineCause(ctx, until, errLate)
	parsed, done := make(chan read, 256), make(chan struct{})
	defer func() {
		cancel()
		<-done
	}()
	go func() {
		defer close(done)
		for i := m.n; i < n; i++ {
			select {
			case parsed <- m.read(i):
			case <-ctx.Done():
				return
			}
		}
	}()
	for m.n < n {
		select {
		case r := <-parsed:
			m.store.Count(r.trace, r.from)
			m.n++
			tell(r.octets)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return m.trouble()
}

// lookup measures what judging the next messages of the stream takes, without counting them.
func (m *memory) lookup() (Lookup, error) {
	if err := m.store.Sync(); err != nil {
		return Lookup{}, err
	}
	held := float64(heap()-m.before) / float64(m.n)
	next := make([]read, min(2000, m.n))
	for i := range next {
		next[i] = m.read(m.n + i)
	}
	least := leastOf(0, func() {
		for _, r := range next {
			m.store.Judge(r.trace, r.from)
		}
	})
	return Lookup{
		Remembered: m.n, PerSPerCore: rounded(float64(len(next)) / least.Seconds()), BytesPerMessage: rounded(held),
		SameVerdicts: m.sameVerdicts(next),
	}, nil
}
