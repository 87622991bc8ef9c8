package main

import "github.com/spf13/cobra"

// groups are the commands as the help lists them.
var groups = []struct {
	id, title string
	commands  []func(*app) *cobra.Command
}{
	{"mail", "Filter mail:", []func(*app) *cobra.Command{newServe, newDemo, newCheck, newTrain, newForget, newQuarantine}},
	{"look", "Look into mail:", []func(*app) *cobra.Command{newExplain, newCampaigns, newBacktest, newGroup, newCompare, newCode}},
	{"about", "Set up and find out:", []func(*app) *cobra.Command{newStats, newTop, newDoctor, newBackup, newCompact, newUpgrade, newCalibrate, newConfig, newBench, newMan, newVersion}},
}
