package parse

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestStable(t *testing.T) {
	for r := rune(0x80); r < 0x10000; r++ {
		if props[r]&stable == 0 {
			continue
		}
		if p := norm.NFKC.PropertiesString(string(r)); norm.NFKC.String(string(r)) != string(r) || !p.BoundaryBefore() {
			t.Errorf("%U is listed as stable", r)
		}
	}
}
