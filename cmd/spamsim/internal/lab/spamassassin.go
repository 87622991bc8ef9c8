package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A SpamAssassin is Debian's, with its rules, and with a site configuration of its own that asks no network.
type SpamAssassin struct {
	dir string
}

// spamassassinRules is where Debian's package has the rules.
const spamassassinRules = "/usr/share/spamassassin"

// offline are the settings of a laboratory: nothing but what the test adds goes beyond the message.
const offline = `dns_available no
use_bayes 0
use_learner 0
report_safe 0
`

// NewSpamAssassin makes a site configuration of the given files, by their names. It needs Debian's spamassassin and
// skips the test otherwise.
func NewSpamAssassin(t testing.TB, files map[string]string) *SpamAssassin {
	t.Helper()
	Need(t, "spamassassin")
	s := &SpamAssassin{dir: t.TempDir()}
	s.write(t, "site/lab.pre", "loadplugin Mail::SpamAssassin::Plugin::Check\n")
	s.write(t, "site/lab.cf", offline)
	s.write(t, "prefs", "")
	for name, text := range files {
		s.write(t, "site/"+name, text)
	}
	return s
}

func (s *SpamAssassin) write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Lint has SpamAssassin check its configuration, and returns what it complains of.
func (s *SpamAssassin) Lint(t testing.TB) string {
	t.Helper()
	out, err := s.command("--lint").CombinedOutput()
	if err != nil {
		return err.Error() + "\n" + string(out)
	}
	return string(out)
}

// Check runs the messages through one process, in order, and returns each as it comes out, its lines ended by LF.
func (s *SpamAssassin) Check(t testing.TB, mails [][]byte) []string {
	t.Helper()
	args := make([]string, len(mails))
	for i, raw := range mails {
		args[i] = s.write(t, strconv.Itoa(i)+".eml", string(raw))
	}
	cmd := s.command(args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("spamassassin: %v\n%s", err, errs.String())
	}
	// Each message begins with the field that SpamAssassin puts on top.
	const top = "X-Spam-Checker-Version: "
	parts := strings.Split("\n"+strings.ReplaceAll(string(out), "\r\n", "\n"), "\n"+top)[1:]
	if len(parts) != len(mails) {
		t.Fatalf("%d messages went in, %d came out:\n%s%s", len(mails), len(parts), out, errs.String())
	}
	return parts
}

func (s *SpamAssassin) command(args ...string) *exec.Cmd {
	cmd := exec.Command("spamassassin", append([]string{
		"--configpath=" + spamassassinRules, "--siteconfigpath=" + s.dir + "/site", "--prefspath=" + s.dir + "/prefs"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir)
	return cmd
}

var spamStatus = regexp.MustCompile(`\nX-Spam-Status: .*?\btests=((?:.|\n\t)*?)\s+autolearn=`)

// Tests are the names of the rules that fired on a message that came out of Check.
func Tests(t testing.TB, checked string) []string {
	t.Helper()
	found := spamStatus.FindStringSubmatch(checked)
	if found == nil {
		t.Fatalf("no X-Spam-Status in:\n%s", checked)
	}
	return strings.FieldsFunc(found[1], func(r rune) bool { return strings.ContainsRune(", \n\t", r) })
}
