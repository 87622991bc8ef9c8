package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/cmd/spamsim/internal/quarantine"
	"spamsim/milter/filter"
)

// offer is copy n of a campaign, with what makes relays stumble in it.
func offer(n int) []byte {
	return fmt.Appendf(nil, "Message-ID: <%d@shop.example>\r\nSubject: Save on your tablets\r\n\r\n"+
		"You pay far too much for your medicine, and you know it. Our members get the same tablets from the same makers for a\r\n"+
		".fifth of the price that your corner shop asks, without a prescription and without a queue. Order before midnight and\r\n"+
		"we add thirty free capsules to whatever you choose, in a plain envelope that tells the postman nothing. \xa9 \x00 \r x\r\n"+
		"More than ninety thousand customers in forty countries have switched since spring, and nine of ten come back.\r\n", n)
}

// enforcing is a daemon in mode enforce that calls the second copy bulk, in front of a sink.
func enforcing(t *testing.T, sink *lab.Sink, bulk string) (addr string, conf *config.Loaded) {
	t.Helper()
	conf = testConfig(t, fmt.Sprintf("mode = \"enforce\"\n[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n"+
		"[bulk]\ncount = 2\n[actions]\nbulk = %q\n", sink.Addr, bulk))
	return start(t, conf).smtp[0].String(), conf
}

// held is a daemon with one message in its quarantine, for the recipients.
func held(t *testing.T, sink *lab.Sink, to ...string) (*config.Loaded, quarantine.Entry) {
	t.Helper()
	addr, conf := enforcing(t, sink, "quarantine")
	if reply := lab.Send(t, addr, "one@shop.example", []string{"a@site.example"}, offer(1)); reply[0] != '2' {
		t.Fatal(reply)
	}
	if reply := lab.Send(t, addr, "two@shop.example", to, offer(2)); reply != "250 2.0.0 Ok: quarantined" {
		t.Fatal(reply)
	}
	entries, err := quarantine.At(quarantineDir(conf)).List()
	if err != nil || len(entries) != 1 || len(sink.Mails()) != 1 {
		t.Fatalf("%d in the quarantine, %v; %d delivered", len(entries), err, len(sink.Mails()))
	}
	return conf, entries[0]
}

// release releases a message and returns what went wrong.
func release(t *testing.T, conf *config.Loaded, e *quarantine.Entry) error {
	t.Helper()
	a := &app{stdout: io.Discard, stderr: io.Discard}
	return a.release(t.Context(), conf, e)
}

// left returns the recipients that a message in the quarantine still has; nil where it is gone.
func left(t *testing.T, conf *config.Loaded, name string) []string {
	t.Helper()
	e, err := quarantine.At(quarantineDir(conf)).Find(name)
	if errors.Is(err, quarantine.ErrNotThere) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.Envelope.Recipients
}

// TestRelease: a quarantined message comes out as it went in, but for the header on top, with its envelope.
func TestRelease(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	to := []string{"b@site.example", "c@site.example"}
	conf, e := held(t, sink, to...)
	if err := release(t, conf, &e); err != nil {
		t.Fatal(err)
	}
	got := sink.Wait(t, 2)[1]
	if got.From != "MAIL FROM:<two@shop.example> BODY=8BITMIME" || !slices.Equal(got.To, []string{"RCPT TO:<b@site.example>", "RCPT TO:<c@site.example>"}) {
		t.Errorf("envelope %q %q", got.From, got.To)
	}
	if !strings.HasPrefix(string(got.Content), "X-Spamsim: bulk; ") || !bytes.HasSuffix(got.Content, offer(2)) {
		t.Errorf("content %q", got.Content)
	}
	if !slices.Contains(sink.Lines(), "XFORWARD ADDR=127.0.0.1") {
		t.Errorf("the next hop was not told of the client: %q", sink.Lines())
	}
	if l := left(t, conf, e.Name); l != nil {
		t.Errorf("still in the quarantine, for %q", l)
	}
}

// TestReleaseRefused: as long as the next hop does not take a message for a recipient it stays for that one, whatever goes
// wrong, and the others do not get it twice.
func TestReleaseRefused(t *testing.T) {
	var mu sync.Mutex
	answers := map[string]string{}
	set := func(line, reply string) {
		mu.Lock()
		defer mu.Unlock()
		clear(answers)
		answers[line] = reply
	}
	sink := lab.StartSink(t, lab.SinkConfig{Answer: func(line string) string {
		mu.Lock()
		defer mu.Unlock()
		return answers[line]
	}})
	conf, e := held(t, sink, "b@site.example", "c@site.example")
	both, one := []string{"b@site.example", "c@site.example"}, []string{"c@site.example"}
	for _, c := range []struct {
		line, reply string
		temporary   bool
		left        []string
	}{
		{"MAIL FROM:<two@shop.example> BODY=8BITMIME", "450 4.7.1 not now", true, both},
		{"MAIL FROM:<two@shop.example> BODY=8BITMIME", "550 5.7.1 never", false, both},
		{"DATA", "451 4.3.0 not now", true, both},
		{"DATA", lab.Drop, true, both},
		{".", "554 5.6.0 no", false, both},
		{".", lab.Drop, true, both},
		{"RCPT TO:<c@site.example>", "450 4.2.0 busy", true, one},
		{"RCPT TO:<c@site.example>", "550 5.1.1 gone", false, one},
	} {
		set(c.line, c.reply)
		err := release(t, conf, &e)
		if err == nil || temporary(err) != c.temporary {
			t.Errorf("%s: %s: %v, temporary %v, want %v", c.line, c.reply, err, temporary(err), c.temporary)
		}
		if l := left(t, conf, e.Name); !slices.Equal(l, c.left) {
			t.Errorf("%s: %s: left for %q, want %q", c.line, c.reply, l, c.left)
		}
	}
	set("", "")
	if err := release(t, conf, &e); err != nil {
		t.Error(err)
	}
	count := map[string]int{}
	for _, m := range sink.Mails()[1:] {
		for _, to := range m.To {
			count[to]++
		}
	}
	if len(count) != 2 || count["RCPT TO:<b@site.example>"] != 1 || count["RCPT TO:<c@site.example>"] != 1 {
		t.Errorf("delivered %v, want one each", count)
	}
	sink.Close()
	if err := release(t, conf, &e); err == nil {
		t.Error("released twice")
	}
}

// TestReleaseNextHopDown: nothing is lost.
func TestReleaseNextHopDown(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	conf, e := held(t, sink, "b@site.example")
	sink.Close()
	if err := release(t, conf, &e); err == nil || !temporary(err) {
		t.Errorf("%v", err)
	}
	if l := left(t, conf, e.Name); len(l) != 1 {
		t.Errorf("left for %q", l)
	}
}

// TestQuarantineFails: where the quarantine cannot be written the message is delivered, tagged.
func TestQuarantineFails(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	addr, conf := enforcing(t, sink, "quarantine")
	box := quarantineDir(conf)
	if err := os.Remove(box + "/new"); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if reply := lab.Send(t, addr, fmt.Sprintf("%d@shop.example", n), []string{"a@site.example"}, offer(n)); reply != "250 2.0.0 Ok: kept" {
			t.Error(reply)
		}
	}
	if got := sink.Wait(t, 3)[2]; !strings.HasPrefix(string(got.Content), "X-Spamsim: bulk; ") {
		t.Errorf("delivered %q", got.Content)
	}
}

// TestTempFail: the sender is asked to come back, and the next hop sees no content.
func TestTempFail(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	addr, _ := enforcing(t, sink, "tempfail")
	var replies []string
	for n := range 3 {
		replies = append(replies, lab.Send(t, addr, fmt.Sprintf("%d@shop.example", n), []string{"a@site.example"}, offer(n)))
	}
	if !strings.HasPrefix(replies[0], "250 ") || !strings.HasPrefix(replies[1], "451 4.7.1 Message refused for now: bulk mail") ||
		!strings.HasPrefix(replies[2], "451 ") || len(sink.Mails()) != 1 || sink.Cut() > 0 {
		t.Errorf("%q; %d delivered, %d cut", replies, len(sink.Mails()), sink.Cut())
	}
}

// TestQuarantineIsLogged: what people release and delete has a line in the daemon's log, like what came.
func TestQuarantineIsLogged(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{Answer: func(line string) string {
		if line == "RCPT TO:<no@site.example>" {
			return "450 4.2.0 busy"
		}
		return ""
	}})
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n", sink.Addr))
	var log logBook
	d, err := startDaemon(conf, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.stop(lab.Patience)
	box := quarantine.At(quarantineDir(conf))
	if err := box.Prepare(); err != nil {
		t.Fatal(err)
	}
	a := &app{stdout: io.Discard, stderr: io.Discard}
	env := &filter.Envelope{Sender: "s@shop.example", Recipients: []string{"b@site.example", "no@site.example"}, QueueID: "4F00"}
	if err := box.Keep(env, offer(1)); err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	name := entries[0].Name
	if err := a.release(t.Context(), conf, &entries[0]); err == nil {
		t.Error("it was taken for all")
	}
	var said bytes.Buffer
	if status := run([]string{"quarantine", "delete", "--config", conf.File, name}, nil, io.Discard, &said); status != statusDone {
		t.Errorf("delete ends with %d: %s", status, &said)
	}
	for _, want := range []string{"what=released name=" + name + " sender=s@shop.example recipients=1 left=1", "what=deleted name=" + name +
		" sender=s@shop.example recipients=0 left=0"} {
		if want = "level=INFO msg=quarantine " + want + " id=4F00 message_id=1@shop.example\n"; !strings.Contains(log.String(), want) {
			t.Errorf("%s\nwant %s", log.String(), want)
		}
	}
}
