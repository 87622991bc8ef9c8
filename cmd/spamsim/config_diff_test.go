package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/cmd/spamsim/internal/config"
)

// diff runs "spamsim config diff" under a configuration file.
func diff(t *testing.T, file string, want int, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if got := run(append([]string{"--config", file, "config", "diff"}, args...), strings.NewReader(""), &out, &trouble); got != want {
		t.Fatalf("status %d, want %d: %s", got, want, trouble.String())
	}
	return out.String() + trouble.String()
}

// TestConfigDiff: what it says before a reload is what the reload does, and what only a restart does is left.
func TestConfigDiff(t *testing.T) {
	r := startReloading(t, "[http]\ntoken = \"0123456789abcdef\"\n[limits]\nmemory = \"100MB\"\n[bulk]\ncount = 7\n")
	const same = "nothing: the daemon works by this configuration\n"
	if got := diff(t, r.file, statusDone); got != same {
		t.Errorf("unchanged: %q", got)
	}
	if got := diff(t, r.file, statusDone, "--json"); got != "[]\n" {
		t.Errorf("unchanged: %q", got)
	}
	r.edit("100MB", "200MB")
	r.edit("count = 7", "count = 9\n[[exempt]]\nname = \"letter\"\nsender = \"@a.example\"")
	const restart = "Only a restart takes up:\n  limits.memory  '100MB' -> '200MB'\n"
	want := "A reload takes up:\n  bulk.count     7 -> 9\n  exempt         [] -> [\"letter\"]\n  exempt.letter  none -> sender = '@a.example'\n" + restart
	if d := cmp.Diff(want, diff(t, r.file, statusDone)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	var list []config.Change
	if err := json.Unmarshal([]byte(diff(t, r.file, statusDone, "--json")), &list); err != nil || len(list) != 4 || list[0].Restart || !list[1].Restart {
		t.Errorf("%+v, %v", list, err)
	}
	r.reload(r.read)
	if got := diff(t, r.file, statusDone); got != restart {
		t.Errorf("after the reload: %q", got)
	}
	r.edit("0123456789", "9876543210")
	if got := diff(t, r.file, statusDone); !strings.Contains(got, "http.token") || strings.Contains(got, "abcdef") {
		t.Errorf("a new token: %q", got)
	}
	r.edit("count = 9", "count = 1")
	if got := diff(t, r.file, statusUsage); !strings.Contains(got, "bulk.count is 1") {
		t.Errorf("a mistake: %q", got)
	}
}

// TestConfigDiffWithoutDaemon says where it looked.
func TestConfigDiffWithoutDaemon(t *testing.T) {
	conf := testConfig(t, "")
	if got := diff(t, conf.File, statusTemp); !strings.Contains(got, "spamsim.db.sock") || !strings.Contains(got, "--store") {
		t.Errorf("%q", got)
	}
	d := startAlone(t, conf)
	if err := d.stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	diff(t, conf.File, statusTemp)
}
