package models

import "fmt"

// Reporter is told how a pull goes on. Its methods are called one at a time.
type Reporter interface {
	// Note says one line to the user.
	Note(line string)
	// Begin says that file has size bytes (-1: unknown), of which have are here.
	Begin(file string, size, have int64)
	// Advance says that n more bytes came.
	Advance(n int64)
	// End says that file is here, whole.
	End(file string)
}

// Bytes writes a size for people, in powers of 1000 as the hub does.
func Bytes(n int64) string {
	const k = 1000.0
	x := float64(n)
	switch {
	case x >= k*k*k:
		return fmt.Sprintf("%.2f GB", x/(k*k*k))
	case x >= k*k:
		return fmt.Sprintf("%.1f MB", x/(k*k))
	case x >= k:
		return fmt.Sprintf("%.1f kB", x/k)
	default:
		return fmt.Sprintf("%d B", n)
	}
}
