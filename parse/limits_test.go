package parse

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// multipart joins parts to the body of a multipart of a subtype, below its header.
func multipart(subtype, boundary string, parts ...string) string {
	sep := "\n--" + boundary
	return fmt.Sprintf("Content-Type: multipart/%s; boundary=%q\n", subtype, boundary) +
		sep + "\n" + strings.Join(parts, sep+"\n") + sep + "--\n"
}

func TestPartsLimit(t *testing.T) {
	raw := multipart("mixed", "x", "\none", "\ntwo", "Content-Type: text/html\n\nthree", "\nfour")
	m := Parse([]byte(raw), Limits{Parts: 3})
	if got := text(m); !strings.HasPrefix(got, "one\ntwo\nContent-Type") || !strings.Contains(got, "four") {
		t.Errorf("got %q", got)
	}
	if want := []Defect{{"", defectUnclosed}, {"3", defectParts}}; !reflect.DeepEqual(m.Defects, want) {
		t.Errorf("got %v", m.Defects)
	}
}

func TestDepthLimit(t *testing.T) {
	raw := "\ninnermost"
	for i := range 5 {
		raw = multipart("mixed", fmt.Sprint("x", i), raw)
	}
	for depth, limited := range map[int]bool{4: true, 5: false, 0: false} {
		m := Parse([]byte(raw), Limits{Depth: depth})
		if got := text(m); !strings.Contains(got, "innermost") || strings.Contains(got, "Content-Type") {
			t.Errorf("%d: got %q", depth, got)
		}
		if want := []Defect{{"1.1.1.1", defectDepth}}; limited != reflect.DeepEqual(m.Defects, want) {
			t.Errorf("%d: got %v", depth, m.Defects)
		}
	}
}

func TestDecodedLimit(t *testing.T) {
	big := strings.Repeat("words ", 100)
	file := "Content-Type: image/png\n\n"
	raw := multipart("mixed", "x", file+big, "\n"+big, file+big, "\n"+big, "\nlost")
	m := Parse([]byte(raw), Limits{DecodedBytes: 700})
	if got := len(text(m)); got < 700 || got > 705 {
		t.Errorf("got %d octets of text", got)
	}
	if got := len(m.Attachments[0].Data) + len(m.Attachments[1].Data); got != 700 {
		t.Errorf("got %d octets of attachments", got)
	}
	want := []Defect{{"3", defectDecoded}, {"4", defectDecoded}, {"5", defectDecoded}}
	if !reflect.DeepEqual(m.Defects, want) {
		t.Errorf("got %v", m.Defects)
	}
}

// TestDecoyUsesNoLimit puts a decoy as large as the limit before the part that is shown.
func TestDecoyUsesNoLimit(t *testing.T) {
	raw := multipart("alternative", "x", "\n"+strings.Repeat("decoy ", 200), "Content-Type: text/html\n\n<p>shown</p>")
	if got := strings.TrimSpace(text(Parse([]byte(raw), Limits{DecodedBytes: 1000}))); got != "shown" {
		t.Errorf("got %q", got)
	}
}

// TestAlternativesUseLimit: alternatives use up what the largest of them takes, and what comes behind has the rest.
func TestAlternativesUseLimit(t *testing.T) {
	both := multipart("alternative", "x", "\n"+strings.Repeat("plain ", 100), "Content-Type: text/html\n\n"+strings.Repeat("shown ", 100))
	raw := multipart("mixed", "y", both, "\n"+strings.Repeat("behind ", 100))
	got := text(Parse([]byte(raw), Limits{DecodedBytes: 1000}))
	if shown, behind := strings.Count(got, "shown"), strings.Count(got, "behind"); shown != 100 || behind == 0 || behind > 400/7 {
		t.Errorf("%d words shown and %d behind in %q", shown, behind, got)
	}
}

// TestEncodedCompoundsShareLimit: messages that are encoded as a whole are decoded within one limit for all of them.
func TestEncodedCompoundsShareLimit(t *testing.T) {
	inner := "Content-Type: text/plain\n\n" + strings.Repeat("inner ", 50)
	encoded := "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + base64.StdEncoding.EncodeToString([]byte(inner))
	m := Parse([]byte(multipart("mixed", "x", encoded, encoded)), Limits{DecodedBytes: 700})
	if n := strings.Count(text(m), "inner"); n != 50 {
		t.Errorf("%d words were decoded, want the 50 of the first", n)
	}
	if !slices.ContainsFunc(m.Defects, func(d Defect) bool { return d.What == defectDecoded }) {
		t.Errorf("defects %v", m.Defects)
	}
}

func TestDefaults(t *testing.T) {
	if got, want := (Limits{}).or(), (Limits{256 << 10, 20, 500, 8 << 20}); got != want {
		t.Errorf("got %v", got)
	}
	if got, want := (Limits{-1, 2, 3, 4}).or(), (Limits{256 << 10, 2, 3, 4}); got != want {
		t.Errorf("got %v", got)
	}
}
