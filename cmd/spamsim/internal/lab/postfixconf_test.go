package lab

import (
	"slices"
	"testing"
)

// TestOverride: no setting stands twice, and the later one holds.
func TestOverride(t *testing.T) {
	got := override([]string{"a = 1", "ab = 2", "c ="}, []string{"a =", "d = 4", "c = 3"})
	if want := []string{"ab = 2", "a =", "d = 4", "c = 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
