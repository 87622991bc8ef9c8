package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A stage is a filter with the mail of an attack and of its victim: each message has its own sender, network and recipient,
// which is what helps an attacker most.
type stage struct {
	*testing.T
	*language
	f *Filter
	n int
}

func newStage(t *testing.T) *stage { return &stage{t, newLanguage(), newFilter(t), 0} }

// arrives judges and counts one more message of this text, with further header fields.
func (s *stage) arrives(words []string, fields ...string) Verdict {
	env, raw := s.mail(words, fields...)
	return s.f.Check(context.Background(), env, raw).Verdict
}

func (s *stage) mail(words []string, fields ...string) (*Envelope, []byte) {
	s.n++
	env := &Envelope{ClientAddr: fmt.Sprintf("10.%d.%d.7", s.n>>8, s.n&255), Sender: fmt.Sprintf("s@x%d.example.com", s.n),
		Recipients: []string{fmt.Sprintf("r%d@example.net", s.n)}, Time: time.Unix(1e9+int64(s.n), 0)}
	return env, append([]byte(strings.Join(append(slices.Clone(fields), ""), "\r\n")), s.message(s.n, "", words)...)
}

// learns teaches a message of this text.
func (s *stage) learns(words []string, l Label) {
	s.Helper()
	env, raw := s.mail(words)
	if _, err := s.f.Train(env, raw, l); err != nil {
		s.Fatal(err)
	}
}

// TestAttackPoison: somebody sends hundreds of copies of a newsletter that others want, to make it bulk. It was bulk before he
// came, by its sender's own copies; what was learnt as good stays exempt, and what nobody learnt is tagged and no more.
func TestAttackPoison(t *testing.T) {
	s := newStage(t)
	learnt, unlearnt := s.text(150), s.text(150)
	s.learns(learnt, Ham)
	for range 200 {
		for _, victim := range [][]string{learnt, unlearnt} {
			s.arrives(s.each(victim, .1, func(string) string { return s.word() }))
		}
	}
	if v := s.arrives(learnt); v.Kind != Exempt || v.Reason != "ham" {
		t.Errorf("what was learnt as good: %+v", v)
	}
	env, raw := s.mail(unlearnt)
	if j := s.f.Check(context.Background(), env, raw); j.Verdict.Kind != Bulk || j.Action != Tag {
		t.Errorf("what nobody learnt: %+v", j)
	}
}

// TestAttackDrag: a campaign that changes a little with every message is to drag its cluster over to somebody's letter. It
// stops at half of the letter's words: what comes nearer is a copy of the letter itself.
func TestAttackDrag(t *testing.T) {
	s := newStage(t)
	own, letter := s.text(200), s.text(200)
	for i := range 100 {
		mixed := slices.Clone(own)
		copy(mixed[:i], letter) // up to 99 of 200 words are the letter's
		s.arrives(s.each(mixed, .02, func(string) string { return s.word() }))
	}
	env, raw := s.mail(letter)
	if v := s.f.Peek(context.Background(), env, raw).Verdict; v.Kind == Bulk {
		t.Errorf("the letter: %+v", v)
	}
}

// TestAttackSelfHam: mail cannot teach. Words of ours in a message's header do nothing, and quoting some of what was learnt as
// good neither. A campaign a third of which is such a letter, whole, is taken for that letter's next issue, which many a
// newsletter resembles less: it passes as if there were no filter, and its field says what it would have been.
func TestAttackSelfHam(t *testing.T) {
	for _, c := range []struct {
		quoted int // words of the good letter, of which there are 90
		own    int
		want   Kind
	}{{0, 180, Bulk}, {15, 180, Bulk}, {90, 180, Exempt}} {
		s := newStage(t)
		good := s.text(90)
		s.learns(good, Ham)
		words := slices.Concat(s.text(c.own), good[:c.quoted])
		var v Verdict
		for range 8 {
			v = s.arrives(s.each(words, .05, func(string) string { return s.word() }), "X-Spamsim: exempt; reason=ham; would=bulk; id=mx.example.net",
				"X-Spamsim-Label: ham", "X-Spam-Flag: NO", "X-Spam-Status: No, score=-100", "List-Id: <good.example.net>", "Precedence: bulk")
		}
		if v.Kind != c.want || v.Kind == Exempt && v.Would != Bulk {
			t.Errorf("a campaign that calls itself good and quotes %d words: %+v", c.quoted, v)
		}
	}
}

// TestAttackForged: of the fields that say what spamsim found only ours is left, on top, whatever their case and folds; those
// for other programs go where we write them.
func TestAttackForged(t *testing.T) {
	s := newStage(t)
	forged := []string{"X-Spamsim: exempt; reason=ham", "x-SPAMSIM:clean", "X-Spamsim : clean;", "X-Spamsim:\r\n\tclean;\r\n mac=0", "X-Spam-Flag: NO",
		"X-Spam-Status: No", "X-Spam-Level:"}
	env, raw := s.mail(s.text(80), forged...)
	j := s.f.Check(context.Background(), env, raw)
	count := func(raw []byte, name string) int { return strings.Count(strings.ToLower(string(raw)), "\n"+name) }
	out := Apply(raw, j)
	if !strings.HasPrefix(string(out), "X-Spamsim: clean; sigma=0.0;") || count(out, "x-spamsim") != 0 {
		t.Errorf("%.400s", out)
	}
	out = Apply(raw, j.WithCompatibility("mx.example.net"))
	if n := count(out, "x-spam-flag") + count(out, "x-spam-level"); n > 2 || strings.Contains(string(out), "X-Spam-Status: No\r\n") {
		t.Errorf("%.600s", out)
	}
}

// TestAttackGuess: whoever sends a message does not learn by its answer whether others got the same: in every mode that does not
// turn mail away the reply is the next hop's, and where mail is turned away the words tell of a label, not of counts.
func TestAttackGuess(t *testing.T) {
	s := newStage(t)
	text := s.text(120)
	var first, last Judgement
	for i := range 6 {
		env, raw := s.mail(text)
		if last = s.f.Check(context.Background(), env, raw); i == 0 {
			first = last
		}
	}
	if last.Verdict.Kind != Bulk || first.Verdict.Kind != Clean {
		t.Fatalf("%+v, then %+v", first.Verdict, last.Verdict)
	}
	if first.Action != last.Action || first.Reply != "" || last.Reply != "" {
		t.Errorf("the first copy gets %d %q, the sixth %d %q", first.Action, first.Reply, last.Action, last.Reply)
	}
}
