package demo

import (
	"bytes"
	"net/mail"
	"reflect"
	"strings"
	"testing"
)

// TestStream reads the stream as mail: each message is well formed, no two are the same, the amounts are right, and the
// same seed gives the same mail.
func TestStream(t *testing.T) {
	stream := Stream(1)
	if !reflect.DeepEqual(stream, Stream(1)) {
		t.Error("the same seed gave other mail")
	}
	if reflect.DeepEqual(stream, Stream(2)) {
		t.Error("another seed gave the same mail")
	}
	var got [len(amounts)]int
	bodies := map[string]bool{}
	for _, m := range stream {
		got[m.Kind]++
		msg, err := mail.ReadMessage(bytes.NewReader(m.Raw))
		if err != nil {
			t.Fatalf("%v in\n%s", err, m.Raw)
		}
		from, err := msg.Header.AddressList("From")
		if err != nil || from[0].Address != m.From {
			t.Errorf("%v, %v: envelope sender %s", from, err, m.From)
		}
		for line := range strings.Lines(string(m.Raw)) {
			if len(line) > 80 || !strings.HasSuffix(line, "\r\n") {
				t.Errorf("line %q", line)
			}
		}
		_, body, _ := bytes.Cut(m.Raw, []byte("\r\n\r\n"))
		if bodies[string(body)] && m.Kind != Newsletter && m.Kind != Note {
			t.Errorf("twice:\n%s", body)
		}
		bodies[string(body)] = true
	}
	if got != amounts {
		t.Errorf("amounts %v, want %v", got, amounts)
	}
	if len(Kinds) != len(amounts) {
		t.Errorf("%d kinds are told of %d", len(Kinds), len(amounts))
	}
}

// TestCopiesDiffer looks at a campaign: each copy shares most words with the template, and no two are alike.
func TestCopiesDiffer(t *testing.T) {
	want := strings.Fields(pills)
	for _, m := range Stream(3) {
		if m.Kind != Pills {
			continue
		}
		_, body, _ := strings.Cut(string(m.Raw), "\r\n\r\n")
		words := strings.Fields(body)
		if len(words) != len(want) {
			t.Fatalf("%d words, want %d", len(words), len(want))
		}
		changed := 0
		for i := range words {
			if words[i] != want[i] {
				changed++
			}
		}
		if changed == 0 || changed > len(want)/5 {
			t.Errorf("%d of %d words are changed", changed, len(want))
		}
	}
}
