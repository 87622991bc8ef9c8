package lab

import (
	"fmt"
	"math/rand/v2"
)

// Unlike makes up n messages of 50 to 800 words, no two alike.
func Unlike(n int) [][]byte {
	r := rand.New(rand.NewPCG(5, 6))
	common := rand.NewZipf(r, 1.15, 4, 30_000)
	out := make([][]byte, n)
	for i := range out {
		b := fmt.Appendf(nil, "From: a@bench.test\r\nMessage-ID: <%d@bench.test>\r\nSubject: bench\r\n\r\n", i)
		for w := range 50 + r.IntN(750) {
			for n := common.Uint64() + 20; n > 0; n /= 100 {
				b = append(b, "bcdfghjklmnpqrstvwxz"[n/5%20], "aeiou"[n%5])
			}
			b = append(b, []string{" ", "\r\n"}[(w%10)/9]...)
		}
		out[i] = append(b, "\r\n"...)
	}
	return out
}
