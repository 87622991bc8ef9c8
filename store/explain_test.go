package store

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"spamsim/parse"
)

// textTrace is the trace of a message of this text.
func textTrace(text string) *Trace {
	return NewTrace(parse.Parse([]byte("Subject: harvest\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"+text+"\r\n"), parse.Limits{}))
}

// TestExplainAgreesWithJudge explains each message of a campaign among unrelated mail before it is counted, and once more
// after: the evidence is that of Judge, the match spoken of carries it, and nothing is counted.
func TestExplainAgreesWithJudge(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(3)
	text := w.text(150)
	copies, before := 0, Stats{}
	for i := range 24 {
		tr, x := traceOf(w.text(120)), from(i)
		if i%2 == 0 {
			tr = traceOf(w.changed(text, 0.05))
		}
		for round := range 2 {
			before = s.Stats()
			want, got := s.Judge(tr, x), s.Explain(tr, x, 3)
			if d := cmp.Diff(want, got.Evidence); d != "" {
				t.Fatalf("message %d: -judge +explain:\n%s", i, d)
			}
			if after := s.Stats(); after != before {
				t.Fatalf("message %d: %+v became %+v", i, before, after)
			}
			if got.Held != before.Clusters || want.Known != (round == 1) {
				t.Errorf("message %d: %d held of %d, known %v", i, got.Held, before.Clusters, want.Known)
			}
			if (got.Spoken >= 0) != (want.Cluster != "") {
				t.Fatalf("message %d: speaks of %d of %+v", i, got.Spoken, got.Matches)
			}
			if got.Spoken >= 0 {
				m := got.Matches[got.Spoken]
				if m.Cluster != want.Cluster || m.Score != want.Score || m.Copy != want.Member && round == 0 || got.Features.Shared == 0 {
					t.Errorf("message %d: %+v of %+v", i, m, want)
				}
			}
			if want.Member && round == 0 && i%2 == 0 {
				copies++
			}
			s.Count(tr, x)
		}
	}
	if copies != 11 {
		t.Errorf("%d copies were explained", copies)
	}
}

// TestExplainScores turns sigma round: a match with the score that a sigma takes has that sigma.
func TestExplainScores(t *testing.T) {
	s := scratchStore(t)
	_, text := campaign(t, s, 6)
	tr := traceOf(text)
	for _, sigma := range []float64{0.5, 3, 4.2} {
		e := s.Explain(tr, from(99), sigma)
		m := e.Matches[0]
		if !(m.Chance[0] < m.Chance[1] && m.Chance[1] < m.Chance[2]) || math.Abs(m.Needed-m.Chance[2]) > 1e-6 != (sigma != 3) {
			t.Errorf("scores of sigma 1, 2, 3: %v, of %v: %v", m.Chance, sigma, m.Needed)
		}
		q := s.memory.query(tr)
		j, _ := s.judge(q, from(99))
		x := j.matches[0]
		if x.score = m.Needed; math.Abs(s.sigma(&x, tr)-sigma) > 1e-3 {
			t.Errorf("score %v has sigma %v, want %v", x.score, s.sigma(&x, tr), sigma)
		}
	}
	if m := s.Explain(tr, from(99), 1e9).Matches[0]; m.Needed < 1e5 {
		t.Errorf("a sigma that nothing has takes a score of %v", m.Needed)
	}
}

// TestExplainMarks holds a text with two strange words in it against its campaign.
func TestExplainMarks(t *testing.T) {
	const text = "The cooperative has brought in ninety crates of early pears, and every member may fetch two of them from the " +
		"barn beside the mill before Sunday evening; bring a basket, a lantern and the yellow card"
	const chinese = "合作社今年收获了九十箱早熟的梨，每位成员可以在星期天晚上之前到磨坊旁边的谷仓领取两箱，请带上篮子灯笼和黄色卡片，过期不候，谢谢大家"
	for _, c := range []struct{ first, then, want string }{
		{text, strings.Replace(text, "every member may", "every astonished veterinarian may", 1), "astonished veterinarian"},
		{chinese, strings.Replace(chinese, "到磨坊旁边", "到飞机场附近", 1), "飞机场附近"},
	} {
		s := scratchStore(t)
		s.Count(textTrace(c.first), from(1))
		e := s.Explain(textTrace(c.then), from(2), 3)
		var differs, both []string
		for _, sp := range e.Spans {
			switch sp.Mark {
			case Differs:
				differs = append(differs, sp.Text)
			case Both:
				both = append(both, sp.Text)
			}
		}
		if got := strings.Join(differs, "|"); !strings.Contains(c.want, got) || got == "" {
			t.Errorf("differs: %q, want %q", got, c.want)
		}
		if want := letters([]Span{{Text: textTrace(c.then).Text}}); letters(e.Spans) != want {
			t.Errorf("the spans are %q, want %q", e.Spans, want)
		}
		if n := len(strings.Join(both, "")); n < 2*len(c.first)/3 {
			t.Errorf("shared: %q", both)
		}
		if len(e.Telling) != explainShared || e.Telling[0].Weight < e.Telling[explainShared-1].Weight || e.Telling[0].Text == "" {
			t.Errorf("telling: %v", e.Telling)
		}
		if e.Core == 0 || e.Constant != e.Core || e.Files != (Overlap{}) {
			t.Errorf("%+v", e)
		}
	}
}

// letters is the text of spans without what stands between the words.
func letters(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		for _, r := range s.Text {
			if unicode.IsLetter(r) {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// TestPlaceIsComplete finds every feature of a text, and no other, whatever words stand side by side.
func TestPlaceIsComplete(t *testing.T) {
	for _, text := range []string{
		"", "a", "a of to", "alpha beta", "alpha of beta to a gamma delta", "alpha alpha alpha", "飞机场附近", "飞 alpha 飞机 beta 场附近 a",
		strings.Join(newWriter(5).text(200), " "),
	} {
		words := parse.AppendTokens(nil, parse.Fold(text))
		want, got := map[feature]bool{}, map[feature]bool{}
		for _, f := range features(words) {
			want[f] = true
		}
		for _, p := range place(words) {
			got[p.feature] = true
			if p.from > p.to || p.to >= len(words) {
				t.Errorf("%q: %d to %d", text, p.from, p.to)
			}
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(feature{})); d != "" {
			t.Errorf("%q: -features +place:\n%s", text, d)
		}
	}
}

// TestUnits finds the stretches of texts that words were made of.
func TestUnits(t *testing.T) {
	for text, want := range map[string]string{
		"Pears, and -- apples!":         "pears, and apples!",
		"buy v i a g r a now or never":  "buy|v i a g r a|now or never",
		"see http://x.example/long now": "see http://x.example/long now",
		"飞机场 ok 附近":                     "飞 机场|ok|附近",
		"飞机场 x 附近":                      "飞 机 场 附近",
	} {
		folded := parse.Fold(text)
		words := parse.AppendTokens(nil, folded)
		var got []string
		at := 0
		for _, u := range units(folded, words) {
			if u.from != at || u.to <= u.from {
				t.Errorf("%q: %+v behind word %d", text, u, at)
			}
			at = u.to
			got = append(got, u.text)
		}
		if at != len(words) || strings.Join(got, " ") != strings.ReplaceAll(want, "|", " ") {
			t.Errorf("%q: %q of %q, want %q", text, got, words, want)
		}
	}
}

// TestExplainOfLittle explains what cannot be judged, what resembles nothing, and what is longer than is shown.
func TestExplainOfLittle(t *testing.T) {
	s := scratchStore(t)
	if e := s.Explain(textTrace("see you soon"), from(1), 3); e.Evidence.Abstain != "short" || e.Spoken != -1 || e.Matches != nil ||
		len(e.Spans) != 1 || e.Spans[0] != (Span{Unseen, "see you soon"}) || e.MinWords != minTokens {
		t.Errorf("%+v", e)
	}
	long := traceOf(newWriter(9).text(explainWords + 50))
	e := s.Explain(long, from(2), 3)
	if e.Left != 50 || e.Spoken != -1 || e.Telling != nil {
		t.Errorf("%d words left, %+v", e.Left, e.Telling)
	}
	s.Count(long, from(2))
	e = s.Explain(long, from(3), 3)
	if e.Left != 50 || e.Features.Message != maxQuery || e.Features.Shared < maxQuery/3 {
		t.Errorf("%d words left, %+v", e.Left, e.Features)
	}
	for _, sp := range e.Spans {
		if sp.Mark == Differs {
			t.Errorf("differs from itself: %q", sp.Text)
		}
	}
}
