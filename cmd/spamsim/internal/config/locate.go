package config

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A setting is one declared name.
type setting struct {
	path   string // "smtp.listen"; those of a rule are "exempt.sender"
	typ    reflect.Type
	reload bool // a running daemon takes it up
}

// settings are all names, in the order of declaration.
var settings = declared(reflect.TypeFor[Config](), "", false)

func declared(t reflect.Type, prefix string, reload bool) []setting {
	var out []setting
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		reload := reload || f.Tag.Get("reload") == "yes"
		switch inner := table(f.Type); {
		case inner != nil:
			out = append(out, declared(inner, prefix+name+".", reload)...)
		default:
			out = append(out, setting{prefix + name, f.Type, reload})
		}
	}
	return out
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

// table returns the struct behind a section or a list of sections, nil for a plain setting.
func table(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(textType) {
		return nil
	}
	return t
}

// isText tells whether a setting, or each item of it, is written as a quoted string and read by UnmarshalText.
func isText(t reflect.Type) bool {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return reflect.PointerTo(t).Implements(textType)
}

// A place is a position in a file, both from 1.
type place struct{ line, column int }

// A flaw is something wrong at a place.
type flaw struct {
	at   place
	path string
	text string
}

// locate tells where each setting stands, by its path in lower case; rules are numbered: "exempt[0].sender", and
// "exempt[0]" is the rule itself. It lists values that should have been quoted, since the decoder gives no position
// for those. Where the syntax is broken it stops: the decoder says so.
func locate(data []byte) (map[string]place, []flaw) {
	w := walker{places: map[string]place{}, rules: map[string]int{}}
	w.p.Reset(data)
	prefix := ""
	for w.p.NextExpression() {
		e := w.p.Expression()
		switch e.Kind {
		case unstable.Table:
			prefix, _ = w.key(e)
		case unstable.ArrayTable:
			name, at := w.key(e)
			prefix = w.rule(name, at)
		case unstable.KeyValue:
			w.value(prefix, e)
		}
	}
	return w.places, w.flaws
}

// A walker collects places from a parsed file.
type walker struct {
	p      unstable.Parser
	places map[string]place
	rules  map[string]int // how many tables of a list were met
	flaws  []flaw
}

// key returns the dotted name of an expression, in lower case as the decoder compares them, and where it begins.
func (w *walker) key(e *unstable.Node) (string, place) {
	var parts []string
	var at place
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(parts) == 0 {
			start := w.p.Shape(n.Raw).Start
			at = place{start.Line, start.Column}
		}
		parts = append(parts, strings.ToLower(string(n.Data)))
	}
	return strings.Join(parts, "."), at
}

// rule counts one table of a list and returns its numbered name.
func (w *walker) rule(name string, at place) string {
	n := w.rules[name]
	w.rules[name]++
	numbered := name + "[" + itoa(n) + "]"
	w.places[numbered] = at
	return numbered
}

// value records a key, and the keys inside it where it holds tables.
func (w *walker) value(prefix string, e *unstable.Node) {
	name, at := w.key(e)
	path := name
	if prefix != "" {
		path = prefix + "." + name
	}
	w.places[path] = at
	v := e.Value()
	w.inside(path, v)
	if v.Kind == unstable.Array {
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.InlineTable {
				w.inside(w.rule(path, at), n)
			} else if n.Kind != unstable.Comment {
				w.quoted(path, at, n)
			}
		}
		return
	}
	w.quoted(path, at, v)
}

// inside records the keys of an inline table.
func (w *walker) inside(path string, v *unstable.Node) {
	if v.Kind != unstable.InlineTable {
		return
	}
	for it := v.Children(); it.Next(); {
		if n := it.Node(); n.Kind == unstable.KeyValue {
			w.value(path, n)
		}
	}
}

// quoted notes a number, truth value or date where text is wanted; a size may be a bare number.
func (w *walker) quoted(path string, at place, v *unstable.Node) {
	switch v.Kind {
	case unstable.Integer, unstable.Float, unstable.Bool, unstable.LocalDate, unstable.LocalTime,
		unstable.LocalDateTime, unstable.DateTime:
	default:
		return
	}
	s, ok := lookup(path)
	if ok && isText(s.typ) && (v.Kind != unstable.Integer || s.typ != reflect.TypeFor[Size]()) {
		w.flaws = append(w.flaws, flaw{at, s.path, wants(s.typ)})
	}
}

// lookup finds the setting of a path, whatever rule number is in it.
func lookup(path string) (setting, bool) {
	path = unnumbered(path)
	for _, s := range settings {
		if s.path == path {
			return s, true
		}
	}
	return setting{}, false
}

// unnumbered drops "[3]" from a path.
func unnumbered(path string) string {
	before, rest, ok := strings.Cut(path, "[")
	if !ok {
		return path
	}
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}
