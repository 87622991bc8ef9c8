package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gomilter "github.com/emersion/go-milter"

	"spamsim/cmd/spamsim/internal/lab"
)

// A takes is what a daemon takes of the machine.
type takes struct {
	resident, file          int64 // octets; those of the file that are in memory are the kernel's to give and take
	descriptors, goroutines int64
	messages                int64 // remembered
}

// most is the larger of each.
func (a takes) most(b takes) takes {
	return takes{max(a.resident, b.resident), max(a.file, b.file), max(a.descriptors, b.descriptors), max(a.goroutines, b.goroutines), max(a.messages, b.messages)}
}

// hoards tells whether b is more of the store than what chance makes of a, whoever has remembered as much as its window holds.
func (a takes) hoards(b takes) bool {
	return b.resident > a.resident*5/4+32<<20 || b.file > a.file*3/2+4<<20
}

// leaks tells whether connections and what serves them are left over.
func (a takes) leaks(b takes) bool {
	return b.descriptors > a.descriptors+32 || b.goroutines > a.goroutines+64
}

// A soak is a daemon that everybody uses at once.
type soak struct {
	*lab.Spamsim
	t                  *testing.T
	smtp, milter, http string
	letters            atomic.Int64 // that went another way than through the ledger
	filtered           atomic.Int64 // by the milter
	reloads            int
	dir                string
}

// startSoak starts a daemon in front of a ledger's hop, on which an hour, its window, passes in a minute. It logs warnings alone
// from its first reload on.
func startSoak(t *testing.T, hop string) *soak {
	s := &soak{t: t, smtp: lab.FreeAddr(t), milter: lab.FreeAddr(t), http: lab.FreeAddr(t), dir: t.TempDir()}
	s.Spamsim = lab.StartSpamsim(t, fmt.Sprintf("[log]\nlevel = \"info\"\n[bulk]\nthreshold = 3.0\n[store]\nwindow = \"1h\"\n"+
		"[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n[milter]\nlisten = [%q]\n[http]\nlisten = [%q]\ntoken = %q\n",
		s.smtp, hop, s.milter, s.http, consoleToken))
	s.Stop()
	program, err := exec.LookPath(hurried)
	if err != nil {
		t.Fatal(err)
	}
	s.Program = program
	s.Start()
	return s
}

// soakLetter is a message: one in five is a copy of the campaign of its time, changed by a word in twenty.
func soakLetter(number int) []byte {
	words := madeUpWords(uint64(number)<<1, 60)
	if number%5 == 0 {
		words = madeUpWords(uint64(number/500)<<1|1, 80)
		for i, word := range madeUpWords(uint64(number)<<1, 4) {
			words[20*i+number%20] = word
		}
	}
	b := fmt.Appendf(nil, "X-Attempt: %d\r\nFrom: s%d@shop.example\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-ID: <%d@lab.test>\r\n"+
		"Subject: %s\r\n\r\n", number, number, number, strings.Join(words[:4], " "))
	for i := 0; i < len(words); i += 10 {
		b = fmt.Appendf(b, "%s\r\n", strings.Join(words[i:i+10], " "))
	}
	return b
}

// madeUpWords are words of a language of 17,576.
func madeUpWords(seed uint64, n int) (out []string) {
	for range n {
		seed += 0x9e3779b97f4a7c15 // SplitMix64
		z := (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		const vowels, consonants = "aeiouy", "bcdfghjklmnpqrstvwxz"
		var word []byte
		for range 3 {
			word = append(word, consonants[z%20], vowels[z>>8%6])
			z >>= 16
		}
		out = append(out, string(word))
	}
	return out
}

// letter writes one that has not come yet into a file.
func (s *soak) letter() string {
	file := filepath.Join(s.dir, "letter.eml")
	if err := os.WriteFile(file, soakLetter(1e9+5*int(s.letters.Add(1))+1), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// filter sends mail to the milter, as an MTA does: some messages over one connection, and again; until it is enough.
func (s *soak) filter(enough *atomic.Bool) {
	for c := gomilter.NewDefaultClient("tcp", s.milter); !enough.Load(); {
		if err := s.session(c); err != nil {
			s.t.Errorf("milter: %v", err)
			return
		}
	}
}

// session is one connection to the milter.
func (s *soak) session(c *gomilter.Client) error {
	m, err := c.Session()
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := m.Conn("client.example", gomilter.FamilyInet, 25, "198.51.100.7"); err != nil {
		return err
	}
	for range 20 {
		if err := s.judged(m, soakLetter(2e9+int(s.letters.Add(1)))); err != nil {
			return err
		}
	}
	return nil
}

// judged has the milter judge one message, which gets one field and goes on.
func (s *soak) judged(m *gomilter.ClientSession, raw []byte) error {
	if _, err := m.Mail("s@shop.example", nil); err != nil {
		return err
	}
	if _, err := m.Rcpt("b@lab.test", nil); err != nil {
		return err
	}
	header, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	for line := range strings.SplitSeq(header, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		if _, err := m.HeaderField(name, value); err != nil {
			return err
		}
	}
	if _, err := m.HeaderEnd(); err != nil {
		return err
	}
	changes, act, err := m.BodyReadFrom(strings.NewReader(body))
	if err != nil {
		return err
	}
	s.filtered.Add(1)
	if act.Code != gomilter.ActContinue && act.Code != gomilter.ActAccept || len(changes) != 1 || changes[0].HeaderName != "X-Spamsim" {
		return fmt.Errorf("%+v, %+v", act, changes)
	}
	return nil
}

// page asks for one of the daemon's pages.
func (s *soak) page(path string) string {
	r, err := http.NewRequest("GET", "http://"+s.http+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("", consoleToken)
	if path == "/metrics" {
		r.Header.Set("Authorization", "Bearer "+consoleToken)
	}
	reply, err := (&http.Client{Timeout: lab.Patience, Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v", path, reply.Status, err)
	}
	return string(text)
}

// reload changes the threshold, there and back, and waits until that is in effect.
func (s *soak) reload() {
	s.reloads++
	text, err := os.ReadFile(s.File())
	if err != nil {
		s.t.Fatal(err)
	}
	next := regexp.MustCompile(`threshold = 3\.\d`).ReplaceAllString(string(text), fmt.Sprintf("threshold = 3.%d", s.reloads%2))
	next = strings.Replace(next, "level = \"info\"", "level = \"warn\"", 1)
	if err := os.WriteFile(s.File(), []byte(next), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.Signal(syscall.SIGHUP)
	lab.Eventually(s.t, "a reload", func() bool { return strings.Contains(s.Run("config", "diff", "--json"), "[]") })
}

// beside does what people do while mail flows, and returns what the daemon takes then.
func (s *soak) beside() takes {
	s.reload()
	letter := s.letter()
	for _, command := range [][]string{{"check", letter}, {"train", "--spam", letter}, {"explain", letter}, {"forget", letter}, {"campaigns", "list"}} {
		s.Run(append(command, "-q")...)
	}
	s.page("/")
	s.page("/campaigns")
	var stats struct {
		Held struct{ Messages, Bytes int64 }
	}
	if err := json.Unmarshal([]byte(s.Run("-q", "stats", "--json")), &stats); err != nil {
		s.t.Fatal(err)
	}
	metrics := s.page("/metrics")
	value := func(name string) int64 {
		found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(metrics)
		if found == nil {
			s.t.Fatalf("no %s in\n%s", name, metrics)
		}
		f, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		return int64(f)
	}
	return takes{int64(kilobytes(s.t, s.Pid(), "RssAnon")) << 10, stats.Held.Bytes, value("process_open_fds"), value("go_goroutines"), stats.Held.Messages}
}

// TestSoakServed: mail comes by the proxy, over kept connections and new ones, and by the milter, and people use the commands and
// the console, while it expires. What is accepted arrives, campaigns are found to the end, and from the second quarter on the
// daemon takes no more of the machine. SPAMSIM_SOAK says for how many messages through the proxy (.ci/long).
func TestSoakServed(t *testing.T) {
	n, rounds := fromEnv("SPAMSIM_SOAK", 0), 40
	short := n == 0 // the window does not pass
	if short {
		n, rounds = 200, 2
	}
	l := lab.NewLedger(1)
	l.Letter = soakLetter
	var arrived, bulk atomic.Int64
	hop := l.Hop("")
	note := hop.Final
	hop.Final = func(m lab.Mail) string {
		arrived.Add(1)
		if strings.HasPrefix(string(m.Content), "X-Spamsim: bulk;") {
			bulk.Add(1)
		}
		return note(m)
	}
	s := startSoak(t, lab.StartSink(t, hop).Addr)
	begun := time.Now()
	stop := l.Run(t, s.smtp, 4)
	var enough atomic.Bool
	var others sync.WaitGroup
	others.Go(func() { s.filter(&enough) })
	others.Go(func() {
		for !enough.Load() {
			if reply := l.Try(s.smtp, "", lab.Leave); reply == "" || reply[0] != '2' {
				t.Errorf("a new connection: %q", reply)
			}
		}
	})
	defer others.Wait()
	defer enough.Store(true)
	var then, now takes
	var midst, midstBulk int64 // what had arrived, and been called bulk, when the second half began
	for round := range rounds {
		for until := arrived.Load() + int64(n/rounds); arrived.Load() < until; {
			l.Pass(t, 100)
		}
		is := s.beside()
		t.Logf("%v: %d through the proxy, %d of them bulk, %d through the milter; %+v", time.Since(begun).Round(time.Second), arrived.Load(), bulk.Load(), s.filtered.Load(), is)
		switch {
		case round < rounds/2 && round >= rounds/4:
			then = then.most(is)
			midst, midstBulk = arrived.Load(), bulk.Load()
		case round >= rounds*3/4:
			now = now.most(is)
		}
	}
	enough.Store(true)
	others.Wait()
	stop()
	t.Logf("%s; %d through the milter; at most %+v in the second quarter, %+v in the last", l.Balance(t), s.filtered.Load(), then, now)
	if since, found := arrived.Load()-midst, bulk.Load()-midstBulk; found < since/10 {
		t.Errorf("%d of %d were called bulk in the second half: campaigns are not found any more", found, since)
	}
	if then.leaks(now) || !short && then.hoards(now) {
		t.Errorf("it grew: %+v, then %+v", then, now)
	}
	s.Stop()
}
