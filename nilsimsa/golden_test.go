package nilsimsa

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// testdata/codes.jsonl holds texts with the codes that cmeclax's program 0.2.4 prints for them; eleven other
// implementations of it in seven languages agree on every one. "hits" is the sum of all buckets. testdata/pairs.jsonl
// holds scores, the first of them published with the implementations that name them.
//
// A checkout with a folder shared/vectors beside it is tested against the larger set there as well.

// readRows reads the JSON lines of a file.
func readRows[T any](t *testing.T, path string) []T {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var row T
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%s, row %d: %v", path, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s: no rows", path)
	}
	return rows
}

// rowFiles returns the own file and those of the larger set that are there.
func rowFiles(own string, more ...string) []string {
	files := []string{filepath.Join("testdata", own)}
	for _, name := range more {
		path := filepath.Join("..", "..", "shared", "vectors", name)
		if _, err := os.Stat(path); err == nil {
			files = append(files, path)
		}
	}
	return files
}

type codeRow struct {
	Name  string
	Input []byte `json:"input"`
	B64   []byte `json:"input_b64"` // as the larger set calls Input
	Code  string
	Hits  *uint64
	Gram  *uint64 `json:"trigrams"` // as the larger set calls Hits
}

func codeRows(t *testing.T) []codeRow {
	var all []codeRow
	for _, path := range rowFiles("codes.jsonl", "nilsimsa-vectors.jsonl", "nilsimsa-seed-vectors.jsonl") {
		for _, row := range readRows[codeRow](t, path) {
			if row.B64 != nil {
				row.Input = row.B64
			}
			if row.Gram != nil {
				row.Hits = row.Gram
			}
			if row.Code != "" { // the row of a published pair has two codes and no text
				all = append(all, row)
			}
		}
	}
	return all
}

func TestGoldenCodes(t *testing.T) {
	for _, row := range codeRows(t) {
		eachPath(func(path string) {
			if got := Sum(row.Input).String(); got != row.Code {
				t.Errorf("%s: %s gives %s, want %s", row.Name, path, got, row.Code)
			}
		})
		if got := Plain(row.Input).String(); got != row.Code {
			t.Errorf("%s: the plain loop gives %s, want %s", row.Name, got, row.Code)
		}
	}
}

func TestGoldenCounts(t *testing.T) {
	for _, row := range codeRows(t) {
		d := New()
		d.Write(row.Input)
		counts, total := d.Counts()
		if row.Hits != nil && total != *row.Hits {
			t.Errorf("%s: %d hits, want %d", row.Name, total, *row.Hits)
		}
		if counts != plainCounts(row.Input) {
			t.Errorf("%s: the buckets differ from those of the plain loop", row.Name)
		}
	}
}

func TestGoldenPairs(t *testing.T) {
	type pairRow struct {
		Name, A, B string
		Score      int
	}
	for _, path := range rowFiles("pairs.jsonl", "nilsimsa-pairs.jsonl") {
		for _, row := range readRows[pairRow](t, path) {
			a, errA := Parse(row.A)
			b, errB := Parse(row.B)
			if errA != nil || errB != nil {
				t.Fatalf("%s: %v, %v", row.Name, errA, errB)
			}
			if got := a.Similarity(b); got != row.Score {
				t.Errorf("%s: score %d, want %d", row.Name, got, row.Score)
			}
			if got := b.Similarity(a); got != row.Score {
				t.Errorf("%s: score %d the other way round, want %d", row.Name, got, row.Score)
			}
		}
	}
}

// Texts of a megabyte, made on the spot. The codes are of the same origin.
func TestGoldenBig(t *testing.T) {
	tests := []struct {
		name string
		text []byte
		code string
	}{
		{"random, seed 1", randomText(1, 1<<20), "1b04601453e77c00ba4d9d120f2173ad123d17dfe5f9b7fa99c97536c6d644d4"},
		{"random, seed 3", randomText(3, 1280003), "a5ee9dcf0a71f170b5456387e76a774369d1e654f4ca6c768e67385d462bc970"},
		{"one line repeated", bytes.Repeat([]byte("The quick brown fox\r\n"), 1<<20/21+1)[:1<<20],
			"2ef1b4be81a0908af9e1ed60f9a65a575dc07a6f71022349b80a3128f08f2fdf"},
	}
	for _, test := range tests {
		eachPath(func(path string) {
			if got := Sum(test.text).String(); got != test.code {
				t.Errorf("%s: %s gives %s, want %s", test.name, path, got, test.code)
			}
		})
	}
}

// randomText returns the high bytes of the xorshift64* generator (Vigna 2016, equation 3).
func randomText(seed uint64, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		seed ^= seed >> 12
		seed ^= seed << 25
		seed ^= seed >> 27
		text[i] = byte(seed * 0x2545F4914F6CDD1D >> 56)
	}
	return text
}

// The author drew the table from a rule: j becomes 2((53j + 1) mod 256), less 255 where that exceeds it, then the
// next number that the table does not hold yet.
func TestTran(t *testing.T) {
	var seen [256]bool
	j := 0
	for i := range tran {
		if j = 2 * ((53*j + 1) % 256); j > 255 {
			j -= 255
		}
		for seen[j] {
			j = (j + 1) % 256
		}
		seen[j] = true
		if int(tran[i]) != j {
			t.Fatalf("tran[%d] = %#02x, the rule gives %#02x", i, tran[i], j)
		}
	}
}
