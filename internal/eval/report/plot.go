package report

import (
	"fmt"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Measures of the plots, in SVG units.
const (
	labelWidth = 118.0 // names at the left
	valueWidth = 44.0  // numbers at the right
	plotWidth  = 200.0
	rowHeight  = 20.0
	topMargin  = 16.0 // room for the scale
	cellSize   = 44.0
)

// Whisker is a value with its interval as a line with a dot.
type Whisker struct {
	Name, Text, Title string
	Y                 string
	Dot               string // x; empty where there is no value
	From, To          string // x; empty where there is no interval
	Class             string
}

// Tick is a mark of a scale.
type Tick struct{ X, Text string }

// Whiskers is a plot of values, one a row.
type Whiskers struct {
	Title, Describe string
	Width, Height   string
	Bottom          string
	TextX, ValueX   string
	Ticks           []Tick
	// Guide is the x of a dashed line, such as that of flag-all; may be empty.
	Guide string
	Rows  []Whisker
}

func at(x float64) string { return fmt.Sprintf("%.1f", x) }

// scale maps values to x.
type scale struct{ low, high float64 }

func (s scale) x(v float64) float64 {
	v = max(s.low, min(s.high, v))
	return labelWidth + plotWidth*(v-s.low)/(s.high-s.low)
}

func (s scale) ticks(step float64, text func(float64) string) []Tick {
	var out []Tick
	for n := int(s.low/step - 0.5); float64(n)*step <= s.high+1e-9; n++ {
		if v := float64(n) * step; v >= s.low-1e-9 {
			out = append(out, Tick{at(s.x(v)), text(v)})
		}
	}
	return out
}

func frame(title string, rows int) Whiskers {
	height := topMargin + rowHeight*float64(rows) + 4
	return Whiskers{
		Title: title, Width: at(labelWidth + plotWidth + valueWidth), Height: at(height), Bottom: at(height - 4),
		TextX: at(labelWidth - 8), ValueX: at(labelWidth + plotWidth + 6),
	}
}

func (w *Whiskers) add(i int, s scale, name, class string, e interval.Estimate, text string) {
	row := Whisker{Name: name, Class: class, Text: text, Y: at(topMargin + rowHeight*(float64(i)+0.5))}
	if e.Value != nil {
		row.Dot = at(s.x(*e.Value))
	}
	if e.Low != nil {
		row.From, row.To = at(s.x(*e.Low)), at(s.x(*e.High))
	}
	w.Rows = append(w.Rows, row)
}

// intervals is a plot a metric, with a row for each whole system.
func (s *SetReport) intervals() []Whiskers {
	var out []Whiskers
	systems := s.own()
	for _, m := range metrics.Main() {
		sc := scale{0, 1}
		for _, y := range systems {
			if e := y.Estimates[m]; e.Low != nil && *e.Low < 0 {
				sc.low = -0.5 // kappa alone
			}
		}
		w := frame(m.Name(), len(systems))
		w.Ticks = sc.ticks(0.25, func(v float64) string { return fmt.Sprintf("%.0f", 100*v) })
		for i, y := range systems {
			class := "system"
			if y.Baseline {
				class = "baseline"
			}
			text := percent(y.Estimates[m])
			if m == metrics.QF1 && y.Trap {
				text += trap
			}
			w.add(i, sc, y.Name, class, y.Estimates[m], text)
			w.Rows[i].Title = fmt.Sprintf("%s, %s: %s", y.Name, m.Name(), whole(y.Estimates[m]))
			if e := y.Estimates[m]; y.Name == FlagAll && e.Value != nil {
				w.Guide = at(sc.x(*e.Value))
			}
		}
		w.Describe = fmt.Sprintf("%s of %d systems with intervals; the dashed line is flag-all's", m.Name(), len(systems))
		out = append(out, w)
	}
	return out
}

// deltas is a plot a metric and system that was taken apart.
func (s *SetReport) deltas() []Whiskers {
	var out []Whiskers
	for _, base := range bases(s.Ablations) {
		for _, m := range []metrics.Metric{metrics.SF1, metrics.MacroF1} {
			var rows []Ablation
			reach := 0.05
			for _, a := range s.Ablations {
				if a.Of != base {
					continue
				}
				rows = append(rows, a)
				for _, end := range []*float64{a.Delta[m].Low, a.Delta[m].High, a.Delta[m].Value} {
					if end != nil {
						reach = max(reach, *end, -*end)
					}
				}
			}
			reach *= 1.05
			sc := scale{-reach, reach}
			w := frame(fmt.Sprintf("%s without a stage: %s, points", base, m.Name()), len(rows))
			for _, v := range []float64{-reach / 1.05, 0, reach / 1.05} {
				w.Ticks = append(w.Ticks, Tick{at(sc.x(v)), plus(v)})
			}
			w.Guide = at(sc.x(0))
			for i, a := range rows {
				e := a.Delta[m]
				text := none
				if e.Value != nil {
					text = plus(*e.Value)
				}
				w.add(i, sc, "without "+a.Without.Letter(), string(a.Verdict(m)), e, text)
				w.Rows[i].Title = fmt.Sprintf("%s without %s, %s: %s; the stage: %s", base, a.Without, m.Name(), signed(e), a.Verdict(m))
			}
			w.Describe = "right of the dashed line removing the stage raises the figure, so that errors cancelled"
			out = append(out, w)
		}
	}
	return out
}

// Square is a cell of a confusion matrix.
type Square struct {
	X, Y, TextX, TextY string
	Opacity            string
	Text, Title, Class string
}

// Matrix is a confusion matrix.
type Matrix struct {
	Name          string
	Width, Height string
	Size          string
	Heads, Sides  []Tick // X is x of heads, y of sides
	Cells         []Square
}

func (s *SetReport) matrices() []Matrix {
	var out []Matrix
	const left, top = 28.0, 18.0
	for _, y := range s.own() {
		if y.Baseline {
			continue
		}
		m := Matrix{
			Name: y.Name, Size: at(cellSize - 2),
			Width: at(left + cellSize*(metrics.Labels+1)), Height: at(top + cellSize*metrics.Labels),
		}
		for c, g := range schema.Gaps() {
			m.Heads = append(m.Heads, Tick{at(left + cellSize*(float64(c)+0.5)), g.Short()})
		}
		for r, g := range goldLabels() {
			m.Sides = append(m.Sides, Tick{at(top + cellSize*(float64(r)+0.5) + 4), g.Short()})
			for c, p := range schema.Gaps() {
				n, all := y.Confusion[r][c], y.Labels[g].Gold
				share := 0.0
				if all > 0 {
					share = float64(n) / float64(all)
				}
				class := "wrong"
				if r == c {
					class = "right"
				}
				x, top := left+cellSize*float64(c), top+cellSize*float64(r)
				m.Cells = append(m.Cells, Square{
					X: at(x), Y: at(top), TextX: at(x + cellSize/2 - 1), TextY: at(top + cellSize/2 + 4),
					Opacity: fmt.Sprintf("%.2f", 0.06+0.7*share), Text: fmt.Sprint(n), Class: class,
					Title: fmt.Sprintf("%s taken for %s: %d of %d (%s %%)", g, p, n, all, shareOf(n, all)),
				})
			}
		}
		out = append(out, m)
	}
	return out
}

// Piece is a part of a bar.
type Piece struct {
	X, Width, Class, Title string
}

// Bar is the distribution of labels of a system.
type Bar struct {
	Name, Y, TextY string
	Pieces         []Piece
}

// Bars is a plot of distributions.
type Bars struct {
	Width, Height, Thick, TextX string
	Rows                        []Bar
}

func (s *SetReport) shares() Bars {
	systems := s.own()
	out := Bars{Width: at(labelWidth + plotWidth + valueWidth), Height: at(rowHeight * float64(len(systems)+1)), Thick: at(rowHeight - 5), TextX: at(labelWidth - 8)}
	add := func(name string, parts map[schema.Gap]metrics.Part) {
		top := rowHeight * float64(len(out.Rows))
		b := Bar{Name: name, Y: at(top), TextY: at(top + rowHeight/2 + 2)}
		x := labelWidth
		for _, g := range schema.Gaps() {
			share, _ := parts[g].Share.Get()
			width := share * (plotWidth + valueWidth)
			if width > 0 {
				b.Pieces = append(b.Pieces, Piece{at(x), at(width), string(g), fmt.Sprintf("%s: %s %d (%s %%)", name, g, parts[g].N, tenths(share))})
			}
			x += width
		}
		out.Rows = append(out.Rows, b)
	}
	add("gold", s.Gold)
	for _, y := range systems {
		add(y.Name, y.Predicted)
	}
	return out
}
