package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/lab"
)

// over is an HTTP client as anybody writes one, on a Unix socket.
func over(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}

// TestCheckOverHTTP: a program that is none of ours posts messages and reads verdicts: those of learnt ones count, with the
// senders, hosts and recipients that it tells.
func TestCheckOverHTTP(t *testing.T) {
	conf := testConfig(t, "[smtp]\nlisten = []\n[bulk]\ncount = 3\n[limits]\nmax_judged_size = \"64KB\"\n")
	start(t, conf)
	client := over(control.SocketOf(conf.Store.Path))
	post := func(query string, body []byte) (int, map[string]any) {
		t.Helper()
		resp, err := client.Post("http://spamsim/check?"+query, "message/rfc822", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		return resp.StatusCode, v
	}
	for n := 1; n <= 3; n++ {
		q := url.Values{"learn": {"true"}, "sender": {fmt.Sprintf("s%d@x.example", n)}, "client": {fmt.Sprintf("192.0.%d.1", n)},
			"recipient": {fmt.Sprintf("a%d@site.example", n), fmt.Sprintf("b%d@site.example", n)}, "helo": {"x"}}
		code, v := post(q.Encode(), offer(n))
		want := map[string]any{"verdict": "clean", "bulk": false, "copies": float64(n), "senders": float64(n), "nets": float64(n), "recipients": float64(2 * n)}
		if n == 1 { // it founds the cluster, like none before
			want = map[string]any{"verdict": "clean", "copies": 0.0}
		}
		if n == 3 {
			want["verdict"], want["bulk"] = "bulk", true
		}
		for k, w := range want {
			if code != 200 || v[k] != w {
				t.Errorf("copy %d: %s is %v, want %v; status %d", n, k, v[k], w, code)
			}
		}
	}
	code, v := post("", offer(4)) // only asked
	if code != 200 || v["verdict"] != "bulk" || v["copies"] != 4.0 {
		t.Errorf("%d %v", code, v)
	}
	if _, v := post("", offer(5)); v["copies"] != 4.0 {
		t.Errorf("a message that was only asked about was counted: %v", v)
	}
	for query, want := range map[string]int{"learn=perhaps": 400, "client=host.example": 400, "sendr=a@x": 400, "%zz": 400} {
		if code, v := post(query, offer(1)); code != want || v["error"] == nil {
			t.Errorf("%s: %d %v", query, code, v)
		}
	}
	if code, v := post("", make([]byte, 64<<10+1)); code != 413 || v["error"] == nil {
		t.Errorf("too large: %d %v", code, v)
	}
	resp, err := client.Get("http://spamsim/check")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", resp.Status)
	}
}

// TestDoorsAreCounted: stats has the counters of each door that is open, and tells people those that are not zero.
func TestDoorsAreCounted(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nlmtp_listen = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n"+
		"[milter]\nlisten = [\"127.0.0.1:0\"]\n[dccifd]\nlisten = [\"127.0.0.1:0\"]\n", sink.Addr))
	d := start(t, conf)
	if reply := lab.Send(t, d.smtp[0].String(), "a@x.example", []string{"b@site.example"}, []byte("x\ny\r\n")); reply[0] != '2' {
		t.Fatal(reply)
	}
	c, err := control.Dial(control.SocketOf(conf.Store.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for door, want := range map[string]map[string]int64{
		"smtp":   {"connections": 1, "delivered": 1, "bare_lf": 1, "hop_dials": 1, "no_memory": 0},
		"lmtp":   {"connections": 0, "delivered": 0},
		"milter": {"sessions": 0, "messages": 0},
		"dccifd": {"messages": 0},
	} {
		for name, n := range want {
			if got, there := s.Doors[door][name]; !there || got != n {
				t.Errorf("%s: %s is %d, %v; want %d", door, name, got, there, n)
			}
		}
	}
	var b strings.Builder
	if err := (&app{stdout: &b}).stats(&s); err != nil || !strings.Contains(b.String(), "connections 1, delivered 1, ") || !strings.Contains(b.String(), "lmtp: nothing yet\n") {
		t.Errorf("%v in:\n%s", err, b.String())
	}
}
