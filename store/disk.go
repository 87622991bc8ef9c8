//go:build !openbsd

package store

import "syscall"

// freeOn is how many octets whoever is not root can still write to the disk that a folder is on.
func freeOn(folder string) (int64, error) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(folder, &fs)
	return int64(fs.Bavail) * int64(fs.Bsize), err
}
