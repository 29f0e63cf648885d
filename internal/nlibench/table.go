package nlibench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stepgap/stepgap/internal/docblock"
)

// rows are the peers that ran, ours first, a row each below a row of heads.
func (r *Report) rows() [][]string {
	out := [][]string{{"peer", "pairs/CPU-s", "pairs/s", "ours to it", "wall", "padding", "pairs/batch", "p50 ms", "p99 ms", "largest difference"}}
	names := []string{ours}
	for _, p := range rivals {
		names = append(names, p.name)
	}
	for _, n := range names {
		p := r.Peers[n]
		if p == nil || p.PairsPerCPUSecond == 0 {
			continue
		}
		out = append(out, []string{
			n, fmt.Sprintf("%.1f", p.PairsPerCPUSecond), fmt.Sprintf("%.1f", p.PairsPerSecond), fmt.Sprintf("%.3f", p.Ratio),
			fmt.Sprintf("%.3f", p.WallRatio), percent(p.PaddingShare), orNone("%.1f", p.PairsPerRun), number(p.P50MS), number(p.P99MS), fmt.Sprintf("%.1g", p.MaxDifference),
		})
	}
	return out
}

// notes are sentences about the tables.
func (r *Report) notes() []string {
	t := r.Load.Tokens
	out := []string{
		fmt.Sprintf("%d requests of %d pairs in all, %.1f tokens a pair (5 %% below %d, half below %d, 95 %% below %d, longest %d); %d rounds; %d requests under way when saturated; half load %.1f requests a second.",
			r.Load.Requests, r.Load.Pairs, r.Load.Mean, t[0], t[1], t[2], t[3], r.Setting.Rounds, r.Load.Clients, r.Setting.HalfRate),
		fmt.Sprintf("%s, %d thread; model %s, hash %s.", r.Setting.Processor, r.Setting.Threads, r.Setting.Model, r.Setting.ModelHash),
	}
	for _, name := range slices.Sorted(maps.Keys(r.Peers)) {
		p := r.Peers[name]
		var with []string
		for _, library := range slices.Sorted(maps.Keys(p.Versions)) {
			with = append(with, library+" "+p.Versions[library])
		}
		out = append(out, fmt.Sprintf("%s: %s (%s).", name, p.What, strings.Join(with, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
		out = append(out, fmt.Sprintf("%s: not measured: %s", name, r.Missing[name]))
	}
	return out
}

func (r *Report) repeatRows() [][]string {
	out := [][]string{{"cache and joining", "groups", "rollouts", "pairs asked", "run", "repeated", "pairs/CPU-s with", "without", "gain"}}
	for _, s := range r.Repeats {
		out = append(out, []string{
			s.Name, fmt.Sprint(s.Groups), fmt.Sprint(s.Rollouts), fmt.Sprint(s.Asked), fmt.Sprint(s.Computed),
			fmt.Sprintf("%.1f%%", 100*(1-float64(s.Computed)/float64(s.Asked))), fmt.Sprintf("%.1f", s.With), fmt.Sprintf("%.1f", s.Without), fmt.Sprintf("%.2f", s.With/s.Without),
		})
	}
	return out
}

// WriteTable writes the figures for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, table := range [][][]string{r.rows(), r.repeatRows()} {
		for _, row := range table {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	_, err := fmt.Fprintln(w, strings.Join(r.notes(), "\n"))
	return err
}

// RenewTable renews the tables in a Markdown file.
func (r *Report) RenewTable(path string) error {
	out := markdown(r.rows()) + "\n" + markdown(r.repeatRows()) + "\n"
	for _, n := range r.notes() {
		out += "- " + n + "\n"
	}
	return docblock.Renew(path, "bench-nli", out)
}

func markdown(rows [][]string) string {
	out := ""
	for i, row := range rows {
		out += "| " + strings.Join(row, " | ") + " |\n"
		if i == 0 {
			out += strings.Repeat("|---", len(row)) + "|\n"
		}
	}
	return out
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *v)
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100**v)
}

func orNone(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
