package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"spamsim/cmd/spamsim/internal/config"
)

// state looks at who may read and write the files: the store can be used to see what a site receives, the quarantine holds
// mail, and who writes the store decides what is bulk.
func (f *findings) state(c *config.Loaded) {
	const leg = "state"
	seen := ""
	for _, p := range []struct {
		path string
		deny fs.FileMode
		why  string
	}{
		{c.StateDir, 0o002, "anybody could put files there"},
		{filepath.Dir(c.Store.Path), 0o002, "anybody could replace the store"},
		{c.Store.Path, 0o006, "anybody could read or change what is counted"},
		{c.Store.Path + ".sock", 0o006, "anybody could teach and ask"},
		{filepath.Join(c.StateDir, "quarantine"), 0o077, "others could read mail"},
	} {
		if p.path == seen { // the store lies in the state directory
			continue
		}
		seen = p.path
		info, err := os.Stat(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // what is missing is made with the right mode
		case err != nil:
			f.add(leg, Unknown, "%v", err)
		case info.Mode().Perm()&p.deny != 0:
			f.add(leg, Danger, "%s has mode %04o: %s. chmod %04o %s", p.path, info.Mode().Perm(), p.why, info.Mode().Perm()&^p.deny, p.path)
		default:
			f.add(leg, Good, "%s, mode %04o", p.path, info.Mode().Perm())
		}
	}
}
