package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
	"spamsim/store"
)

// TestMultimapInRspamd: Debian's rspamd with the shipped configuration finds the symbol in mail of what is labelled spam, and
// in no other.
func TestMultimapInRspamd(t *testing.T) {
	lab.Need(t, "rspamd")
	const path = "/etc/rspamd/local.d/maps.d/spamsim.map"
	conf, err := os.ReadFile("../../configs/rspamd/multimap.conf")
	if err != nil || !strings.Contains(string(conf), `"`+path+`"`) {
		t.Fatalf("the configuration names no map: %v", err)
	}
	list := pears
	list.Name = "fruit / \"quoted\""
	file := filepath.Join(t.TempDir(), "spamsim.map")
	if err := os.WriteFile(file, []byte(multimap([]store.Campaign{list})), 0o644); err != nil {
		t.Fatal(err)
	}
	r := lab.StartRspamd(t, "multimap", strings.ReplaceAll(string(conf), path, file))
	for cluster, want := range map[string]bool{pears.ID: true, "7f3a19c3": false} {
		v := filter.Verdict{Kind: filter.Bulk, Judged: true, Sigma: 4.6, Threshold: 3, Cluster: cluster, Copies: 37, Label: filter.Spam}
		raw := filter.HeaderName + ":" + v.Field("mx1.example.net") + "\nSubject: cluster=7f3a19c2;\nFrom: a@x.example\n\nbody\n"
		symbols := r.Check(t, lab.Scan{IP: "192.0.2.7", From: "a@x.example", Rcpt: []string{"b@site.example"}}, []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
		if s, found := symbols["SPAMSIM_KNOWN_SPAM"]; found != want || found && s.Score != 8 {
			t.Errorf("cluster %s: %v", cluster, symbols)
		}
	}
}
