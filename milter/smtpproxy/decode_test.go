package smtpproxy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// reference decodes in the plainest way: it looks for the end in the whole text, then goes through line by line.
func reference(wire string) (content string, rest string, done bool) {
	end := strings.Index("\r\n"+wire, "\r\n.\r\n")
	if end < 0 {
		return "", "", false
	}
	text, rest := wire[:end], wire[end+3:]
	var out strings.Builder
	for text != "" {
		line, next, whole := strings.Cut(text, "\r\n")
		line = strings.TrimPrefix(line, ".")
		if whole {
			line = strings.TrimRight(line, "\r") + "\r\n"
		}
		out.WriteString(mendLF(line))
		text = next
	}
	return out.String(), rest, true
}

// mendLF turns runs of CR before a bare LF, and a bare LF itself, into CRLF.
func mendLF(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(strings.TrimRight(s[:i], "\r") + "\r\n")
		s = s[i+1:]
	}
}

// decodeAll decodes a wire text that comes in pieces.
func decodeAll(d *decoder, wire []byte, pieces func(left int) int) (content []byte, rest []byte, done bool) {
	for len(wire) > 0 {
		piece := wire[:pieces(len(wire))]
		var n int
		content, n, done = d.decode(content, piece)
		wire = wire[n:]
		if done {
			return content, wire, true
		}
	}
	return content, nil, false
}

func whole(left int) int { return left }

func single(int) int { return 1 }

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, wire, content string
		bareLF              int
	}{
		{"empty", ".\r\n", "", 0},
		{"one line", "a\r\n.\r\n", "a\r\n", 0},
		{"dot stuffed", "..\r\n..a\r\n.b\r\n.\r\n", ".\r\n.a\r\nb\r\n", 0},
		{"NUL and bare CR", "a\x00b\rc\r\rd\r\n.\r\n", "a\x00b\rc\r\rd\r\n", 0},
		{"bare LF", "a\nb\n\nc\r\n.\r\n", "a\r\nb\r\n\r\nc\r\n", 3},
		{"CRs before LF", "a\r\r\r\nb\r\n.\r\n", "a\r\nb\r\n", 0},
		{"no end: LF . LF", "a\n.\nb\r\n.\r\n", "a\r\n.\r\nb\r\n", 2},
		{"no end: LF . CRLF", "a\n.\r\nb\r\n.\r\n", "a\r\n.\r\nb\r\n", 1},
		{"no end: CR . CRLF", "a\r.\r\nb\r\n.\r\n", "a\r.\r\nb\r\n", 0},
		{"no end: CR . CR", "a\r.\rb\r\n.\r\n", "a\r.\rb\r\n", 0},
		{"no end: CRLF . LF", "a\r\n.\nb\r\n.\r\n", "a\r\n\r\nb\r\n", 1},
		{"no end: CRLF . CR", "a\r\n.\rb\r\n.\r\n", "a\r\n\rb\r\n", 0},
		{"no end: CRLF . CR CRLF", "a\r\n.\r\r\nb\r\n.\r\n", "a\r\n\r\nb\r\n", 0},
		{"CRLF.CRLF behind a CR", "a\r\r\n.\r\n", "a\r\n", 0},
		{"stuffed dot behind CR CRLF", "a\r\r\n..b\r\n.\r\n", "a\r\n.b\r\n", 0},
		{"nothing but CR", "\r\r\n.\r\n", "\r\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pieces := range []func(int) int{whole, single} {
				var d decoder
				got, rest, done := decodeAll(&d, []byte(c.wire+"QUIT"), pieces)
				if !done || string(got) != c.content || string(rest) != "QUIT" {
					t.Errorf("got %q, rest %q, done %v; want %q", got, rest, done, c.content)
				}
				if d.bareLF != c.bareLF {
					t.Errorf("bare LF: %d, want %d", d.bareLF, c.bareLF)
				}
				if ref, _, ok := reference(c.wire); !ok || ref != c.content {
					t.Errorf("the reference says %q", ref)
				}
			}
		})
	}
}

// randomWire is what breaks decoders: short words of CR, LF, dots, NUL, and now and then a long line.
func randomWire(r *rand.Rand) []byte {
	words := []string{"\r", "\n", "\r\n", ".", "..", "\r\n.", "\n.", "\r.", "a", "bc", "\x00", "\xff", " ", "\r\n.\r"}
	var b bytes.Buffer
	for range r.IntN(60) {
		if r.IntN(40) == 0 {
			b.WriteString(strings.Repeat("x", r.IntN(3000)))
		}
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.Bytes()
}

// TestDecodeRandom compares with the reference, in random pieces.
func TestDecodeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ended := 0
	for range 20000 {
		wire := randomWire(r)
		if r.IntN(2) == 0 {
			wire = append(wire, "\r\n.\r\nNOOP"...)
		}
		var d decoder
		got, rest, done := decodeAll(&d, wire, func(left int) int { return 1 + r.IntN(left) })
		want, wantRest, wantDone := reference(string(wire))
		if done != wantDone || done && (string(got) != want || string(rest) != wantRest) {
			t.Fatalf("%q:\ngot  %q %q %v\nwant %q %q %v", wire, got, rest, done, want, wantRest, wantDone)
		}
		if done {
			ended++
		}
	}
	if ended < 10000 {
		t.Errorf("only %d contents ended", ended)
	}
}

// TestDecodeManyCRs: a run that is longer than what may wait is content.
func TestDecodeManyCRs(t *testing.T) {
	run := strings.Repeat("\r", maxCRs+5)
	var d decoder
	got, _, done := decodeAll(&d, []byte("a"+run+"b\r\n.\r\n"), single)
	if !done || string(got) != "a"+run+"b\r\n" {
		t.Errorf("%d octets, done %v", len(got), done)
	}
}

// FuzzDecode: any octets in any two pieces decode as the reference has it; what is encoded again ends nowhere but at
// its end, and decodes to itself.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a\r\n.\r\n", "\n.\r\n", "\r\n.\r\r\n", "..\r\n.\r\n", "\r\r\n.\r\nX"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, wire []byte, cut int) {
		var d decoder
		got, rest, done := decodeAll(&d, wire, func(left int) int { return max(1, min(left, cut)) })
		want, wantRest, wantDone := reference(string(wire))
		if done != wantDone || done && (string(got) != want || string(rest) != wantRest) {
			t.Fatalf("got %q %q %v, want %q %q %v", got, rest, done, want, wantRest, wantDone)
		}
		var e encoder
		again := e.end(e.encode(nil, got))
		if n := bytes.Index(append([]byte("\r\n"), again...), []byte("\r\n.\r\n")); n != len(again)-3 {
			t.Fatalf("%q ends at %d", again, n)
		}
		if done {
			if back, _, _ := reference(string(again)); back != string(got) {
				t.Fatalf("%q came back as %q", got, back)
			}
		}
	})
}

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		content := []byte(mendLF(string(randomWire(r))))
		want := stuff(string(content))
		var e encoder
		var got []byte
		for rest := content; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			got = e.encode(got, rest[:n])
			rest = rest[n:]
		}
		if got = e.end(got); string(got) != want {
			t.Fatalf("%q:\ngot  %q\nwant %q", content, got, want)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	wire := []byte(stuff(strings.Repeat("A line of ordinary length, as mail has them, and a little more.\r\n", 150)))
	dst := make([]byte, 0, 2*len(wire))
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		var d decoder
		if _, _, done := d.decode(dst[:0], wire); !done {
			b.Fatal("no end")
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	content := []byte(strings.Repeat("A line of ordinary length, as mail has them, and a little more.\r\n", 150))
	dst := make([]byte, 0, 2*len(content))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		var e encoder
		e.encode(dst[:0], content)
	}
}
