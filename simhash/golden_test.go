package simhash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// testdata/codes.jsonl holds documents with the fingerprints that published examples in Python, Java and C++ compute for
// them when they are run, and the constants that two projects (mfonda/simhash, 1e0ng/simhash) publish;
// testdata/hashes.jsonl holds what the examples' token hashes are. A checkout with a folder shared/vectors beside it is
// tested against the larger set there as well.

// goldenRows reads the JSON lines of testdata/own and of the larger set's files that are there.
func goldenRows[T any](t *testing.T, own string, more ...string) []T {
	t.Helper()
	var rows []T
	for i, path := range append([]string{filepath.Join("testdata", own)}, more...) {
		if i > 0 {
			path = filepath.Join("..", "..", "shared", "vectors", path)
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) && i > 0 {
			continue
		}
		before := len(rows)
		for d := json.NewDecoder(bytes.NewReader(data)); err == nil && d.More(); {
			var row T
			err = d.Decode(&row)
			rows = append(rows, row)
		}
		if err != nil || len(rows) == before {
			t.Fatalf("%s: %d rows, %v", path, len(rows)-before, err)
		}
	}
	return rows
}

// A tokenList is a JSON array of tokens, or "str(0..499)" for the decimal numbers 0 to 499.
type tokenList []string

func (l *tokenList) UnmarshalJSON(data []byte) error {
	if string(data) == `"str(0..499)"` {
		for i := range 500 {
			*l = append(*l, strconv.Itoa(i))
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

func TestPublishedCodes(t *testing.T) {
	type row struct {
		Algo    string
		Tokens  tokenList
		Weights []float64
		Code    string
	}
	for _, r := range goldenRows[row](t, "codes.jsonl", "simhash-vectors.jsonl", "simhash-thirdparty-vectors.jsonl") {
		algo, ok := publishedAlgos[r.Algo]
		if !ok {
			t.Fatalf("unknown algorithm %q", r.Algo)
		}
		if strings.HasSuffix(r.Algo, "weighted 50*i") {
			for i := range r.Tokens {
				r.Weights = append(r.Weights, float64(50*i))
			}
		}
		if got := algo.sum(r.Tokens, r.Weights); got != r.Code {
			t.Errorf("%s, %.60q: %s, want %s", r.Algo, r.Tokens, got, r.Code)
		}
	}
}

func TestPublishedHashes(t *testing.T) {
	type row struct {
		Token     string
		Murmur64A string `json:"murmur64a_seed999999937"`
		Murmur2   string `json:"murmur2_seed999999937"`
		Py128     string `json:"pyhash128_codepoints"`
		Py64      string `json:"pyhash64_codepoints"`
		Py64UTF16 string `json:"pyhash64_utf16"`
		Java      string `json:"java_hashCode"`
		Min3      string `json:"seed003_wordhash64_min3"`
	}
	for _, r := range goldenRows[row](t, "hashes.jsonl", "simhash-hash-vectors.jsonl") {
		py := pyHash([]rune(r.Token), 128)
		got := row{
			Token:     r.Token,
			Murmur64A: fmt.Sprintf("%016x", murmur64A(r.Token, 999999937)),
			Murmur2:   fmt.Sprintf("%08x", murmur2(r.Token, 999999937)),
			Py128:     fmt.Sprintf("%016x%016x", py[1], py[0]),
			Py64:      fmt.Sprintf("%016x", pyHash([]rune(r.Token), 64)[0]),
			Py64UTF16: fmt.Sprintf("%016x", pyHash(utf16.Encode([]rune(r.Token)), 64)[0]),
			Java:      fmt.Sprintf("%08x", javaHashCode(r.Token)),
			Min3:      fmt.Sprintf("%016x", pyHashMin3(r.Token)),
		}
		if got != r {
			t.Errorf("got  %+v\nwant %+v", got, r)
		}
	}
}

// The distances that the examples' texts name, and what they give for the documents in them.
func TestPublishedDistances(t *testing.T) {
	tests := []struct {
		algo, a, b string
		weights    []float64
		want       int
	}{
		{"seed-python-128", "This is a test string for testing", "This is a test string for testing also!", nil, 14},
		{"seed-java-128", "This is a test string for testing", "This is a test string for testing also", nil, 12},
		{"seed-java-128", "This is a test string for testing", "This is a test string for testing als", nil, 4},
		{"seed-java-hashCode-32", "6", "8", nil, 3},
		{"seed-java-hashCode-32", "this is string1", "this is string2", nil, 0},
		{"seed-cpp-murmur2-w32", "中国 知乎 读者", "中国 世界 读者", []float64{2, 1, 2}, 14},
	}
	for _, test := range tests {
		algo := publishedAlgos[test.algo]
		a := number(t, algo.sum(strings.Fields(test.a), test.weights))
		b := number(t, algo.sum(strings.Fields(test.b), test.weights))
		if got := a.Distance(b); got != test.want {
			t.Errorf("%s: %q, %q: distance %d, want %d", test.algo, test.a, test.b, got, test.want)
		}
	}
}

// number reads up to 32 hexadecimal digits.
func number(t *testing.T, digits string) Code128 {
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		t.Fatalf("%q is no number", digits)
	}
	return Code128{new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64(), new(big.Int).Rsh(n, 64).Uint64()}
}

// The Python example calls the ratio of the two fingerprints, taken as numbers, their similarity.
func TestPublishedRatio(t *testing.T) {
	algo := publishedAlgos["seed-python-128"]
	var v [2]float64
	for i, text := range []string{"This is a test string for testing", "This is a test string for testing also!"} {
		c := number(t, algo.sum(strings.Fields(text), nil))
		v[i] = float64(c[1])*(1<<64) + float64(c[0])
	}
	ratio := min(v[0], v[1]) / max(v[0], v[1])
	if got := fmt.Sprintf("%.11f", ratio); got != "0.97584098811" {
		t.Errorf("%s, want 0.97584098811", got)
	}
}
