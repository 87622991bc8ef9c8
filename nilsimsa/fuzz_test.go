package nilsimsa

import (
	"errors"
	"strings"
	"testing"
)

func addTexts(f *testing.F, add func(text []byte)) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 11, 12, 15, 16, 17, 36, 100, 259, 260, 1000, 5000} {
		add(randomText(uint64(n)+1, n))
	}
	add([]byte(strings.Repeat("=", 70)))
	add([]byte("The quick brown fox jumps over the lazy dog.\r\n"))
}

// Each path counts what the plain loop counts.
func FuzzSum(f *testing.F) {
	addTexts(f, func(text []byte) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text []byte) {
		counts, want := plainCounts(text), Plain(text)
		eachPath(func(path string) {
			var d Digest
			d.Write(text)
			if got, _ := d.Counts(); got != counts {
				t.Fatalf("%s, %d bytes: buckets %v, want %v", path, len(text), got, counts)
			}
			if got := Sum(text); got != want || d.Code() != want {
				t.Fatalf("%s, %d bytes: %v, want %v", path, len(text), got, want)
			}
		})
	})
}

// A text gives one code however it is cut; the sizes of the pieces are the bytes of cuts, over and over.
func FuzzCuts(f *testing.F) {
	addTexts(f, func(text []byte) {
		f.Add(text, []byte{1})
		f.Add(text, []byte{3, 0, 20, 7})
	})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		var d Digest
		for rest, i := text, 0; len(rest) > 0; i++ {
			n := len(rest)
			if i < 4*len(cuts) {
				n = min(n, int(cuts[i%len(cuts)]))
			}
			if i&1 == 0 {
				d.Write(rest[:n])
			} else {
				d.WriteString(string(rest[:n]))
			}
			rest = rest[n:]
		}
		if got, want := d.Code(), Sum(text); got != want {
			t.Fatalf("%d bytes cut by %v: %v, want %v", len(text), cuts, got, want)
		}
	})
}

// What Parse takes, it gives back; what it does not take is no code.
func FuzzParse(f *testing.F) {
	f.Add(publishedA)
	f.Add("00" + publishedB)
	f.Add(strings.ToUpper(publishedA))
	f.Add("xyz")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseTail(s)
		if hex := strings.Trim(s, "0123456789abcdefABCDEF") == ""; (err == nil) != (hex && len(s) >= 64) {
			t.Fatalf("ParseTail(%q): %v", s, err)
		}
		if err != nil && !errors.Is(err, ErrCode) {
			t.Fatalf("ParseTail(%q): %v is no ErrCode", s, err)
		}
		if err == nil && c.String() != strings.ToLower(s[len(s)-64:]) {
			t.Fatalf("ParseTail(%q) = %v", s, c)
		}
		if back, err := Parse(c.String()); back != c || err != nil {
			t.Fatalf("Parse(%v) = %v, %v", c, back, err)
		}
		if _, exact := Parse(s); (exact == nil) != (err == nil && len(s) == 64) {
			t.Fatalf("Parse(%q): %v", s, exact)
		}
	})
}
