package store

import (
	"fmt"
	"io/fs"
)

// KeyOf returns the key that the store at path was made with, by which it knows people and texts. The errors are those of
// Open, ErrInUse while a daemon has the file, and fs.ErrNotExist where no store was made yet.
func KeyOf(path string) ([]byte, error) {
	if missing(path) {
		return nil, fmt.Errorf("open store: %s: %w", path, fs.ErrNotExist)
	}
	s := &Store{opts: Options{ReadOnly: true, Timeout: inUseAfter}}
	key, err := s.openFile(path)
	if err != nil {
		return nil, err
	}
	return key, s.db.Load().Close()
}
