package main

import (
	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/configs"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or try the configuration",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(
		newConfigDiff(a),
		&cobra.Command{
			Use:   "print",
			Short: "Print the settings in effect, each with its origin",
			Args:  usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				conf, err := a.load()
				if err != nil {
					return err
				}
				return conf.Print(a.stdout)
			},
		},
		&cobra.Command{
			Use:   "check [FILE]",
			Short: "Try a configuration: FILE, or the one in effect",
			Args:  usageArgs(cobra.MaximumNArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error {
				conf, err := config.Load(append(args, a.configFile)[0], a.env)
				if err != nil {
					return err
				}
				return a.printf("%s: no mistakes\n", conf.File)
			},
		},
		&cobra.Command{
			Use:   "sample",
			Short: "Print the built-in configuration, with all settings explained",
			Args:  usageArgs(cobra.NoArgs),
			RunE:  func(*cobra.Command, []string) error { return a.printf("%s", configs.Sample) },
		},
	)
	return c
}
