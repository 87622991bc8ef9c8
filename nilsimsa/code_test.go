package nilsimsa

import (
	"errors"
	"strings"
	"testing"
)

const (
	publishedA = "773e2df0a02a319ec34a0b71d54029111da90838cbc20ecd3d2d4e18c25a3025"
	publishedB = "47182cf0802a11dec24a3b75d5042d310ca90838c9d20ecc3d610e98560a3645"
)

func TestBitOrder(t *testing.T) {
	for i := range 256 {
		var c Code
		c[i>>6] = 1 << (i & 63)
		b := c.Bytes()
		if got := b[31-i>>3] >> (i & 7); got != 1 {
			t.Errorf("bit %d: byte %d is %#02x", i, 31-i>>3, b[31-i>>3])
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		in         string
		exact, any bool // taken by Parse, by ParseTail
	}{
		{publishedA, true, true},
		{strings.ToUpper(publishedA), true, true},
		{publishedA[:32] + strings.ToUpper(publishedA[32:]), true, true},
		{"00" + publishedA, false, true},
		{"f" + publishedA, false, true},
		{publishedB + publishedA, false, true},
		{"", false, false},
		{publishedA[1:], false, false},
		{"g" + publishedA[1:], false, false},
		{publishedA[:63] + "G", false, false},
		{publishedA[:62] + "zz", false, false},
		{"z" + publishedA, false, false},
		{" " + publishedA[1:], false, false},
		{"0x" + publishedA[2:], false, false},
		{strings.Repeat("é", 32), false, false},
	}
	for _, test := range tests {
		check := func(name string, parse func(string) (Code, error), ok bool) {
			got, err := parse(test.in)
			switch {
			case ok && (err != nil || got.String() != publishedA):
				t.Errorf("%s(%q) = %v, %v", name, test.in, got, err)
			case !ok && (!errors.Is(err, ErrCode) || got != Code{}):
				t.Errorf("%s(%q) = %v, %v; want an ErrCode", name, test.in, got, err)
			}
		}
		check("Parse", Parse, test.exact)
		check("ParseTail", ParseTail, test.any)
	}
}

func TestParseErrorIsShort(t *testing.T) {
	if _, err := Parse(strings.Repeat("x", 1<<20)); len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestSimilarityRange(t *testing.T) {
	var zero Code
	ones := Code{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	for _, test := range []struct {
		a, b Code
		want int
	}{{zero, zero, 128}, {ones, ones, 128}, {zero, ones, -128}, {zero, Code{^uint64(0)}, 64}, {zero, Code{3: 1}, 127}} {
		if got := test.a.Similarity(test.b); got != test.want {
			t.Errorf("%v with %v: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
