package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Entries of another node that each begin a cluster, of texts of 60 words. SPAMSIM_ENTRIES says how many.
func BenchmarkApplyNewClusters(b *testing.B) {
	w := newWriter(1)
	entries := othersEntries(b, w)
	octets := 0
	for _, e := range entries {
		octets += len(e.Value)
	}
	apply, settle, wait := time.Duration(0), time.Duration(0), time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		to := open(b, filepath.Join(b.TempDir(), "db"), Options{Key: []byte("k")})
		other, err := to.Share("to", nil)
		if err != nil {
			b.Fatal(err)
		}
		to.Count(traceOf(w.text(60)), &Transaction{Message: "own", Time: time.Now()})
		b.StartTimer()
		other.x.node = 0 // it is the one to look for those that are the same
		at := cpu(b)
		wait = max(wait, applied(other, entries))
		applied := cpu(b)
		for other.Settle(100) > 0 {
		}
		apply, settle = apply+applied-at, settle+cpu(b)-applied
		b.StopTimer()
		to.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(apply.Nanoseconds())/float64(b.N*len(entries)), "cpu-ns/apply")
	b.ReportMetric(float64(settle.Nanoseconds())/float64(b.N*len(entries)), "cpu-ns/settle")
	b.ReportMetric(float64(wait.Microseconds()), "us/wait-p99")
	b.ReportMetric(float64(octets)/float64(len(entries)), "octets/entry")
}

// othersEntries are entries of another node that each begin a cluster.
func othersEntries(b *testing.B, w *writer) []Entry {
	n := 2000
	if more, err := strconv.Atoi(os.Getenv("SPAMSIM_ENTRIES")); err == nil {
		n = more
	}
	from, err := Open("", Options{Key: []byte("k")})
	if err != nil {
		b.Fatal(err)
	}
	share, err := from.Share("from", nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		from.Count(traceOf(w.text(60)), &Transaction{Message: fmt.Sprint(i), Sender: fmt.Sprint(i), Time: time.Now()})
	}
	return share.Changes(2 * n)
}

// How long judging a message takes, waits and all, while a store that joins takes in what others know, and once it has.
// SPAMSIM_ENTRIES says how much that is: with 200,000 it takes seconds, and the file is written meanwhile.
func BenchmarkJudgeWhileJoining(b *testing.B) {
	w := newWriter(1)
	entries := othersEntries(b, w)
	mail := make([]*Trace, 100)
	for i := range mail {
		mail[i] = traceOf(w.text(60))
	}
	var joining, quiet []time.Duration
	for b.Loop() {
		b.StopTimer()
		s := open(b, filepath.Join(b.TempDir(), "db"), Options{Key: []byte("k")})
		share, err := s.Share("to", nil)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		done := make(chan struct{})
		go func() {
			share.Apply(entries, false)
			close(done)
		}()
		took := judging(s, mail, func(int) bool {
			select {
			case <-done:
				return false
			default:
				return true
			}
		})
		joining = append(joining, took...)
		quiet = append(quiet, judging(s, mail, func(n int) bool { return n < len(took) })...)
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
	report(b, joining, "joining")
	report(b, quiet, "quiet")
}

// judging judges a message a millisecond while more says so, one at least, and returns how long each took.
func judging(s *Store, mail []*Trace, more func(n int) bool) (took []time.Duration) {
	for n := 0; n == 0 || more(n); n++ {
		begun := time.Now()
		s.Judge(mail[n%len(mail)], &Transaction{Message: fmt.Sprint("judged ", n), Time: begun})
		took = append(took, time.Since(begun))
		time.Sleep(time.Millisecond)
	}
	return took
}

// report tells the median, the 99th percentile and the longest of times.
func report(b *testing.B, all []time.Duration, when string) {
	slices.Sort(all)
	for name, at := range map[string]int{"p50": len(all) / 2, "p99": len(all) * 99 / 100, "max": len(all) - 1} {
		b.ReportMetric(float64(all[at].Microseconds()), "us/"+when+"-"+name)
	}
}

// applied is Apply, which returns how long the last of a hundred messages that come meanwhile waits for the lock.
func applied(p *Share, entries []Entry) (wait time.Duration) {
	done, waits := make(chan struct{}), make(chan []time.Duration)
	go func() {
		var all []time.Duration
		for {
			select {
			case <-done:
				waits <- all
				return
			case <-time.After(200 * time.Microsecond):
			}
			at := time.Now()
			p.s.mu.Lock()
			all = append(all, time.Since(at))
			p.s.mu.Unlock()
		}
	}()
	p.Apply(entries, false)
	close(done)
	all := <-waits
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}

// cpu is the processor time that this process has taken, commits and all: a busy machine does not change it much.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Entries of another node that each count one more copy into a cluster that is known.
func BenchmarkApplyCounts(b *testing.B) {
	const n = 2000
	x := newSite(b, 2, 1)
	w := newWriter(1)
	texts := make([][]string, n)
	for i := range texts {
		texts[i] = w.text(60)
	}
	octets, took, wait, all := 0, time.Duration(0), time.Duration(0), 0
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		for i := range texts {
			x.nodes[0].s.Count(traceOf(texts[i]), &Transaction{Message: fmt.Sprint(round, i), Sender: fmt.Sprint(round), Time: x.now})
		}
		entries := x.nodes[0].Changes(2 * n)
		b.StartTimer()
		begun := cpu(b)
		wait = max(wait, applied(x.nodes[1].Share, entries))
		took += cpu(b) - begun
		all += len(entries)
		for _, e := range entries {
			octets += len(e.Value)
		}
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(all), "cpu-ns/apply")
	b.ReportMetric(float64(wait.Microseconds()), "us/wait-p99")
	b.ReportMetric(float64(octets)/float64(all), "octets/entry")
}
