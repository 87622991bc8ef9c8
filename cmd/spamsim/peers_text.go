package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"spamsim/cmd/spamsim/internal/doctor"
	"spamsim/store/replica"
)

// peersInShort is one line about the peers.
func peersInShort(s *replica.Status) string {
	lives, differ := 0, 0
	for _, p := range s.Peers {
		if p.Lives {
			lives++
			if !p.Same {
				differ++
			}
		}
	}
	if !s.Connected {
		return fmt.Sprintf("the broker does not answer: %s; %d entries are held", printable(s.Error), s.Entries)
	}
	return fmt.Sprintf("%d nodes live, %d of them hold something else than this one at this moment; %d entries", lives, differ, s.Entries)
}

// peers prints how this node stands with the others.
func (a *app) peers(s *replica.Status) error {
	if s == nil {
		return a.printf("no peers: the daemon has no peers.url, or none runs\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "node      %s, digest %s of %d entries; the broker has %d\n", s.Node, s.Digest, s.Entries, s.State)
	if s.Connected {
		fmt.Fprintf(&b, "broker    connected since %s, %s behind\n", s.Since.Local().Format(time.DateTime), milli(s.Lag))
	} else {
		fmt.Fprintf(&b, "broker    does not answer: %s\n", printable(s.Error))
	}
	var events []string
	for _, e := range s.Events() {
		events = append(events, fmt.Sprintf("%s %d", e.Name, e.N))
	}
	fmt.Fprintf(&b, "entries   %s\n\n", strings.Join(events, ", "))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "node\tstate\tlag\tclock\tentries\tdigest\tversion\tname")
	for _, p := range s.Peers {
		state := "lives"
		if !p.Lives {
			state = "gone since " + p.Seen.Local().Format(time.DateTime)
		} else if !p.Same {
			state = "differs"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", p.Node, state, milli(p.Lag), signedTime(p.Clock), p.Entries, p.Digest, printable(p.Version), printable(p.Name))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return a.printf("%s", b.String())
}

func milli(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// signedTime is how far a clock is ahead of the broker's.
func signedTime(d time.Duration) string {
	if d >= 0 {
		return "+" + milli(d).String()
	}
	return milli(d).String()
}

// clockOff is how far clocks may differ before it is worth a word.
const clockOff = time.Minute

// peersFindings says what is wrong between peers, for doctor.
func peersFindings(s *replica.Status) (out []doctor.Finding) {
	if s == nil {
		return nil
	}
	add := func(l doctor.Level, format string, args ...any) {
		out = append(out, doctor.Finding{Leg: "peers", Level: l, Text: fmt.Sprintf(format, args...)})
	}
	if s.Connected {
		add(doctor.Good, "the broker answers; %d nodes, %d entries", len(s.Peers), s.Entries)
	} else {
		add(doctor.Lost, "the broker does not answer, so that this node learns nothing of the others: %s", s.Error)
	}
	if s.Forged > 0 {
		add(doctor.Lost, "%d entries are of another key: peers.key_file is not the same on all nodes, or somebody else writes to the broker", s.Forged)
	}
	if s.Twins > 0 {
		add(doctor.Danger, "another node has this one's number: its store was copied from this one. Move one of the two stores away")
	}
	if s.Newer > 0 {
		add(doctor.Lost, "%d entries are of a later version of spamsim: update this node", s.Newer)
	}
	if s.Clock > clockOff || s.Clock < -clockOff {
		add(doctor.Lost, "this machine's clock is %s off the broker's", signedTime(s.Clock))
	}
	for _, p := range s.Peers {
		peerFindings(s, &p, add)
	}
	return out
}

// longGone is how long a node may be away before it is worth a word.
const longGone = 10 * time.Minute

func peerFindings(s *replica.Status, p *replica.Peer, add func(doctor.Level, string, ...any)) {
	if p.Node == s.Node {
		return
	}
	switch {
	case !p.Lives && time.Since(p.Seen) > longGone:
		add(doctor.Lost, "node %s (%s) was last heard of at %s", p.Node, p.Name, p.Seen.Local().Format(time.DateTime))
		return
	case !p.Lives:
		return
	}
	own := ""
	for _, x := range s.Peers {
		if x.Node == s.Node {
			own = x.Background
		}
	}
	if p.Background != own {
		add(doctor.Lost, "node %s (%s) has another background (%s, here %s), so that sigma differs: copy the file to all nodes", p.Node, p.Name, p.Background, own)
	}
	if p.Version != version() {
		add(doctor.Good, "node %s (%s) runs version %s, this is %s", p.Node, p.Name, p.Version, version())
	}
	if p.Clock > clockOff || p.Clock < -clockOff {
		add(doctor.Lost, "the clock of node %s (%s) is %s off the broker's", p.Node, p.Name, signedTime(p.Clock))
	}
}
