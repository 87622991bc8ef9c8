package store

import "syscall"

func freeOn(folder string) (int64, error) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(folder, &fs)
	return fs.F_bavail * int64(fs.F_bsize), err
}
