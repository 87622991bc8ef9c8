package milter

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// said is what an answer looks like to an MTA.
func said(c contract, m *message, j filter.Judgement) []string {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	answer(w, c, m, j)
	w.Flush()
	p := packetReader{r: bufio.NewReader(&b), between: func() {}, inside: func() {}}
	var all []string
	for {
		cmd, data, err := p.next()
		if err != nil {
			return all
		}
		all = append(all, words(cmd, string(data)))
	}
}

func TestAnswers(t *testing.T) {
	two := filter.Judgement{
		Add:   []filter.Field{{Name: "A", Value: " one;\n\ttwo"}, {Name: "B", Value: " b"}},
		Strip: []string{"x-OLD", "X-Absent"},
	}
	with := func(a filter.Action, reply string) filter.Judgement {
		j := two
		j.Action, j.Reply = a, reply
		return j
	}
	changes := []string{"m 3 x-OLD|", "m 2 x-OLD|", "m 1 x-OLD|", "i 0 B| b", "i 0 A| one;\n\ttwo"}
	m := &message{}
	for _, h := range []string{"X-Old", "Subject", "X-OLD", "x-old"} {
		m.addHeader([]byte(h+"\x00 v\x00"), true)
	}
	all := contract{6, wanted.actions, wanted.protocol}
	for _, c := range []struct {
		name string
		c    contract
		j    filter.Judgement
		want []string
	}{
		{"tag", all, two, append(slices.Clone(changes), "c")},
		{"quarantine", all, with(filter.Quarantine, ""), append(slices.Clone(changes), "q held by spamsim", "c")},
		{"reject", all, with(filter.Reject, "550 5.7.1 98% similar"), []string{"y 550 5.7.1 98%% similar"}},
		{"reject without a text", all, with(filter.Reject, ""), []string{"r"}},
		{"reject by a reply of another class", all, with(filter.Reject, "250 2.0.0 fine"), []string{"r"}},
		{"reject in two lines", all, with(filter.Reject, "550 5.7.1 a\r\n250 b"), []string{"y 550 5.7.1 a??250 b"}},
		{"tempfail", all, with(filter.TempFail, "451 4.7.1 later"), []string{"y 451 4.7.1 later"}},
		{"tempfail without a text", all, with(filter.TempFail, ""), []string{"t"}},
		{"tempfail by a permanent reply", all, with(filter.TempFail, "550 no"), []string{"t"}},
		{"no deleting", contract{6, mayAddHeaders, leadingSpace}, with(filter.Quarantine, ""), append(slices.Clone(changes[3:]), "c")},
		{"no adding", contract{6, mayChangeHeaders, leadingSpace}, two, append(slices.Clone(changes[:3]), "c")},
		{"nothing allowed", contract{6, 0, 0}, with(filter.Quarantine, ""), []string{"c"}},
		{"the MTA adds the space", contract{2, mayAddHeaders, 0}, two, []string{"i 0 B|b", "i 0 A|one;\n\ttwo", "c"}},
		{"no CR and no NUL in a value", contract{6, mayAddHeaders, leadingSpace},
			filter.Judgement{Add: []filter.Field{{Name: "A", Value: " a\r\n\tb\x00c"}}}, []string{"i 0 A| a\n\tbc", "c"}},
	} {
		if got := said(c.c, m, c.j); !slices.Equal(got, c.want) {
			t.Errorf("%s: answered %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSubjectOfMilter: the prefix goes into the first Subject field, as the MTA wants its value; a missing one is added below
// our own fields, and nothing where the MTA lets us change no fields.
func TestSubjectOfMilter(t *testing.T) {
	with, without := &message{}, &message{}
	without.addHeader([]byte("From\x00 a@x\x00"), true)
	for _, h := range []string{"X-Old\x00 v", "SUBJECT\x00 one\n two", "Subject\x00 three"} {
		with.addHeader([]byte(h+"\x00"), true)
	}
	j := filter.Judgement{Add: []filter.Field{{Name: "A", Value: " b"}}, Strip: []string{"X-Old"}, Subject: "[bulk]"}
	all := contract{6, wanted.actions, wanted.protocol}
	for _, c := range []struct {
		name string
		c    contract
		m    *message
		want []string
	}{
		{"folded", all, with, []string{"m 1 X-Old|", "m 1 Subject| [bulk] one\n two", "i 0 A| b", "c"}},
		{"the MTA adds the space", contract{6, wanted.actions, 0}, with, []string{"m 1 X-Old|", "m 1 Subject|[bulk] one\n two", "i 0 A|b", "c"}},
		{"missing", all, without, []string{"i 0 Subject| [bulk]", "i 0 A| b", "c"}},
		{"no changing", contract{6, mayAddHeaders, leadingSpace}, with, []string{"i 0 A| b", "c"}},
		{"redirected", all, without, []string{"i 0 Subject| [bulk]", "i 0 X-Spamsim-Redirect| c@x", "i 0 A| b", "c"}},
	} {
		j := j
		if c.name == "redirected" {
			j = j.WithRedirect("c@x")
			j.Action = filter.Redirect
		}
		if got := said(c.c, c.m, j); !slices.Equal(got, c.want) {
			t.Errorf("%s: answered %q, want %q", c.name, got, c.want)
		}
	}
	if len(j.Add) != 1 {
		t.Errorf("the judgement itself was changed: %+v", j)
	}
}

func TestReplyLength(t *testing.T) {
	if got := replyText("550 " + strings.Repeat("x", 2000)); len(got) != longestReply {
		t.Errorf("a reply of %d octets", len(got))
	}
}

// apply does to header fields what Postfix does: indexes count among fields of the same name, from 1, any case, as the
// list is at that moment; a place counts among all, from 0, and the Received field of the MTA itself, which it never
// showed, comes first.
func apply(fields []string, packets []string) []string {
	fields = append([]string{"Received: by us"}, fields...)
	for _, p := range packets {
		var index int
		var rest string
		cmd := p[0]
		if cmd != 'm' && cmd != 'i' {
			continue
		}
		fmt.Sscanf(p[1:], "%d", &index)
		rest = p[strings.Index(p[2:], " ")+3:]
		name, value, _ := strings.Cut(rest, "|")
		if cmd == 'i' {
			fields = slices.Insert(fields, index, name+":"+value)
			continue
		}
		n := 0
		for i, f := range fields {
			have, _, _ := strings.Cut(f, ":")
			if strings.EqualFold(have, name) {
				if n++; n == index {
					fields = slices.Delete(fields, i, i+1)
					break
				}
			}
		}
	}
	return fields
}

// TestNoForgedFieldSurvives: whatever the header, ours are on top in order, none of theirs of that name is left, the
// rest is untouched.
func TestNoForgedFieldSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"X-Spamsim", "x-spamsim", "X-SPAMSIM", "Subject", "X-Spamsimx", "X-Spam", "To"}
	j := filter.Judgement{
		Add:   []filter.Field{{Name: "X-Spamsim", Value: " ours"}, {Name: "X-Other", Value: " ours"}},
		Strip: []string{"X-Spamsim", "X-Other"},
	}
	for range 2000 {
		m := &message{}
		var fields, kept []string
		for i := range r.IntN(12) {
			name := names[r.IntN(len(names))]
			m.addHeader(fmt.Appendf(nil, "%s\x00 %d\x00", name, i), true)
			f := fmt.Sprintf("%s: %d", name, i)
			fields = append(fields, f)
			if !strings.EqualFold(name, "X-Spamsim") {
				kept = append(kept, f)
			}
		}
		got := apply(fields, said(wanted, m, j))
		want := append([]string{"X-Spamsim: ours", "X-Other: ours", "Received: by us"}, kept...)
		if !slices.Equal(got, want) {
			t.Fatalf("header %q became %q, want %q", fields, got, want)
		}
	}
}

func TestPacketLength(t *testing.T) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	writePacket(w, 'i', number(7), "name", "\x00")
	w.Flush()
	if got := b.String(); got != "\x00\x00\x00\x0ai\x00\x00\x00\x07name\x00" {
		t.Errorf("wrote %q", got)
	}
	if n := binary.BigEndian.Uint32(b.Bytes()); int(n) != b.Len()-4 {
		t.Errorf("length %d of %d octets", n, b.Len())
	}
}
