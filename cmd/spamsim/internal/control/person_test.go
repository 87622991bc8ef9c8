package control

import (
	"slices"
	"testing"

	"spamsim/store"
)

// TestForgetPerson: an address reaches the service as it was given, and words that mean nothing do not.
func TestForgetPerson(t *testing.T) {
	r := &record{}
	c := dial(t, serve(t, r, 100))
	for _, as := range []store.Role{store.Sender, store.Recipient} {
		if got, err := c.ForgetPerson(t.Context(), as, "a+b&c=d@x.example"); err != nil || got != (store.Forgotten{Messages: 2, Subjects: 1}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	want := []string{`person 0 "a+b&c=d@x.example"`, `person 1 "a+b&c=d@x.example"`}
	if !slices.Equal(r.calls, want) {
		t.Errorf("called %q, want %q", r.calls, want)
	}
	if _, err := c.ForgetPerson(t.Context(), store.Sender, ""); err == nil || err.Error() != "the daemon says: as is sender or recipient, address is not empty" {
		t.Errorf("nobody: %v", err)
	}
	if _, err := c.ForgetPerson(t.Context(), 7, "a@x"); err == nil || !slices.Equal(r.calls, want) {
		t.Errorf("an unknown role: %v, called %q", err, r.calls)
	}
}
