package main_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// A setup is a section of "spamsim help postfix": the lines that go into each file.
type setup map[string][]string

// setupsOf are the sections of the page by the beginning of their headings. A section's items have the file in a column of
// 17 characters; a line without a file goes on with that of the line before.
func setupsOf(page string) map[string]setup {
	heading := regexp.MustCompile(`^[A-Z]+( [A-Z-]+)+\b`)
	out, file := map[string]setup{}, ""
	var s setup
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch h := heading.FindString(line); {
		case h != "":
			s, file = setup{}, ""
			out[h] = s
		case len(line) < 19 || !strings.HasPrefix(line, "  ") || s == nil:
			file = ""
		case line[2] != ' ':
			file = strings.TrimSpace(line[2:19])
			s[file] = append(s[file], line[19:])
		case file != "":
			s[file] = append(s[file], line[19:])
		}
	}
	return out
}

// behind are the lines of the section behind the queue, which refers to the one before the queue: the same spamsim.toml, and
// the same second listener but for one option.
func behind(t *testing.T, s, above setup) {
	t.Helper()
	if !slices.Equal(s["spamsim.toml"], []string{"as above"}) {
		t.Fatalf("spamsim.toml: %q", s["spamsim.toml"])
	}
	s["spamsim.toml"] = above["spamsim.toml"]
	refer := slices.Index(s["master.cf"], "127.0.0.1:10026 as above, with")
	second := slices.IndexFunc(above["master.cf"], func(l string) bool { return strings.HasPrefix(l, "127.0.0.1:10026 inet ") })
	if refer < 0 || second < 0 {
		t.Fatalf("master.cf: %q after %q", s["master.cf"], above["master.cf"])
	}
	listener := slices.Clone(above["master.cf"][second:])
	for _, option := range s["master.cf"][refer+1:] {
		name, _, _ := strings.Cut(option, "=")
		at := slices.IndexFunc(listener, func(l string) bool { return strings.HasPrefix(l, name+"=") })
		if at < 0 {
			t.Fatalf("%q is not in the listener above: %q", option, listener)
		}
		listener[at] = option
	}
	s["master.cf"] = append(s["master.cf"][:refer:refer], listener...)
}

// TestPostfixByThePage: a private Postfix with the very lines that "spamsim help postfix" has a reader add, and a daemon with
// the lines for spamsim.toml: a mail comes out tagged, by each of the ways.
func TestPostfixByThePage(t *testing.T) {
	lab.Need(t, "postfix")
	text, err := os.ReadFile("help/postfix.md")
	if err != nil {
		t.Fatal(err)
	}
	setups := setupsOf(string(text))
	ways := []string{"AS A MILTER", "AS A BEFORE-QUEUE PROXY", "AS AN AFTER-QUEUE FILTER", "IN FRONT OF THE MTA"}
	for _, way := range ways {
		if setups[way]["spamsim.toml"] == nil {
			t.Fatalf("the page has no %q, but %q", way, setups)
		}
	}
	behind(t, setups["AS AN AFTER-QUEUE FILTER"], setups["AS A BEFORE-QUEUE PROXY"])
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			p := newPorts(t)
			postfix, daemon := setups[way].start(t, p)
			entry := postfix.Addr
			if way == "IN FRONT OF THE MTA" {
				entry = p.addr("25")
			}
			m := demo.Issue(1)
			if reply := lab.Send(t, entry, m.From, []string{m.To}, m.Raw); reply[0] != '2' {
				t.Fatalf("%s\n%s", reply, daemon.Log())
			}
			v := verdicts(t, postfix.WaitMailbox(t, 1))[messageID(m)]
			if !strings.HasPrefix(v, "clean; sigma=") || !strings.Contains(v, "id=mx.lab.test") {
				t.Errorf("delivered with %q", v)
			}
		})
	}
}

// start starts both programs with the lines of a section, but for ports, the socket's folder and the certificate.
func (s setup) start(t *testing.T, p ports) (*lab.Postfix, *lab.Spamsim) {
	t.Helper()
	socket, tls := socketOfPostfix(t), certified(t)
	lines := func(file string) string {
		local := p.local(strings.Join(s[file], "\n") + "\n")
		return strings.NewReplacer("/var/spool/postfix/spamsim/milter.sock", socket, "unix:spamsim/milter.sock", "unix:"+socket,
			"/etc/spamsim/", tls+"/").Replace(local)
	}
	c := lab.PostfixConfig{Addr: p.addr("25"), Inject: p.addr("10026")}
	if len(s["main.cf"]) > 0 {
		c.Main = strings.Split(strings.TrimSpace(lines("main.cf")), "\n")
	}
	master := lines("master.cf")
	if strings.Contains(lines("spamsim.toml"), p.addr("25")) { // spamsim has the world's port
		c.Addr = lab.FreeAddr(t)
	}
	c.Master = strings.Split(strings.Replace(master, "smtp inet", c.Addr+" inet", 1), "\n")
	postfix := lab.StartPostfix(t, c)
	return postfix, lab.StartSpamsim(t, lines("spamsim.toml"))
}

// certified is a folder with a certificate and its key: those that net/http keeps for tests.
func certified(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	pair, dir := server.TLS.Certificates[0], t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"certificate.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadmeHasThePage: the short form in README.md says nothing about Postfix that the page does not say.
func TestReadmeHasThePage(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("help/postfix.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "### With Postfix")
	section, _, _ = strings.Cut(section, "###")
	words := strings.Join(strings.Fields(string(page)), " ")
	n := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		for _, part := range regexp.MustCompile(`\s{3,}`).Split(strings.TrimSpace(line), -1) {
			part = strings.Join(strings.Fields(part), " ")
			if strings.HasPrefix(part, "#") || part == "..." {
				continue
			}
			if n++; !strings.Contains(words, part) {
				t.Errorf("README.md has %q, help postfix has not", part)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d settings were found", n)
	}
}
