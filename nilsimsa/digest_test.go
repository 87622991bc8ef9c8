package nilsimsa

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// Every cut of a short text in two, and pieces of every size of a longer one: each path begins and ends at all places.
func TestCuts(t *testing.T) {
	eachPath(func(path string) {
		t.Run(path, func(t *testing.T) { testCuts(t, randomText(7, 700)) })
	})
}

func testCuts(t *testing.T, text []byte) {
	for n := 0; n <= 60; n++ {
		want := Plain(text[:n])
		if got := Sum(text[:n]); got != want {
			t.Fatalf("%d bytes at once: %v, want %v", n, got, want)
		}
		for cut := 0; cut <= n; cut++ {
			d := New()
			d.Write(text[:cut])
			d.Write(text[cut:n])
			if got := d.Code(); got != want {
				t.Fatalf("%d bytes cut at %d: %v, want %v", n, cut, got, want)
			}
		}
	}
	want := plainCounts(text)
	for size := 1; size <= len(text); size++ {
		d := New()
		for p := range bytesChunks(text, size) {
			d.Write(p)
		}
		if got, _ := d.Counts(); got != want {
			t.Fatalf("pieces of %d: the buckets differ from those of the plain loop", size)
		}
	}
}

// bytesChunks yields p in pieces of n bytes.
func bytesChunks(p []byte, n int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			k := min(n, len(p))
			if !yield(p[:k]) {
				return
			}
			p = p[k:]
		}
	}
}

func TestHashContract(t *testing.T) {
	text := randomText(9, 100)
	d := New()
	if n, err := d.Write(text[:50]); n != 50 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if n, err := d.WriteString(string(text[50:])); n != 50 || err != nil {
		t.Errorf("WriteString = %d, %v", n, err)
	}
	want := Plain(text)
	first := d.Sum([]byte("prefix"))
	if got := hex.EncodeToString(first[6:]); string(first[:6]) != "prefix" || got != want.String() {
		t.Errorf("Sum appends %s, want %s", got, want)
	}
	if second := d.Sum(nil); !bytes.Equal(second, first[6:]) || len(second) != d.Size() || d.Code() != want {
		t.Errorf("Sum changes the digest: %x, then %x", first[6:], second)
	}
	if d.BlockSize() < 1 {
		t.Errorf("block size %d", d.BlockSize())
	}
	d.Reset()
	if *d != (Digest{}) || d.Code() != (Code{}) {
		t.Error("Reset leaves something behind")
	}
}

func TestNoAllocation(t *testing.T) {
	text := randomText(1, 1000)
	s := string(text)
	got := testing.AllocsPerRun(10, func() {
		var d Digest
		d.WriteString(s)
		Sum(text).Similarity(d.Code())
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// What the original's option -a prints for these files; the window of one must not reach into the next.
func TestBreak(t *testing.T) {
	body := "Dear friend, this is the body of the message.\nSecond line.\n"
	tests := []struct {
		texts []string
		want  string
	}{
		{[]string{body, "From: a@example.test\nSubject: hello\n\n" + body, "completely different content about lottery prizes"},
			"273367e8a00428876437300419b008018c28d57559e33196eb9bc4848c4060ec"},
		{[]string{body, body}, "173766faa62569876cf7716559e188058c2af7755be730deeb9adc1c4c6760ec"},
	}
	for _, test := range tests {
		d := New()
		for _, text := range test.texts {
			d.WriteString(text)
			d.Break()
		}
		if got := d.Code().String(); got != test.want {
			t.Errorf("%d texts: %s, want %s", len(test.texts), got, test.want)
		}
	}
}

func TestAddCode(t *testing.T) {
	a, _ := Parse(publishedA)
	b, _ := Parse(publishedB)
	d := New()
	d.AddCode(a)
	if got := d.Code(); got != a {
		t.Errorf("one code alone: %v, want itself", got)
	}
	d.AddCode(b)
	d.AddCode(a)
	if got := d.Code(); got != a {
		t.Errorf("two of three codes are %v, the sum is %v", a, got)
	}
	counts, total := d.Counts()
	var sum uint64
	for i, hits := range counts {
		sum += hits
		if want := 2*(a[i>>6]>>(i&63)&1) + b[i>>6]>>(i&63)&1; hits != want {
			t.Errorf("bucket %d: %d hits, want %d", i, hits, want)
		}
	}
	if total != sum {
		t.Errorf("total %d, the buckets hold %d", total, sum)
	}
}

// A code among texts counts as a text of as many hits as it has bits.
func TestAddCodeAmongTexts(t *testing.T) {
	text := randomText(5, 40)
	c := Code{0: 1<<5 | 1<<63, 3: 1}
	d := New()
	d.Write(text)
	d.AddCode(c)
	d.Write(text[:20]) // AddCode is no Break
	want := plainCounts(append(text[:40:40], text[:20]...))
	want[5]++
	want[63]++
	want[192]++
	if got := d.Code(); got != plainCode(want) {
		t.Errorf("%v, want %v", got, plainCode(want))
	}
}

// The original's sums are 32 bits wide: from 268,435,460 bytes on they are negative and every bit of the code is set.
const pastInt32 = 268435460

// farText returns a text's start of n repetitions of block and a few bytes more, as a digest that has not read it and as
// the counts that the plain loop would have: from the second repetition on each adds the same.
func farText(block []byte, n uint64) (*Digest, [256]uint64) {
	tail := 4
	once, twice := plainCounts(block), plainCounts(append(block[:len(block):len(block)], block...))
	more := plainCounts(append(append(block[:len(block):len(block)], block...), block[:tail]...))
	d := New()
	d.Write(block)
	for i := range once {
		step := twice[i] - once[i]
		d.acc[i] += (n - 1) * step
		d.total += (n - 1) * step
		once[i] += (n-1)*step + more[i] - twice[i]
	}
	return d, once
}

func TestPastInt32(t *testing.T) {
	block := randomText(11, 1<<12)
	for _, size := range []uint64{1 << 28, 1 << 29, 1 << 30, 1 << 33, 1 << 45} {
		d, want := farText(block, size/uint64(len(block)))
		d.Write(block[:pastInt32-1<<28])
		if counts, _ := d.Counts(); counts != want {
			t.Errorf("%d bytes: the buckets differ from those of the plain loop", size+4)
		}
		if got := d.Code(); got != plainCode(want) || got == (Code{}) {
			t.Errorf("%d bytes: %v, want %v", size+4, got, plainCode(want))
		}
	}
}
