package filter

import (
	"context"
	"testing"

	"spamsim/store"
)

// TestSubjectsAreHidden: none is kept of what is counted, learnt, or joined by a later message, and the verdict is the same.
func TestSubjectsAreHidden(t *testing.T) {
	for _, hide := range []bool{false, true} {
		shown := newFilter(t)
		f := New(shown.store, Config{ID: "mx.example.net", HideSubjects: hide})
		for n := 1; n <= 5; n++ {
			env, raw := copyOf(n)
			if n == 3 {
				if _, err := f.Train(env, raw, Spam); err != nil {
					t.Fatal(err)
				}
				continue
			}
			f.Check(context.Background(), env, raw)
		}
		env, raw := copyOf(6)
		if v := shown.Check(context.Background(), env, raw).Verdict; v.Kind != Bulk || v.Copies != 6 { // by a filter that hides nothing
			t.Errorf("hide %v: %+v", hide, v)
		}
		want := map[bool]string{false: "herring", true: ""}[hide]
		if list := shown.store.Campaigns(store.Live, 0); len(list) != 1 || list[0].Sample != want {
			t.Errorf("hide %v: kept %+v", hide, list)
		}
	}
}
