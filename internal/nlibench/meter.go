package nlibench

import (
	"fmt"
	"sort"
	"syscall"
	"time"
)

// meter measures the time of this process between start and stop.
type meter struct {
	start time.Time
	cpu   time.Duration
}

func startMeter() (meter, error) {
	cpu, err := used()
	return meter{time.Now(), cpu}, err
}

// stop returns wall and processor seconds, the latter of all threads.
func (m meter) stop() (wall, cpu float64, err error) {
	wall = time.Since(m.start).Seconds()
	now, err := used()
	return wall, (now - m.cpu).Seconds(), err
}

func used() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("reading the processor time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// quantile returns the q-quantile of values by linear interpolation. There
// must be values.
func quantile(values []float64, q float64) float64 {
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	at := q * float64(len(sorted)-1)
	lo := int(at)
	if lo+1 >= len(sorted) {
		return sorted[lo]
	}
	return sorted[lo] + (at-float64(lo))*(sorted[lo+1]-sorted[lo])
}

func median(values []float64) float64 { return quantile(values, 0.5) }
