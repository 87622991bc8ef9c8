package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the folder of go.mod, seen from this one.
const root = "../.."

// floors says which of the module's packages a package may import, in tests too. Imports point down: parse, nilsimsa,
// simhash and configs are pure and import nothing of ours, store stands on the first three, milter/filter on store, the
// front doors on milter/filter and on milter/door, which is what they do alike, without knowing one another, and the command
// ties them together. A rule is never relaxed to mend a build; a new package needs a line here.
var floors = map[string][]string{
	"parse":    nil,
	"nilsimsa": nil,
	"configs":  nil,

	"simhash":      nil,
	"simhash/scan": nil,

	"store":         {"parse", "nilsimsa", "simhash", "simhash/scan"},
	"store/replica": {"store"},

	"store/replica/redistest": nil,

	"milter/filter": {"parse", "nilsimsa", "simhash", "store"},

	"milter/door":      {"milter/filter"},
	"milter":           {"milter/door", "milter/filter"},
	"milter/smtpproxy": {"milter/door", "milter/filter"},
	"milter/dccifd":    {"milter/door", "milter/filter"},

	"cmd/spamsim/internal/bench": {
		"milter/filter", "milter/smtpproxy", "nilsimsa", "parse", "simhash/scan", "store",
	},
	"cmd/spamsim/internal/config":   {"configs"},
	"cmd/spamsim/internal/console":  {"cmd/spamsim/internal/control", "milter/filter", "parse", "store"},
	"cmd/spamsim/internal/control":  {"cmd/spamsim/internal/source", "milter/filter", "store", "store/replica"},
	"cmd/spamsim/internal/demo":     nil,
	"cmd/spamsim/internal/handover": nil,
	"cmd/spamsim/internal/doctor":   {"cmd/spamsim/internal/config"},
	"cmd/spamsim/internal/lab":      nil,
	"cmd/spamsim/internal/metrics":  {"cmd/spamsim/internal/control", "store/replica"},
	"cmd/spamsim/internal/near":     {"simhash"},
	"cmd/spamsim/internal/sandbox":  nil,
	"cmd/spamsim/internal/source":   {"milter/filter"},
	"cmd/spamsim/internal/systemd":  nil,

	"cmd/spamsim/internal/quarantine": {"milter/filter"},

	"cmd/spamsim": {
		"cmd/spamsim/internal/bench", "cmd/spamsim/internal/config", "cmd/spamsim/internal/console", "cmd/spamsim/internal/control", "cmd/spamsim/internal/demo", "cmd/spamsim/internal/doctor", "cmd/spamsim/internal/handover",
		"cmd/spamsim/internal/metrics", "cmd/spamsim/internal/near", "cmd/spamsim/internal/quarantine", "cmd/spamsim/internal/sandbox", "cmd/spamsim/internal/source",
		"cmd/spamsim/internal/systemd",
		"configs", "milter", "milter/dccifd", "milter/filter", "milter/smtpproxy", "nilsimsa", "parse", "simhash", "store", "store/replica",
	},
}

// testFloors says what tests may import beyond that.
var testFloors = map[string][]string{
	"simhash/scan":  {"nilsimsa", "simhash"}, // codes of both kinds to scan
	"store/replica": {"parse", "store/replica/redistest"},
	"milter":        {"store"}, // what judging costs by a milter

	"cmd/spamsim/internal/console": {"cmd/spamsim/internal/demo", "cmd/spamsim/internal/lab"},

	"cmd/spamsim": {"cmd/spamsim/internal/lab", "store/replica/redistest"},
}

// homes says which packages may import a module of others, or a package of the standard library that does not fit
// every floor; "x/..." is x and all inside it. Tests are free.
var homes = map[string][]string{
	"github.com/emersion/go-message": {"parse/..."},
	"github.com/cespare/xxhash":      {"simhash", "store/...", "milter/filter"},
	"go.etcd.io/bbolt":               {"store/..."},
	"github.com/redis/go-redis":      {"store/replica"},
	"github.com/emersion/go-smtp":    {"milter/smtpproxy"},
	"github.com/emersion/go-sasl":    {"milter/smtpproxy"},
	"github.com/spf13/cobra":         {"cmd/spamsim/..."},
	"github.com/prometheus":          {"cmd/spamsim/..."},
	"github.com/landlock-lsm":        {"cmd/spamsim/internal/sandbox"},
	"github.com/emersion/go-milter":  {}, // the tests' reference, never the product's

	"log":      {"cmd/spamsim/..."},
	"log/slog": {"store/...", "milter", "milter/door", "milter/smtpproxy", "milter/dccifd", "cmd/spamsim/..."},
	"net":      {"store/replica/...", "milter", "milter/door", "milter/smtpproxy", "milter/dccifd", "cmd/spamsim/..."},
	"net/http": {"cmd/spamsim/..."},
	"os":       {"store/...", "milter", "milter/smtpproxy", "cmd/spamsim/..."},
	"time":     {"store/...", "milter/...", "cmd/spamsim/..."},
}

// A listed is what "go list" says of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// list asks the go command for every package of the module.
func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ours cuts the module's path off; ok tells whether it was there.
func ours(path string) (name string, ok bool) {
	return strings.CutPrefix(path, "spamsim/")
}

// wrongEdges lists what a package imports of the module and may not.
func wrongEdges(p listed) []string {
	name, _ := ours(p.ImportPath)
	may, known := floors[name]
	if !known {
		return []string{name + " has no line in floors"}
	}
	var wrong []string
	look := func(paths, may []string) {
		for _, path := range paths {
			if to, is := ours(path); is && to != name && !slices.Contains(may, to) {
				wrong = append(wrong, name+" imports "+to)
			}
		}
	}
	look(p.Imports, may)
	look(slices.Concat(p.TestImports, p.XTestImports), slices.Concat(may, testFloors[name]))
	return wrong
}

// covers tells whether a pattern of homes or its own name covers a package or import path.
func covers(pattern, path string) bool {
	if inside, all := strings.CutSuffix(pattern, "/..."); all {
		return path == inside || strings.HasPrefix(path, inside+"/")
	}
	return path == pattern
}

// wrongHomes lists what a package imports of others and may not.
func wrongHomes(p listed) []string {
	name, _ := ours(p.ImportPath)
	var wrong []string
	for _, path := range p.Imports {
		for module, homes := range homes {
			if strings.Contains(module, ".") {
				module += "/..." // a module stands for all its packages, net only for itself
			}
			at := func(home string) bool { return covers(home, name) }
			if covers(module, path) && !slices.ContainsFunc(homes, at) {
				wrong = append(wrong, name+" imports "+path)
			}
		}
	}
	return wrong
}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t) {
		name, _ := ours(p.ImportPath)
		seen[name] = true
		for _, w := range slices.Concat(wrongEdges(p), wrongHomes(p)) {
			t.Error(w)
		}
	}
	for name := range floors {
		if !seen[name] {
			t.Errorf("floors has a line for %s, which is no package", name)
		}
	}
}

// TestFloorsCatch shows that the rules above can fail.
func TestFloorsCatch(t *testing.T) {
	for _, c := range []struct {
		p    listed
		want string
	}{
		{listed{ImportPath: "spamsim/nilsimsa", Imports: []string{"spamsim/simhash"}}, "nilsimsa imports simhash"},
		{listed{ImportPath: "spamsim/store", XTestImports: []string{"spamsim/milter/filter"}}, "store imports milter/filter"},
		{listed{ImportPath: "spamsim/milter", Imports: []string{"spamsim/milter/smtpproxy"}}, "milter imports milter/smtpproxy"},
		{listed{ImportPath: "spamsim/cmd/spamsim", Imports: []string{"spamsim/cmd/spamsim/internal/lab"}}, "cmd/spamsim imports cmd/spamsim/internal/lab"},
		{listed{ImportPath: "spamsim/newcomer"}, "newcomer has no line in floors"},
		{listed{ImportPath: "spamsim/parse", Imports: []string{"time"}}, "parse imports time"},
		{listed{ImportPath: "spamsim/store", Imports: []string{"github.com/emersion/go-message/mail"}}, "store imports github.com/emersion/go-message/mail"},
		{listed{ImportPath: "spamsim/milter", Imports: []string{"github.com/emersion/go-milter"}}, "milter imports github.com/emersion/go-milter"},
	} {
		if got := slices.Concat(wrongEdges(c.p), wrongHomes(c.p)); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: got %q, want %q", c.p.ImportPath, got, c.want)
		}
	}
	fine := listed{ImportPath: "spamsim/store/replica", Imports: []string{"go.etcd.io/bbolt/errors", "net"}}
	if got := wrongHomes(fine); len(got) > 0 {
		t.Errorf("what lies inside a home is at home: %q", got)
	}
}

// TestTopLevelFolders keeps the top level as it was agreed on: new folders go inside these.
func TestTopLevelFolders(t *testing.T) {
	agreed := []string{"cmd", "configs", "milter", "nilsimsa", "parse", "simhash", "store", "dist"} // dist: make release
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(agreed, e.Name()) {
			t.Errorf("new top-level folder %s", e.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Errorf("%s is not the module's folder: %v", root, err)
	}
}
