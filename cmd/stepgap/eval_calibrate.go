package main

import "github.com/spf13/cobra"

func evalCalibrateCommand() *cobra.Command { return &cobra.Command{Use: "calibrate"} }
