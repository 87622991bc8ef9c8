package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files writes files, by path, into a new folder.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			path, text = filepath.Join(path, ".keep"), ""
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// list is what a Read yields, a line a message; dir is cut from names.
func list(dir string, paths []string, o Options) []string {
	var out []string
	for m := range Read(paths, o) {
		line := fmt.Sprintf("%s %q", m.Name, m.Raw)
		if m.Err != nil {
			line = "error: " + m.Err.Error()
		}
		out = append(out, strings.ReplaceAll(line, dir+"/", ""))
	}
	return out
}

const box = "From a@example.org Mon Jan  1 00:00:00 2001\nSubject: one\n\nbody\n>From here\n>>From there\nFrom where\n\n" +
	"From the prose, no date\n\nFrom b@example.org Tue Jan  2 10:00:00 2001\nSubject: two\n\nbody\n"

const (
	one = `"Subject: one\n\nbody\nFrom here\n>From there\nFrom where\n\nFrom the prose, no date\n"`
	two = `"Subject: two\n\nbody\n"`
)

func TestRead(t *testing.T) {
	dir := files(t, map[string]string{
		"inbox":                     box,
		"crlf":                      strings.ReplaceAll(box, "\n", "\r\n"),
		"undated":                   "From a\n\nx\n\nFrom b\n\ny\n",
		"adjacent":                  "From a@b Mon Jan  1 00:00:00 2001\nFrom a@b Mon Jan  1 00:00:00 2001\nx",
		"one.eml":                   "Subject: x\n\nFrom here on: text\n",
		"empty.eml":                 "",
		"nul":                       "\x00\x00",
		"md/new/100.M2.host":        "new, second",
		"md/cur/099.M1.host:2,S":    "cur, first",
		"md/cur/.hidden":            "",
		"md/tmp/101.M3.host":        "being written",
		"md/.Sent/cur/1.x":          "another folder",
		"emptymd/cur/":              "",
		"folder/b/2":                "second",
		"folder/a/1":                "first",
		"folder/c":                  box,
		"folder/.git/x":             "no mail",
		"folder/tmp/x":              "no mail",
		"nothing/":                  "",
		"apple.mbox/Info.plist.txt": "x",
	})
	p := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name string
		path string
		want []string
	}{
		{"mboxrd", "inbox", []string{"inbox#0 " + one, "inbox#1 " + two}},
		{"mbox in CRLF", "crlf", []string{"crlf#0 " + strings.ReplaceAll(one, `\n`, `\r\n`), "crlf#1 " + strings.ReplaceAll(two, `\n`, `\r\n`)}},
		{"mbox whose lines hold no dates", "undated", []string{`undated#0 "\nx\n"`, `undated#1 "\ny\n"`}},
		{"empty message in an mbox", "adjacent", []string{`adjacent#0 ""`, `adjacent#1 "x"`}},
		{"single message", "one.eml", []string{`one.eml "Subject: x\n\nFrom here on: text\n"`}},
		{"empty message", "empty.eml", []string{`empty.eml ""`}},
		{"any bytes are a message", "nul", []string{`nul "\x00\x00"`}},
		{"maildir", "md", []string{`md/cur/099.M1.host:2,S "cur, first"`, `md/new/100.M2.host "new, second"`}},
		{"empty maildir", "emptymd", nil},
		{"folder", "folder", []string{`folder/a/1 "first"`, `folder/b/2 "second"`, "folder/c#0 " + one, "folder/c#1 " + two}},
		{"folder without mail", "nothing", []string{"error: " + "nothing: holds no messages"}},
		{"folder named as an mbox", "apple.mbox", []string{"error: apple.mbox: is a folder, not an mbox file: name the mbox file inside it"}},
		{"missing", "none", []string{"error: none: no such file or directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, list(dir, []string{p(c.path)}, Options{})); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	all := list(dir, []string{p("one.eml"), p("none"), p("nul")}, Options{})
	if len(all) != 3 || !strings.HasPrefix(all[1], "error: none:") || all[2] != `nul "\x00\x00"` {
		t.Errorf("a missing file ends the reading: %q", all)
	}
}

// TestLinkedFolder: a link to a folder is that folder, be it a maildir or not.
func TestLinkedFolder(t *testing.T) {
	dir := files(t, map[string]string{"md/cur/1": "mail", "folder/a/1": "mail", "folder/2": "more"})
	for name, want := range map[string][]string{
		"md": {`link-md/cur/1 "mail"`}, "folder": {`link-folder/2 "more"`, `link-folder/a/1 "mail"`},
	} {
		link := filepath.Join(dir, "link-"+name)
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, list(dir, []string{link}, Options{})); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// TestUnreadableFolder: a folder that cannot be read is named itself, and what lies behind it is read. This one's name, with
// those of the folders around it, is longer than a path may be, which holds for the superuser too.
func TestUnreadableFolder(t *testing.T) {
	dir := files(t, map[string]string{"folder/a": "before", "folder/z": "after"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const deep = 20
	if err := root.MkdirAll("folder/m"+strings.Repeat("/"+strings.Repeat("m", 250), deep), 0o700); err != nil {
		t.Fatal(err)
	}
	got := list(dir, []string{filepath.Join(dir, "folder")}, Options{})
	if len(got) != 3 || !strings.HasPrefix(got[0], "error: folder/m/mmm") || !strings.HasSuffix(got[0], "m: file name too long") {
		t.Fatalf("%d messages, the first is %.40q", len(got), got)
	}
	if d := cmp.Diff([]string{`folder/a "before"`, `folder/z "after"`}, got[1:]); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for range Read([]string{filepath.Join(dir, "folder")}, Options{}) {
		break // at the error: to go on would be a panic
	}
}

// TestPipes: pipes, sockets and devices in folders are passed over, since the reading of one might never end; a pipe that is
// named is read, as a shell's <(command) is.
func TestPipes(t *testing.T) {
	dir := files(t, map[string]string{"md/cur/2": "mail", "folder/2": "mail", "pipes/cur/": "", "just/": ""})
	for _, sub := range []string{"md/cur", "folder", "pipes/cur", "just"} {
		at := func(name string) string { return filepath.Join(dir, sub, name) }
		l, err := net.Listen("unix", at("4"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		err = errors.Join(syscall.Mkfifo(at("1"), 0o600), os.Symlink(at("1"), at("3")), os.Symlink("/dev/zero", at("5")))
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{
		"md": {`md/cur/2 "mail"`}, "folder": {`folder/2 "mail"`}, "pipes": nil, "just": {"error: just: holds no messages"},
	} {
		if d := cmp.Diff(want, list(dir, []string{filepath.Join(dir, name)}, Options{})); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
	pipe := filepath.Join(dir, "md/cur/1")
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(box), 0) }() // returns once somebody reads
	if d := cmp.Diff([]string{"md/cur/1#0 " + one, "md/cur/1#1 " + two}, list(dir, []string{pipe}, Options{})); d != "" {
		t.Errorf("a pipe that is named: -want +got:\n%s", d)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestReadStdin(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(box)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"-#0 " + one, "-#1 " + two}
	for _, c := range []struct {
		name string
		in   string
		want []string
	}{
		{"mbox", box, want},
		{"gzipped mbox", z.String(), want},
		{"message", "x", []string{`- "x"`}},
		{"nothing", "", []string{`- ""`}},
		{"cut gzip", z.String()[:z.Len()-20], []string{"error: -: unexpected EOF"}},
		{"broken gzip", "\x1f\x8b\x07zzzzzzzzzzzzzzzz", []string{"error: -: gzip: invalid header"}},
	} {
		got := list("", nil, Options{Stdin: strings.NewReader(c.in)})
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	broken := errors.New("disk on fire")
	got := list("", []string{"-"}, Options{Stdin: iotest.ErrReader(broken)})
	if len(got) != 1 || got[0] != "error: -: disk on fire" {
		t.Errorf("%q", got)
	}
}

// TestLimit reads messages at and over the limit: those over it are named, and the mail behind them is not lost.
func TestLimit(t *testing.T) {
	const sep = "From a@b Mon Jan  1 00:00:00 2001\n"
	in := sep + strings.Repeat("a", 99) + "\n\n" + sep + strings.Repeat("b", 100) + "\n\n" + sep + strings.Repeat("c\n", 300_000) + "\n" + sep + "last"
	got := list("", nil, Options{Stdin: strings.NewReader(in), Limit: 100})
	for i, want := range []string{"-#0 \"aaaa", "error: -#1: message is larger", "error: -#2: message is larger", `-#3 "last"`} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("message %d of %d is not %s: %.200q", i, len(got), want, got)
		}
	}
	for n, want := range map[int]string{100: `- "x`, 101: "error: -: message is larger than the limit of 100 octets"} {
		got := list("", nil, Options{Stdin: strings.NewReader(strings.Repeat("x", n)), Limit: 100})
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%d octets: %q", n, got)
		}
	}
}

// TestLongLines holds lines longer than the reader's buffer together, and finds no separator inside them.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("z", 256<<10-1) + "From x Mon Jan  1 00:00:00 2001"
	in := "From a@b Mon Jan  1 00:00:00 2001\n" + long + "\n\nFrom a@b Mon Jan  1 00:00:00 2001\n>From " + long + "\n"
	var raws []string
	for m := range Read(nil, Options{Stdin: strings.NewReader(in)}) {
		raws = append(raws, string(m.Raw))
	}
	if d := cmp.Diff([]string{long + "\n", "From " + long + "\n"}, raws); d != "" {
		t.Errorf("messages of %d octets differ", len(strings.Join(raws, "")))
	}
}

// TestStop takes the first message of many and leaves.
func TestStop(t *testing.T) {
	dir := files(t, map[string]string{"a": box, "b": box})
	n := 0
	for range Read([]string{dir, dir}, Options{}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestStamp(t *testing.T) {
	at := time.Date(2001, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, line := range []string{
		"From a@b Tue Jan  2 03:04:05 2001", "From a@b Tue Jan  2 05:04:05 2001 +0200\r\n",
		"From a@b Tue Jan  2 03:04:05 UTC 2001\n", "From - Tue, 2 Jan 2001 03:04:05 +0000\n",
		"From \"a b\"@c Tue Jan  2 03:04:05 2001\n",
	} {
		if got := stamp([]byte(line)); !got.Equal(at) {
			t.Errorf("%q is stamped %v", line, got)
		}
	}
	if got := stamp([]byte("From x\n")); !got.IsZero() {
		t.Errorf("no date is %v", got)
	}
}

// BenchmarkMbox reads an mbox of 1,000 messages of 5 KB.
func BenchmarkMbox(b *testing.B) {
	var box bytes.Buffer
	for range 1000 {
		writeRD(&box, []byte("Subject: x\nReceived: from a (b [198.51.100.7])\n\tby c; Tue, 2 Jan 2001 03:04:05 +0000\n\n"+strings.Repeat("A line of an ordinary message, of some length.\n", 100)))
	}
	b.SetBytes(int64(box.Len()))
	b.ReportAllocs()
	for b.Loop() {
		for m := range Read(nil, Options{Stdin: bytes.NewReader(box.Bytes())}) {
			ReadHeader(m.Raw).Envelope(nil)
		}
	}
}
