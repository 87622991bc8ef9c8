package store

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"spamsim/parse"
)

// phrased makes texts in which everybody uses the same turns: a language that the shipped background does not know.
func phrased(w *writer, phrases [][]string, n int) []string {
	var out []string
	for len(out) < n {
		out = append(append(out, phrases[int(w.zipf.Uint64())%len(phrases)]...), w.text(5)...)
	}
	return out
}

func calibrated(n int) *Calibrator {
	w := newWriter(70)
	var phrases [][]string
	for range 8000 {
		phrases = append(phrases, w.text(3))
	}
	var c Calibrator
	for range n {
		c.Add(traceOf(phrased(w, phrases, 60)))
	}
	return &c
}

// TestCalibrator: with a background of the other half of the site's mail its turns weigh less, and sigma is true.
func TestCalibrator(t *testing.T) {
	s := scratchStore(t)
	c := calibrated(3000)
	r, err := c.Report(s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages != 3000 || r.Unrelated < 1500 || r.Stored[0]+r.Stored[1] != r.Unrelated/2 || r.Pairs < r.Unrelated*r.Unrelated/9 {
		t.Errorf("%+v", r)
	}
	before, after := r.Shipped[len(r.Shipped)-1], r.Fitted[len(r.Fitted)-1]
	if after.Script != parse.Latin || after.Messages < r.Unrelated/3 || after.Over[0] >= before.Over[0] {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if share := float64(after.Over[0]) / float64(after.Messages); math.Abs(share-CalibrationChance[0]) > 0.12 {
		t.Errorf("sigma 1: %.3f", share)
	}
}

func TestCalibratorFew(t *testing.T) {
	if r, err := calibrated(60).Report(scratchStore(t)); !errors.Is(err, ErrFewMessages) || r.Messages != 60 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRelatedMailIsLeftOut: copies say nothing of unrelated mail.
func TestRelatedMailIsLeftOut(t *testing.T) {
	w := newWriter(71)
	var c Calibrator
	one := w.text(80)
	for range 20 {
		c.Add(traceOf(w.text(80)))
		c.Add(traceOf(w.changed(one, 0.1)))
	}
	c.Add(traceOf(w.text(minTokens - 2)))
	if n := len(c.Unrelated()); n != 20 || c.Seen != 40 {
		t.Errorf("%d unrelated of %d", n, c.Seen)
	}
}

// TestSiteBackground: a store takes the background that lies beside it, and says so where it cannot be read.
func TestSiteBackground(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	shippedStore := scratchStore(t)
	c := calibrated(600)
	if err := os.WriteFile(path+BackgroundFile, c.Background(shippedStore), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	defer s.Close()
	before, after := shippedStore.memory.back, s.memory.back
	if after.messages != before.messages+600 || after.counts.used <= before.counts.used {
		t.Errorf("%v messages and %d features after %v and %d", after.messages, after.counts.used, before.messages, before.counts.used)
	}
	broken := filepath.Join(t.TempDir(), "spamsim.db")
	if err := os.WriteFile(broken+BackgroundFile, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(broken, Options{}); !errors.Is(err, ErrBackground) {
		t.Error(err)
	}
}
