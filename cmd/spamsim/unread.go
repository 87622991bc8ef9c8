package main

import "fmt"

// An unread collects what could not be read, so that one bad file does not end a command.
type unread struct {
	app *app
	n   int
}

// maxNamed is how many bad files are named before the rest is only counted.
const maxNamed = 20

func (u *unread) add(err error) {
	if u.n++; u.n <= maxNamed {
		u.app.warn("%v", err)
	}
}

// err is nil where everything was read, else an exit status of its own kind.
func (u *unread) err() error {
	if u.n == 0 {
		return nil
	}
	if u.n > maxNamed {
		u.app.warn("%d files or messages could not be read, of which %d are named above", u.n, maxNamed)
	}
	return fmt.Errorf("%w", status(statusUsage))
}
