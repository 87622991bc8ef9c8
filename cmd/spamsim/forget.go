package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

func newForget(a *app) *cobra.Command {
	var asJSON bool
	var p people
	c := &cobra.Command{
		Use:   "forget {PATH...|--sender ADDRESS|--recipient ADDRESS}",
		Short: "Take back what was learnt or counted of messages, or of a person",
		Long: `Takes a message's contribution back, be it learnt or counted: the copies, senders and recipients of its
cluster are as if it had not come.

With --sender or --recipient, which may be repeated, it takes back all messages that are remembered of an envelope
address: those that it sent, or that went to it alone, and removes it from the counts of all others. "spamsim help privacy"
says what cannot be taken back.`,
		Example: "  spamsim forget newsletter.eml\n  spamsim forget --recipient user@site.example",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if p.named() {
				return a.forgetPeople(cmd.Context(), p, paths, asJSON)
			}
			if len(paths) == 0 {
				return usage(errors.New("name a file, or - for standard input"))
			}
			l := &learning{app: a, verb: "forgotten", json: asJSON}
			return l.run(cmd.Context(), paths, func(ctx context.Context, s control.Service, raw []byte) (filter.Outcome, error) {
				return s.Forget(ctx, raw)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "print the counts as JSON")
	f.StringArrayVar(&p.senders, "sender", nil, "forget `ADDRESS` as a sender")
	f.StringArrayVar(&p.recipients, "recipient", nil, "forget `ADDRESS` as a recipient")
	a.storeFlag(c)
	return c
}

// people are the addresses that a command is to forget.
type people struct{ senders, recipients []string }

func (p *people) named() bool { return len(p.senders)+len(p.recipients) > 0 }

// A personLine is what forget prints of an address as JSON.
type personLine struct {
	Address  string `json:"address"`
	As       string `json:"as"`
	Messages int    `json:"messages"` // taken back whole
	Spared   int    `json:"spared"`   // that stay counted, without this recipient
	Clusters int    `json:"clusters"` // that lost something
	Dropped  int    `json:"dropped"`  // of those, the ones that nothing is left of
	Subjects int    `json:"subjects"` // that are gone
}

// forgetPeople forgets each of the addresses and says what was taken back.
func (a *app) forgetPeople(ctx context.Context, p people, paths []string, asJSON bool) error {
	if len(paths) > 0 {
		return usage(errors.New("name files or people, not both"))
	}
	conf, err := a.load()
	if err != nil {
		return err
	}
	return a.use(conf, toWrite, func(s control.Service) error {
		for _, who := range []struct {
			word      string
			as        store.Role
			addresses []string
		}{{"sender", store.Sender, p.senders}, {"recipient", store.Recipient, p.recipients}} {
			for _, address := range who.addresses {
				address = strings.Trim(address, "<> ")
				if address == "" {
					return usage(fmt.Errorf("--%s wants an address", who.word))
				}
				n, err := s.ForgetPerson(ctx, who.as, address)
				if err := firstError(err, s.Sync(ctx)); err != nil {
					return err
				}
				if err := a.tellPerson(personLine{address, who.word, n.Messages, n.Spared, n.Clusters, n.Dropped, n.Subjects}, asJSON); err != nil {
					return err
				}
			}
		}
		a.note("not taken back: what the texts left in the features of clusters that go on, backups, the log, and mail itself (spamsim help privacy)")
		return nil
	})
}

func (a *app) tellPerson(l personLine, asJSON bool) error {
	if asJSON {
		return a.json(l)
	}
	text := fmt.Sprintf("%s as %s: %d messages forgotten", l.Address, l.As, l.Messages)
	if l.As == "recipient" {
		text += fmt.Sprintf(", %d that went to others too stay counted without it", l.Spared)
	}
	return a.printf("%s; of %d clusters %d are gone, and %d subjects\n", text, l.Clusters, l.Dropped, l.Subjects)
}
