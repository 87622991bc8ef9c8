package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// A Postfix is how one is set up.
type Postfix struct {
	main     map[string]string // the parameters of asked, in effect
	services []service         // of master.cf
}

// A service is a line of master.cf.
type service struct {
	name, kind string // "127.0.0.1:10026", "inet"
	limit      string // of processes, "-" for the default
	command    string
	options    map[string]string // of -o
}

// asked are the parameters that matter here.
var asked = []string{"smtpd_milters", "smtpd_proxy_filter", "smtpd_proxy_timeout", "smtpd_proxy_options", "content_filter",
	"milter_default_action", "default_process_limit", "receive_override_options", "smtpd_authorized_xforward_hosts",
	"smtp_send_xforward_command", "queue_directory"}

// postconf is where Debian and others have it: outside an ordinary user's path.
const postconf = "/usr/sbin/postconf"

// FindPostfix reads how the Postfix of this host is set up, or that of the folder in the environment's MAIL_CONFIG. It is
// nil where none is installed.
func FindPostfix(ctx context.Context) (*Postfix, error) {
	program, err := exec.LookPath("postconf")
	if err != nil {
		program, err = exec.LookPath(postconf)
	}
	if err != nil {
		return nil, nil
	}
	var texts [3]string
	for i, args := range [][]string{append([]string{"-x"}, asked...), {"-M"}, {"-xP"}} {
		var errs bytes.Buffer
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("postconf %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()))
		}
		texts[i] = string(out)
	}
	return parsePostfix(texts[0], texts[1], texts[2]), nil
}

// parsePostfix reads what postconf prints: parameters, services (-M), and the services' own parameters (-P).
func parsePostfix(main, services, options string) *Postfix {
	p := &Postfix{main: map[string]string{}}
	for name, value := range assignments(main) {
		p.main[name] = value
	}
	for line := range strings.Lines(services) {
		w := strings.Fields(line)
		if len(w) < 8 || strings.HasPrefix(w[0], "#") {
			continue
		}
		p.services = append(p.services, service{name: w[0], kind: w[1], limit: w[6], command: w[7], options: map[string]string{}})
	}
	for path, value := range assignments(options) {
		for i := range p.services {
			s := &p.services[i]
			if name, ok := strings.CutPrefix(path, s.name+"/"+s.kind+"/"); ok {
				s.options[name] = value
			}
		}
	}
	return p
}

// assignments are the lines "name = value".
func assignments(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, "="); ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}

// value is a parameter in effect for a service.
func (p *Postfix) value(s *service, name string) string {
	if v, ok := s.options[name]; ok {
		return v
	}
	return p.main[name]
}
