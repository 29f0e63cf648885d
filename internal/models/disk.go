package models

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// diskMargin is left free: logs, streams and the lock file need some.
const diskMargin = 64 << 20

// freeBytes is how much an ordinary user can still write to dir's disk.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("asking how much disk is free in %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// errReadOnly is what a disk that can't be written answers.
const errReadOnly = unix.EROFS
