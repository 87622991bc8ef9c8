package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
)

// Values are all settings as the file writes them, by their names: "bulk.count" is "5". A rule is "exempt.NAME", and "exempt"
// is the order of the rules. Secrets are not shown.
func (c *Config) Values() (map[string]string, error) {
	out := map[string]string{}
	for _, s := range settings {
		if strings.HasPrefix(s.path, "exempt.") {
			continue
		}
		if secret, is := c.value(s.path).(Secret); is {
			out[s.path] = secret.mark()
			continue
		}
		line, err := assignment("x", c.value(s.path))
		if err != nil {
			return nil, err
		}
		out[s.path] = strings.TrimPrefix(line, "x = ")
	}
	names := []string{}
	for _, e := range c.Exempt {
		b, err := toml.Marshal(e)
		if err != nil {
			return nil, err
		}
		_, condition, _ := strings.Cut(string(bytes.TrimSpace(b)), "\n") // the first line is the name
		out["exempt."+e.Name] = condition
		names = append(names, fmt.Sprintf("%q", e.Name))
	}
	out["exempt"] = "[" + strings.Join(names, ", ") + "]"
	return out, nil
}

// A Change is a setting that two configurations have differently.
type Change struct {
	Setting string `json:"setting"`
	Old     string `json:"old"` // as the file writes it; "" for a rule that was not there
	New     string `json:"new"` // "" for a rule that is there no more
	Restart bool   `json:"restart"`
}

// Diff lists the settings that differ between two Values, in the order of declaration, rules last by their names. Restart
// is set where a running daemon does not take the new value up.
func Diff(old, next map[string]string) []Change {
	var names []string
	for _, s := range settings {
		if !strings.HasPrefix(s.path, "exempt.") {
			names = append(names, s.path)
		}
	}
	known := len(names)
	for _, m := range []map[string]string{old, next} {
		for name := range m {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names[known:])
	var out []Change
	for _, name := range names {
		if a, b := old[name], next[name]; a != b {
			out = append(out, Change{name, a, b, !reloads(name, a, b)})
		}
	}
	return out
}

// nothing is an empty text as Values has it.
const nothing = `''`

// reloads tells whether a running daemon takes a setting up. TLS that is not offered yet, or no more, is another server.
func reloads(name, old, next string) bool {
	if name == "exempt" || strings.HasPrefix(name, "exempt.") {
		return true
	}
	if strings.HasPrefix(name, "tls.") && (old == nothing || next == nothing) {
		return false
	}
	s, known := lookup(name)
	return known && s.reload
}

// Adopt returns a copy of the configuration with what a running daemon takes up of another, and the changes between the two.
func (l *Loaded) Adopt(next *Loaded) (*Loaded, []Change, error) {
	old, err := l.Values()
	if err != nil {
		return nil, nil, err
	}
	want, err := next.Values()
	if err != nil {
		return nil, nil, err
	}
	out, changes := *l, Diff(old, want)
	for _, c := range changes {
		if _, known := lookup(c.Setting); known && !c.Restart && !strings.HasPrefix(c.Setting, "exempt.") {
			out.field(c.Setting).Set(next.field(c.Setting))
		}
	}
	out.Exempt, out.File = next.Exempt, next.File
	return &out, changes, nil
}
