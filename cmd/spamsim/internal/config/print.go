package config

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
)

// Print writes the configuration in effect as a TOML file, each setting with its origin in a comment.
func (l *Loaded) Print(to io.Writer) error {
	w, section := bufio.NewWriter(to), ""
	for _, s := range settings {
		name := s.path
		if i := strings.LastIndexByte(s.path, '.'); i >= 0 {
			name = s.path[i+1:]
			if s.path[:i] == "exempt" {
				continue // rules follow below
			}
			if s.path[:i] != section {
				section = s.path[:i]
				fmt.Fprintf(w, "\n[%s]\n", section)
			}
		}
		line, err := assignment(name, l.value(s.path))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-40s # %s\n", line, l.Origin[s.path])
	}
	for i, e := range l.Exempt {
		b, err := toml.Marshal(e)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n[[exempt]] # %s\n%s", l.Origin["exempt["+itoa(i)+"]"], b)
	}
	return w.Flush()
}

// assignment is one line of TOML.
func assignment(name string, v any) (string, error) {
	b, err := toml.Marshal(map[string]any{name: v})
	return string(bytes.TrimSpace(b)), err
}

// value returns the setting at path.
func (c *Config) value(path string) any { return c.field(path).Interface() }

// field is where the setting at path lies.
func (c *Config) field(path string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(path, ".") {
		for i := range v.NumField() {
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ","); name == part {
				v = v.Field(i)
				break
			}
		}
	}
	return v
}
