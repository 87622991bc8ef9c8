package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"spamsim/nilsimsa"
	"spamsim/simhash"
)

func newCompare(a *app) *cobra.Command {
	var mail, asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two files or codes",
		Long: `Compares two files, or two Nilsimsa codes of 64 hexadecimal digits. The pairwise sigma is the published rule, score / 8:
true of random codes, not of mail, whose codes resemble one another by nature. What spamsim judges by is shown by check.`,
		Example: "  spamsim compare a.eml b.eml",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.compare(args[0], args[1], mail, asJSON)
		},
	}
	c.Flags().BoolVar(&mail, "mail", false, "compare the messages' texts, not the bytes of the files")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// likeness is what compare prints.
type likeness struct {
	Nilsimsa int     `json:"nilsimsa"`       // -128 to 128
	Bits     int     `json:"bits"`           // that differ, of 256
	Alike    float64 `json:"alike"`          // share of bits that are equal
	Sigma    float64 `json:"pairwise_sigma"` // score / 8
	SimHash  *int    `json:"simhash"`        // bits that differ, of 64; null where a code was given
}

func (a *app) compare(first, second string, mail, asJSON bool) error {
	x, err := a.codesOfArg(first, mail)
	if err != nil {
		return err
	}
	y, err := a.codesOfArg(second, mail)
	if err != nil {
		return err
	}
	score := x.nilsimsa.Similarity(y.nilsimsa)
	l := likeness{Nilsimsa: score, Bits: 128 - score, Alike: float64(128+score) / 256, Sigma: float64(score) / 8}
	if x.known && y.known {
		d := simhash.Distance(x.simhash, y.simhash)
		l.SimHash = &d
	}
	if asJSON {
		return a.json(l)
	}
	text := fmt.Sprintf("Nilsimsa %d, %d bits differ, %.1f %% alike, pairwise sigma %.1f\n", l.Nilsimsa, l.Bits, 100*l.Alike, l.Sigma)
	if l.SimHash != nil {
		text += fmt.Sprintf("SimHash %d of 64 bits differ\n", *l.SimHash)
	}
	return a.printf("%s", text)
}

// codesOfArg reads a file, or else a code.
func (a *app) codesOfArg(arg string, mail bool) (codes, error) {
	if _, err := os.Stat(arg); err != nil && arg != "-" {
		if code, err := nilsimsa.Parse(arg); err == nil {
			return codes{nilsimsa: code}, nil
		}
	}
	raw, err := a.readFile(arg)
	if err != nil {
		return codes{}, err
	}
	return codesOf(raw, mail), nil
}
