package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// site is a configuration of these lines beside a Postfix that says so of itself.
func site(t *testing.T, toml, main, services, options string) *Site {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "spamsim.toml")
	if err := os.WriteFile(file, []byte(toml), 0o644); err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load(file, config.Env{Getenv: func(string) string { return "" }, System: "/nonexistent",
		HomeDir: func() (string, error) { return dir, nil }, Hostname: func() (string, error) { return "mx.example", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return &Site{Config: conf, Postfix: parsePostfix(main, services, options)}
}

// What postconf of Postfix 3.7 prints: -x with names, -M, -xP.
const (
	mainOf = `smtpd_milters =
smtpd_proxy_filter =
smtpd_proxy_timeout = 100s
smtpd_proxy_options =
content_filter =
milter_default_action = tempfail
default_process_limit = 100
receive_override_options =
smtpd_authorized_xforward_hosts =
smtp_send_xforward_command = no
queue_directory = /var/spool/postfix
`
	servicesOf = `smtp       inet  n       -       y       -       -       smtpd
127.0.0.1:10026 inet n   -       y       -       -       smtpd
spamsim    unix  -       -       n       -       10      smtp
cleanup    unix  n       -       y       -       0       cleanup
`
)

// TestPostfix: each way to miss each other is found, and none where all is well.
func TestPostfix(t *testing.T) {
	const toml = "[smtp]\nnext_hop = \"smtp://127.0.0.1:10026\"\n[milter]\nlisten = [\"unix:/var/spool/postfix/spamsim/milter.sock\"]\n"
	const well = "smtp/inet/smtpd_proxy_filter = 127.0.0.1:10025\n127.0.0.1:10026/inet/smtpd_authorized_xforward_hosts = 127.0.0.0/8\n"
	const back = "127.0.0.1:10026/inet/smtpd_authorized_xforward_hosts = 127.0.0.0/8\n"
	for _, c := range []struct {
		name, more, main, options string
		leg                       string
		level                     Level // of the finding that has to be there, and the highest of all
		text                      string
	}{
		{"before the queue", "", "", well, "postfix smtp", Good, "before the queue"},
		{"milter beside it", "", "smtpd_milters = inet:localhost:8891\n", well, "postfix smtp", Danger, "sees no message"},
		{"impatient", "", "smtpd_proxy_timeout = 1m\n", well, "postfix smtp", Danger, "smtpd_proxy_timeout is 1m0s"},
		{"one refused, all refused", "", "smtpd_proxy_options = speed_adjust\n", well, "postfix smtp", Lost, "speed_adjust"},
		{"more processes than connections", "", "default_process_limit = 500\n", well, "postfix smtp", Danger, "500 processes"},
		{"behind the queue", "", "", "smtp/inet/content_filter = spamsim:[127.0.0.1]:10025\nspamsim/unix/smtp_send_xforward_command = yes\n" + back,
			"postfix smtp", Good, "behind the queue"},
		{"without XFORWARD", "", "", "smtp/inet/content_filter = spamsim:[127.0.0.1]:10025\n" + back, "postfix smtp", Lost, "smtp_send_xforward_command=yes"},
		{"bounces", "mode = \"enforce\"\n[actions]\nbulk = \"tempfail\"\n", "",
			"smtp/inet/content_filter = spamsim:[127.0.0.1]:10025\nspamsim/unix/smtp_send_xforward_command = yes\n" + back, "postfix smtp", Lost, "become tag"},
		{"round for ever", "", "content_filter = spamsim:127.0.0.1:10025\n", "spamsim/unix/smtp_send_xforward_command = yes\n" + back,
			"postfix 127.0.0.1:10026", Danger, "round for ever. Add -o content_filter="},
		{"as a milter", "", "milter_default_action = accept\nsmtpd_milters = unix:spamsim/milter.sock\n",
			"127.0.0.1:10026/inet/receive_override_options = no_milters\n" + back, "postfix smtp", Good, "by smtpd_milters"},
		{"fails closed", "", "smtpd_milters = unix:/var/spool/postfix/spamsim/milter.sock\n",
			"127.0.0.1:10026/inet/receive_override_options = no_milters\n" + back, "postfix smtp", Lost, "milter_default_action is tempfail"},
		{"counted twice", "", "milter_default_action = accept\nsmtpd_milters = unix:spamsim/milter.sock\n", back,
			"postfix 127.0.0.1:10026", Danger, "counted as two copies"},
		{"no rights", "", "", "smtp/inet/smtpd_proxy_filter = localhost:10025\n", "postfix 127.0.0.1:10026", Lost, "smtpd_authorized_xforward_hosts is empty"},
		{"not ours", "", "", "smtp/inet/smtpd_proxy_filter = 127.0.0.1:10024\n" + back, "postfix", Lost, "no listener of Postfix"},
	} {
		var f findings
		f.postfix(site(t, c.more+toml, mainOf+c.main, servicesOf, c.options))
		if !slices.ContainsFunc(f, func(x Finding) bool { return x.Leg == c.leg && x.Level == c.level && strings.Contains(x.Text, c.text) }) {
			t.Errorf("%s: %s %s %q is not among %+v", c.name, c.leg, c.level, c.text, f)
		}
		rank := []Level{Good, Lost, Danger}
		for _, x := range f {
			if slices.Index(rank, x.Level) > slices.Index(rank, c.level) {
				t.Errorf("%s: also %+v", c.name, x)
			}
		}
	}
}

// TestSame: the forms in which Postfix writes an address.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		word, listen string
		want         bool
	}{
		{"127.0.0.1:10025", "127.0.0.1:10025", true}, {"inet:127.0.0.1:10025", "127.0.0.1:10025", true}, {"localhost:10025", "0.0.0.0:10025", true},
		{"10025", "127.0.0.1:10025", true}, {"spamsim:[127.0.0.1]:10025", "127.0.0.1:10025", true}, {"smtp:[::1]:10025", "[::1]:10025", true},
		{"192.0.2.1:10025", "192.0.2.1:10025", true},
		{"127.0.0.1:10024", "127.0.0.1:10025", false}, {"192.0.2.1:10025", "127.0.0.1:10025", false}, {"", "127.0.0.1:10025", false},
		{"spamsim", "127.0.0.1:10025", false}, {"smtp", "127.0.0.1:25", false},
	} {
		if got := same(c.word, config.Address{Network: "tcp", Addr: c.listen}); got != c.want {
			t.Errorf("%q is %s: %v", c.word, c.listen, got)
		}
	}
}

func TestPostfixTime(t *testing.T) {
	for s, want := range map[string]time.Duration{"100s": 100 * time.Second, "100": 100 * time.Second, "5m": 5 * time.Minute, "1d": 24 * time.Hour} {
		if got, ok := postfixTime(s); !ok || got != want {
			t.Errorf("%s: %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "s", "$x"} {
		if got, ok := postfixTime(s); ok {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestAdvise: what is to be added names the configured addresses; a maildir takes nothing from Postfix's proxy.
func TestAdvise(t *testing.T) {
	all := func(toml string) string {
		var out []string
		for _, a := range Advise(site(t, toml, "", "", "").Config) {
			out = append(append(out, "["+a.File+"]"), a.Lines...)
		}
		return strings.Join(out, "\n")
	}
	if got := all(""); got != "" {
		t.Errorf("for a maildir: %s", got)
	}
	if got := all("[smtp]\nnext_hop = \"smtp://mx.example:25\"\n"); got != "" {
		t.Errorf("for a next hop elsewhere: %s", got)
	}
	if got, want := all("[milter]\nlisten = [\"127.0.0.1:7000\"]\n"), "[main.cf]\nsmtpd_milters = inet:127.0.0.1:7000\nmilter_default_action = accept"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got := all("[smtp]\nlisten = [\"0.0.0.0:2525\"]\nnext_hop = \"smtp://127.0.0.1:2526\"\nconnections = 50\n")
	for _, want := range []string{"smtp inet n - y - 50 smtpd\n  -o smtpd_proxy_filter=127.0.0.1:2525\n", "\n127.0.0.1:2526 inet n - y - - smtpd\n",
		"content_filter = spamsim:[127.0.0.1]:2525\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for setting, option := range map[string]string{"xclient = true": "smtpd_authorized_xclient_hosts=127.0.0.0/8",
		"next_hop_proxy = \"v2\"": "smtpd_upstream_proxy_protocol=haproxy"} {
		const listener = "[master.cf]\n127.0.0.1:2526 inet n - y - - smtpd\n  -o %s\n  -o smtpd_proxy_filter=\n  -o content_filter="
		got := all("[smtp]\nlisten = [\"0.0.0.0:25\"]\nnext_hop = \"smtp://127.0.0.1:2526\"\n" + setting + "\n")
		if want := fmt.Sprintf(listener, option); got != want {
			t.Errorf("%s: %s, want %s", setting, got, want)
		}
	}
}
