package store

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// copies counts n copies of a text, the first at a time and each after some time more.
func copies(t *testing.T, s *Store, seed uint64, n int, at time.Time, every time.Duration) (id string, text []string) {
	t.Helper()
	text = newWriter(seed).text(120)
	for i := range n {
		x := from(int(seed)*1000 + i)
		x.Time = at.Add(time.Duration(i) * every)
		s.Count(traceOf(text), x)
	}
	return clusterOf(s, text), text
}

// clusterOf is the cluster that a text was counted into.
func clusterOf(s *Store, text []string) string { return s.Judge(traceOf(text), from(0)).Cluster }

func ids(list []Campaign) (out []string) {
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

func TestViews(t *testing.T) {
	s := scratchStore(t)
	copies(t, s, 1, 1, start, 0)
	big, _ := copies(t, s, 2, 9, start, time.Second)
	old, _ := copies(t, s, 3, 3, start.Add(-time.Hour), 40*time.Minute) // its last copy is the last of all, and alone
	quick, _ := copies(t, s, 4, 4, start.Add(9*time.Minute), time.Second)
	single, _ := copies(t, s, 5, 1, start, 0)
	if _, err := s.Label(single, Spam, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Label(quick, Ham, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		view  View
		limit int
		want  []string
	}{
		{Live, 0, []string{quick, big, old}}, {Biggest, 0, []string{big, quick, old}}, {Newest, 0, []string{quick, big, old}},
		{Biggest, 2, []string{big, quick}}, {Labelled, 0, []string{quick, single}}, {Live, 9, []string{quick, big, old}},
	} {
		if got := ids(s.Campaigns(c.view, c.limit)); !slices.Equal(got, c.want) {
			t.Errorf("view %d, %d of it: %v, want %v", c.view, c.limit, got, c.want)
		}
	}
	got := s.Campaigns(Biggest, 1)[0]
	want := Campaign{ID: big, Copies: 9, Senders: Count{N: 9}, Nets: Count{N: 9}, Rcpts: Count{N: 9}, First: start, Last: start.Add(8 * time.Second), Sample: "something", Heat: got.Heat}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// TestMoreThanALock looks at more clusters and messages than are looked at at once.
func TestMoreThanALock(t *testing.T) {
	s := scratchStore(t)
	for i := range 2*lockedFor + 10 {
		s.memory.place(&cluster{seq: uint64(i), copies: uint32(i), heat: 1})
		s.remember(uint64(i), &delivery{seq: 7, at: int64(i)})
	}
	s.lastSeq = 2*lockedFor + 10
	if all := s.Campaigns(Biggest, 0); len(all) != 2*lockedFor+8 || all[0].Copies != 2*lockedFor+9 || all[len(all)-1].Copies != 2 {
		t.Errorf("%d campaigns", len(all))
	}
	if n, err := s.Drop(s.id(7)); n != 2*lockedFor+10 || err != nil || len(s.messages) != 0 {
		t.Errorf("%d messages, %v; %d left", n, err, len(s.messages))
	}
}

// TestRate: a steady campaign has its rate, which fades once it ends, and which a restart keeps.
func TestRate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	copies(t, s, 1, 400, start, 10*time.Second)
	end := start.Add(3990 * time.Second)
	check := func(when string) {
		c := s.Campaigns(Live, 1)[0]
		for after, want := range map[time.Duration]float64{0: 6, 10 * time.Minute: 6 / math.E, -time.Hour: 6, 24 * time.Hour: 0} {
			if got := c.Rate(end.Add(after)); math.Abs(got-want) > 0.1 {
				t.Errorf("%s, %v after the last: %v a minute, want %v", when, after, got, want)
			}
		}
	}
	check("at first")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	check("opened again")
}

// TestRateOfClocks: the order in which copies come does not matter.
func TestRateOfClocks(t *testing.T) {
	forth, back := cluster{last: 1000}, cluster{last: 2000}
	for _, at := range []int64{1000, 1400, 2000} {
		forth.came(at)
		back.came(3000 - at)
	}
	turned := cluster{last: 1000}
	for _, at := range []int64{1000, 1600, 2000} { // the times of back
		turned.came(at)
	}
	if back.last != 2000 || math.Abs(float64(turned.heat-back.heat)) > 1e-5 || forth.heat == turned.heat {
		t.Errorf("back %+v, in order %+v", back.heat, turned.heat)
	}
}

func TestDetail(t *testing.T) {
	s := scratchStore(t)
	id, text := copies(t, s, 1, 4, time.Unix(3600*1000+3599, 0), 90*time.Minute) // in hours 1000, 1002, 1003, 1005
	x := from(1003)                                                              // a sender and network that were there
	x.Message, x.Time = "another", time.Unix(3600*1005, 0)
	s.Count(traceOf(text), x)
	d, err := s.Campaign(id)
	if err != nil || d.ID != id || d.Copies != 5 {
		t.Fatalf("%+v, %v", d, err)
	}
	var hours []int
	for i, h := range d.Hours {
		hours = append(hours, h.Copies)
		if h.Start.Unix() != int64(3600*(1000+i)) {
			t.Errorf("hour %d is %v", i, h.Start)
		}
	}
	if !slices.Equal(hours, []int{1, 0, 1, 1, 0, 2}) || !slices.Equal(d.BySender, []int{2, 1, 1, 1}) || !slices.Equal(d.ByNet, []int{2, 1, 1, 1}) {
		t.Errorf("%v, %v, %v", hours, d.BySender, d.ByNet)
	}
	if d.Features == 0 || d.Constant != d.Features {
		t.Errorf("all copies are alike, but of %d features %d are constant", d.Features, d.Constant)
	}
}

// TestDetailIsOfAWindow: a message that was taught long ago does not draw the timeline out.
func TestDetailIsOfAWindow(t *testing.T) {
	s := open(t, "", Options{Window: 5 * time.Hour})
	text := newWriter(2).text(100)
	s.Train(traceOf(text), from(1), Spam)
	x := from(2)
	x.Time = start.Add(10_000 * time.Hour)
	s.Count(traceOf(text), x)
	id := clusterOf(s, text)
	if d, err := s.Campaign(id); err != nil || len(d.Hours) != 1 || d.Copies != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestLabel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	id, text := copies(t, s, 1, 3, start, time.Second)
	name, long, none := "pears \xff", strings.Repeat("é", 100), ""
	if c, err := s.Label(id, Spam, &name); err != nil || c.Label != Spam || c.Name != "pears \ufffd" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := s.Label(strings.ToUpper(id), Ham, nil); err != nil || c.Label != Ham || c.Name != "pears \ufffd" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	if ev := s.Judge(traceOf(text), from(9)); ev.Label != Ham {
		t.Errorf("%+v", ev)
	}
	if all := s.Campaigns(Labelled, 0); len(all) != 1 || all[0].Name != "pears \ufffd" || all[0].Sample != "something" {
		t.Errorf("%+v", all)
	}
	if c, _ := s.Label(id, None, &long); len(c.Name) == 0 || len(c.Name) > 120 || strings.Trim(c.Name, "é") != "" {
		t.Errorf("%q", c.Name)
	}
	if c, _ := s.Label(id, None, &none); c.Name != "" {
		t.Errorf("%q", c.Name)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNoCluster(t *testing.T) {
	s := scratchStore(t)
	id, _ := copies(t, s, 1, 2, start, time.Second)
	for _, id := range []string{"", "x", "0", "00000000", "ffffffff", id + "0", "0x" + id[2:], "+" + id[1:], id[1:]} {
		_, e1 := s.Campaign(id)
		_, e2 := s.Label(id, Spam, nil)
		_, e3 := s.Drop(id)
		if !errors.Is(e1, ErrNoCluster) || !errors.Is(e2, ErrNoCluster) || !errors.Is(e3, ErrNoCluster) {
			t.Errorf("%q: %v, %v, %v", id, e1, e2, e3)
		}
	}
}

func TestIDsAreTurnedBack(t *testing.T) {
	s := scratchStore(t)
	for _, seq := range []uint64{1, 2, 0xffff, 0x10000, 0xfffffffe, 1<<32 - 1, 1<<32 + 5, 5<<32 + 1<<31} {
		s.lastSeq = seq + 1<<31
		if got := s.seqOf(s.id(seq)); got != seq {
			t.Errorf("%x became %x", seq, got)
		}
	}
}

// bridged returns a store in a file where a cluster took up another, with the ids of both.
func bridged(t *testing.T) (s *Store, path, kept, gone string, text []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "spamsim.db")
	s = open(t, path, Options{})
	w := newWriter(7)
	a, b := w.text(150), w.text(150)
	s.Count(traceOf(a), from(1))
	s.Count(traceOf(a), from(2))
	s.Count(traceOf(b), from(3))
	kept, gone = clusterOf(s, a), clusterOf(s, b)
	name := "the other"
	if _, err := s.Label(gone, Spam, &name); err != nil {
		t.Fatal(err)
	}
	text = slices.Concat(a, b)
	s.Count(traceOf(text), from(4))
	return s, path, kept, gone, text
}

// TestMergedAway: the id of a cluster that was merged away finds the one that took it up, and its name and label live on.
func TestMergedAway(t *testing.T) {
	s, path, kept, gone, text := bridged(t)
	for range 2 {
		d, err := s.Campaign(gone)
		if err != nil || d.ID != kept || d.Copies != 4 || d.Name != "the other" || d.Label != Spam || len(d.Hours) != 1 || d.Hours[0].Copies != 4 {
			t.Errorf("%+v, %v", d, err)
		}
		if math.Abs(d.Heat-4) > 0.05 {
			t.Errorf("the heat of four copies within seconds is %v", d.Heat)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, Options{})
	}
	if n, err := s.Drop(gone); n != 4 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Clusters != 0 || st.Messages != 0 {
		t.Errorf("%+v", st)
	}
	if ev := s.Count(traceOf(text), from(1)); ev.Known || ev.Member {
		t.Errorf("after the drop a copy is no first one: %+v", ev)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(tx *bbolt.Tx) error {
		for bucket, want := range map[string]int{"clusters": 1, "messages": 1, "moved": 0} {
			if n := tx.Bucket([]byte(bucket)).Stats().KeyN; n != want {
				t.Errorf("%d %s are in the file, want %d", n, bucket, want)
			}
		}
		return nil
	})
}

// TestExpiryOfMoved: the file forgets what was merged away with what took it up.
func TestExpiryOfMoved(t *testing.T) {
	s, path, kept, _, text := bridged(t)
	if _, err := s.Label(kept, None, nil); err != nil {
		t.Fatal(err)
	}
	x := from(9)
	x.Time = start.Add(30 * 24 * time.Hour)
	if ev := s.Count(traceOf(text), x); ev.Member {
		t.Fatalf("%+v", ev)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(tx *bbolt.Tx) error {
		if n := tx.Bucket(bucketMoved).Stats().KeyN; n != 0 {
			t.Errorf("%d are left in the file", n)
		}
		return nil
	})
}

// TestLookingWhileCounting: people look, label and drop while mail comes.
func TestLookingWhileCounting(t *testing.T) {
	s := scratchStore(t)
	var wait sync.WaitGroup
	for g := range 2 {
		wait.Go(func() { copies(t, s, uint64(g+1), 100, start, time.Second) })
	}
	for range 50 {
		for _, c := range s.Campaigns(Live, 5) {
			_, _ = s.Campaign(c.ID)
			_, _ = s.Label(c.ID, None, nil)
			_, _ = s.Drop(c.ID)
		}
	}
	wait.Wait()
	for _, c := range s.Campaigns(Live, 0) {
		if _, err := s.Drop(c.ID); err != nil {
			t.Error(err)
		}
	}
	if st := s.Stats(); st.Campaigns != 0 {
		t.Errorf("%+v", st)
	}
}
