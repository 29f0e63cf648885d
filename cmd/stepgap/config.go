package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
)

func configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the table of all settings (Markdown)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), settingsTable())
			return err
		},
	}
}

// settingsTable is the table of docs/configuration.md.
func settingsTable() string {
	out := "| setting | flag | environment | default | what it is |\n|---|---|---|---|---|\n"
	for _, s := range app.Settings() {
		out += fmt.Sprintf("| `%s` | %s | `%s` | %s | %s |\n", s.Key, code(s.Flag), s.Env, code(s.Default), s.Help)
	}
	return out
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}
