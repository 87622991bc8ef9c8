package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
)

// Errors is everything found wrong with a configuration file.
type Errors struct {
	File  string
	Lines []string // "FILE:LINE:COLUMN: what"
}

// maxLines is how many lines Error shows.
const maxLines = 20

// Error returns the first lines, one below the other.
func (e *Errors) Error() string {
	if more := len(e.Lines) - maxLines; more > 0 {
		return strings.Join(e.Lines[:maxLines], "\n") + fmt.Sprintf("\n%s: %d more mistakes", e.File, more)
	}
	return strings.Join(e.Lines, "\n")
}

func (e *Errors) add(f flaw) {
	e.Lines = append(e.Lines, fmt.Sprintf("%s:%d:%d: %s", e.File, f.at.line, f.at.column, f.text))
}

// explain turns what the decoder says, and the flaws found beside it, into lines with places and plain words.
func explain(file string, err error, bad []flaw) error {
	out := &Errors{File: file}
	for _, f := range bad {
		out.add(flaw{at: f.at, text: f.path + " " + f.text})
	}
	var unknown *toml.StrictMissingError
	var one *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		for i := range unknown.Errors {
			out.add(unknownKey(&unknown.Errors[i]))
		}
	case errors.As(err, &one):
		out.add(badValue(one))
	case len(bad) == 0:
		return fmt.Errorf("%s: %w", file, err)
	}
	return out
}

func unknownKey(e *toml.DecodeError) flaw {
	line, column := e.Position()
	key := e.Key()
	text := fmt.Sprintf("unknown key %q", key[len(key)-1])
	if near := nearest(key); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return flaw{at: place{line, column}, text: text}
}

func badValue(e *toml.DecodeError) flaw {
	line, column := e.Position()
	f := flaw{at: place{line, column}, text: strings.TrimPrefix(e.Error(), "toml: ")}
	path := strings.ToLower(strings.Join(e.Key(), "."))
	switch s, ok := lookup(path); {
	case ok && strings.HasPrefix(f.text, "cannot decode"):
		f.text = path + " " + wants(s.typ)
	case ok:
		f.text = path + ": " + f.text
	case isSection(path):
		f.text = fmt.Sprintf("%s is a section: write [%s] on a line of its own", path, path)
	}
	return f
}

func isSection(path string) bool {
	return path != "" && slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.path, path+".") })
}

// wants says what kind of value a setting takes.
func wants(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Slice:
		return "wants a list of quoted strings, such as [\"a\", \"b\"]"
	case t == reflect.TypeFor[Duration]():
		return "wants a time in quotes, such as \"30s\" or \"7d\""
	case t == reflect.TypeFor[Size]():
		return "wants a size, such as \"10MB\""
	case t.Kind() == reflect.Int:
		return "wants a whole number"
	case t.Kind() == reflect.Float64:
		return "wants a number"
	case t.Kind() == reflect.Bool:
		return "wants true or false"
	}
	return "wants a quoted string"
}

// nearest returns the declared name that a mistyped one most likely meant: of its own section by spelling, or the
// same name in another section, then with the section's name before it. It is empty where nothing is near.
func nearest(key toml.Key) string {
	path := strings.ToLower(strings.Join(key, "."))
	section, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		section, name = path[:i+1], path[i+1:]
	}
	best, cost := "", len(name)/2
	for _, s := range settings {
		i := strings.LastIndexByte(s.path, '.') + 1
		if s.path[:i] == section {
			best, cost = closer(best, cost, s.path[i:], name)
		}
		if s.path[i:] == name {
			return s.path
		}
		if first, _, ok := strings.Cut(s.path, "."); ok && section == "" {
			best, cost = closer(best, cost, first, name)
		}
	}
	return best
}

// closer returns the candidate and its cost where it is nearer to name than the best so far.
func closer(best string, cost int, candidate, name string) (string, int) {
	if c := distance(candidate, name); c < cost || c == cost && best == "" {
		return candidate, c
	}
	return best, cost
}

// distance is Levenshtein's, in bytes: inserted, deleted and changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func itoa(n int) string { return strconv.Itoa(n) }
