package quarantine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/milter/filter"
)

// box is an empty quarantine, ready.
func box(t *testing.T) *Box {
	t.Helper()
	b := At(filepath.Join(t.TempDir(), "quarantine"))
	if err := b.Prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

var came = filter.Envelope{ClientAddr: "192.0.2.7", Helo: "x", Sender: "a@x.example",
	Recipients: []string{"b@site.example", "\"c d\"@site.example"}, QueueID: "4ABC", Door: "smtp", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// keep puts a message in and returns its entry.
func keep(t *testing.T, b *Box, raw string) Entry {
	t.Helper()
	before, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(&came, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	after, err := b.List()
	if err != nil || len(after) != len(before)+1 {
		t.Fatalf("%d messages, %d before, %v", len(after), len(before), err)
	}
	for _, e := range after {
		if !slices.ContainsFunc(before, func(o Entry) bool { return o.Name == e.Name }) {
			return e
		}
	}
	panic("unreachable")
}

// TestKeep: the octets come back as they went in, bare CR and NUL among them, and the envelope too.
func TestKeep(t *testing.T) {
	b := box(t)
	for _, raw := range []string{"Subject: x\r\n\r\nbody\r\n", "", "\x00\r\rx\r\n.\r\n..\r\n\xff\r\n", strings.Repeat("long ", 3000) + "\r\n"} {
		e := keep(t, b, raw)
		got, err := e.Message()
		if err != nil || string(got) != raw {
			t.Errorf("%.40q came back as %.40q, %v", raw, got, err)
		}
		want := Envelope{"a@x.example", []string{"b@site.example", "\"c d\"@site.example"}, "192.0.2.7", "x", "4ABC", came.Time}
		if d := cmp.Diff(want, e.Envelope); d != "" {
			t.Error(d)
		}
		if stored, err := os.ReadFile(e.path); err != nil || strings.Contains(string(stored), "\r\n") {
			t.Errorf("the maildir holds %q, %v", stored, err)
		}
	}
	for _, dir := range []string{"", "tmp", "new", "cur", "envelope"} {
		info, err := os.Stat(filepath.Join(b.dir, dir))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(b.dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("tmp holds %v, %v", left, err)
	}
}

// TestKeepFails: where the message cannot be written nothing of it is left.
func TestKeepFails(t *testing.T) {
	b := box(t)
	if err := os.Remove(filepath.Join(b.dir, "new")); err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(&came, []byte("x")); err == nil {
		t.Error("no error")
	}
	for _, dir := range []string{"tmp", "envelope"} {
		if left, err := os.ReadDir(filepath.Join(b.dir, dir)); err != nil || len(left) > 0 {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
}

// TestFind: by name or its beginning, after a mail reader has moved the file too; nothing outside the box.
func TestFind(t *testing.T) {
	b := box(t)
	e := keep(t, b, "x\r\n")
	read := filepath.Join(b.dir, "cur", e.Name+":2,S")
	if err := os.Rename(e.path, read); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{e.Name, e.Name[:20]} {
		if got, err := b.Find(name); err != nil || got.path != read {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "x", "../new/" + e.Name, e.Name + ":2,S", e.Name + "0"} {
		if got, err := b.Find(name); !errors.Is(err, ErrNotThere) {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	keep(t, b, "y\r\n")
	if _, err := b.Find("2"); err == nil || errors.Is(err, ErrNotThere) {
		t.Errorf("an ambiguous name: %v", err)
	}
}

// TestList: what is no message of the box is not listed, one without its envelope is named, and no box is an empty one.
func TestList(t *testing.T) {
	if got, err := At(filepath.Join(t.TempDir(), "none")).List(); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	b := box(t)
	keep(t, b, "1\r\n")
	broken := keep(t, b, "2\r\n")
	if err := os.WriteFile(filepath.Join(b.dir, b.envelope(broken.Name)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "new", "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := b.List()
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), broken.Name) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestListOrder: the oldest comes first, also among those of one second.
func TestListOrder(t *testing.T) {
	b := box(t)
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const many = 12
	for i := range many {
		if err := b.Keep(&filter.Envelope{Time: began.Add(time.Duration(i) * time.Millisecond)}, []byte("x\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.List()
	if err != nil || len(got) != many {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	for i, e := range got {
		if age := e.Envelope.Time.Sub(began); age != time.Duration(i)*time.Millisecond {
			t.Errorf("%d came after %v", i, age)
		}
	}
}

// TestLock: one at a time, and nobody once it is gone.
func TestLock(t *testing.T) {
	b := box(t)
	e := keep(t, b, "x\r\n")
	unlock, err := e.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Lock(); !errors.Is(err, ErrBusy) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	if unlock, err = e.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(); err != nil {
		t.Error(err)
	}
	unlock()
	if _, err := e.Lock(); !errors.Is(err, ErrNotThere) {
		t.Errorf("gone: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(b.dir, "envelope")); err != nil || len(left) > 0 {
		t.Errorf("envelopes left: %v, %v", left, err)
	}
}

func TestNarrow(t *testing.T) {
	b := box(t)
	e := keep(t, b, "x\r\n")
	if err := e.Narrow([]string{"b@site.example"}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Find(e.Name); err != nil || !slices.Equal(got.Envelope.Recipients, []string{"b@site.example"}) || got.Envelope.Sender != "a@x.example" {
		t.Errorf("%+v, %v", got, err)
	}
}
