package milter

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// unlike are letters of 50 to 800 words, 425 on average, no two alike.
func unlike(n int) []letter {
	r := rand.New(rand.NewPCG(3, 4))
	common := rand.NewZipf(r, 1.15, 4, 30_000)
	out := make([]letter, n)
	for i := range out {
		var b strings.Builder
		for w := range 50 + r.IntN(750) {
			for n := common.Uint64() + 20; n > 0; n /= 100 {
				b.WriteByte("bcdfghjklmnpqrstvwxz"[n/5%20])
				b.WriteByte("aeiou"[n%5])
			}
			b.WriteString([]string{" ", "\r\n"}[(w%10)/9])
		}
		out[i] = hello
		out[i].headers = []string{"Subject\x00 bench", fmt.Sprintf("Message-ID\x00 <%d@bench.test>", i)}
		out[i].body = []string{b.String() + "\r\n"}
	}
	return out
}

// BenchmarkAboveNoOp is what judging costs by a milter: the processor time of a message, the driver's included, with a milter
// that takes all events and does nothing, and with one that judges and has a store on disk.
func BenchmarkAboveNoOp(b *testing.B) {
	letters := unlike(8000)
	b.Run("no-op", func(b *testing.B) {
		s := &Server{Check: always(filter.Judgement{})}
		defer s.Close()
		timed(b, func() { drive(b, s.Serve, letters...) })
	})
	b.Run("judging", func(b *testing.B) {
		memory, err := store.Open(filepath.Join(b.TempDir(), "bench.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer memory.Close()
		s := &Server{Check: filter.New(memory, filter.Config{}).Check}
		defer s.Close()
		timed(b, func() { drive(b, s.Serve, letters...) })
	})
}

// timed reports the processor time that this process takes while do runs.
func timed(b *testing.B, do func()) {
	before := processorTime(b)
	do()
	b.ReportMetric((processorTime(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/msg")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
