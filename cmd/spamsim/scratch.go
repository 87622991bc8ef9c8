package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// scratch makes a folder for temporary files, by the pattern of os.MkdirTemp.
func scratch(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	return dir, noScratch(err)
}

// noScratch is what to say of a temporary file that cannot be made: nobody named its folder on the command line.
func noScratch(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporary files go to %s: %w; let TMPDIR name a folder that can be written", os.TempDir(), err)
}

// tryWriting finds out whether a file can be written later, when the work for it is done. What the file holds stays; one that
// was not there is there when it returns, and undo removes it.
func tryWriting(name string) (undo func(), err error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return func() {}, nil // who reads a pipe would see its end
	}
	_, err = os.Lstat(name) // a link that leads nowhere yet is its user's
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return func() {
		if isNew {
			_ = os.Remove(name) // somebody may have done so
		}
	}, f.Close()
}
