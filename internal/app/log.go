package app

import (
	"io"
	"log/slog"
)

// NewLogger writes to w as cfg says.
func NewLogger(w io.Writer, cfg Config) *slog.Logger {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	opts := &slog.HandlerOptions{Level: levels[cfg.LogLevel]}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
