package parse

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestStable(t *testing.T) {
	for r := rune(0x80); r < 0x10000; r++ {
		if props[r]&stable == 0 || r == 0xFDFA || r == 0xFDFB {
			continue
		}
		if p := norm.NFKC.PropertiesString(string(r)); norm.NFKC.String(string(r)) != string(r) || !p.BoundaryBefore() {
			t.Errorf("%U is listed as stable", r)
		}
	}
}

// No character grows more than sixfold, which bounds what a hostile text can cost.
func TestFoldGrowth(t *testing.T) {
	for r := rune(0x80); r < 0x20000; r++ {
		s := string(r)
		if n := len(Fold(s)); n > 6*len(s) {
			t.Errorf("%U grows from %d octets to %d", r, len(s), n)
		}
	}
}
