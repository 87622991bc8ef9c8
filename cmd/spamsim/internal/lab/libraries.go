package lab

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// libraries finds what programs load, in the folders of the machine and of the unpacked packages. Nothing is run for
// it: ldd would have to be told of every folder.
type libraries struct {
	dirs  []string
	known map[string]bool // names that were asked about before
}

// A library is a file, and where it goes in a cell.
type library struct{ path, inside string }

func newLibraries() *libraries {
	l := &libraries{known: map[string]bool{}}
	for _, root := range []string{"", serversDir() + "/*"} {
		for _, dir := range []string{"/lib", "/usr/lib", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/usr/lib/*-linux-gnu/courier-authlib"} {
			found, _ := filepath.Glob(root + dir)
			l.dirs = append(l.dirs, found...)
		}
	}
	return l
}

// of returns the libraries that a program loads, with those that they load, and the program's loader. They are none for
// what is no program, for a static one, and for libraries that were returned before. One that is not found is left out:
// the program then says so.
func (l *libraries) of(path string) (all []library) {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err == nil {
			loader := strings.TrimRight(string(name), "\x00")
			all = append(all, library{loader, loader})
		}
	}
	names, _ := f.ImportedLibraries()
	for _, name := range names {
		if l.known[name] {
			continue
		}
		l.known[name] = true
		if lib, ok := l.find(name); ok {
			all = append(append(all, lib), l.of(lib.path)...)
		}
	}
	return all
}

// find returns the first file of a name. Those of packages go where the loader looks by itself.
func (l *libraries) find(name string) (library, bool) {
	for _, dir := range l.dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		inside := strings.TrimPrefix(path, serversDir())
		if inside == path {
			return library{path, path}, true
		}
		inside = inside[1:]                              // the package
		inside = inside[strings.IndexByte(inside, '/'):] // its file
		return library{path, strings.Replace(inside, "/courier-authlib/", "/", 1)}, true
	}
	return library{}, false
}
