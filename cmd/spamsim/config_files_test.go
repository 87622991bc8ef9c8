package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestConfigCheckFiles: a certificate that is missing, over, or of another key, keys that are none, are mistakes, and each is named.
func TestConfigCheckFiles(t *testing.T) {
	good, other, over := newPair(t, "mx.example"), newPair(t, "mx.example"), newPair(t, "mx.example")
	over.writeFor(t, "mx.example", -time.Minute)
	junk := filepath.Join(t.TempDir(), "junk")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	hop := "[smtp]\nnext_hop = \"smtp://127.0.0.1:26\"\nnext_hop_tls = \"require\"\nnext_hop_ca = %q\n"
	peers := "[peers]\nurl = \"rediss://127.0.0.1:6379\"\nkey_file = %q\nca = %q\n"
	for _, c := range []struct{ text, wrong string }{
		{good.section(), ""},
		{pair{good.certificate, other.key}.section(), good.certificate + " and " + other.key + ": tls: private key does not match"},
		{pair{junk, good.key}.section(), junk},
		{pair{good.certificate, junk}.section(), junk},
		{pair{junk + "none", good.key}.section(), junk + "none: no such file"},
		{over.section(), over.certificate + " ended on "},
		{fmt.Sprintf(hop, good.certificate), ""},
		{fmt.Sprintf(hop, junk), "smtp.next_hop_ca: " + junk},
		{fmt.Sprintf(peers, junk, good.certificate), "peers.key_file: " + junk},
		{fmt.Sprintf(peers, junk, junk), "peers.ca: " + junk},
		{"[milter]\nlisten = [\"unix:/" + strings.Repeat("x", 107) + "\"]\n", "milter.listen names "},
		{"[smtp]\nnext_hop = \"lmtp+unix:/" + strings.Repeat("x", 107) + "\"\n", "smtp.next_hop names a socket"},
	} {
		file := filepath.Join(t.TempDir(), "spamsim.toml")
		if err := os.WriteFile(file, []byte("state_dir = \"/tmp\"\n"+c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := run([]string{"config", "check", file}, nil, &out, &errs)
		if c.wrong == "" && status != statusDone || c.wrong != "" && (status != statusUsage || !strings.Contains(errs.String(), c.wrong)) {
			t.Errorf("%s\nends with %d: %s, want %q", c.text, status, &errs, c.wrong)
		}
	}
}
