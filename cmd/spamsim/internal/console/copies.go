package console

import (
	"slices"

	"spamsim/milter/filter"
)

// Bounds of the messages that are kept in memory.
const (
	maxCopies     = 8        // messages of one campaign, the last ones
	maxCopy       = 64 << 10 // octets of a message that is kept
	maxCopyOctets = 8 << 20  // of all messages that are kept
	maxAllCopies  = 1000
)

// A kept message is one of the last copies of a campaign, with the envelope that it came in.
type kept struct {
	entry    Entry
	envelope filter.Envelope
	raw      []byte
}

// keep takes a copy, in the place of the oldest of its campaign where there are enough of those, and of the oldest of all
// where there is no more room.
func (r *Recent) keep(k *kept) {
	own, first := 0, -1
	for i := range r.copies {
		if r.copies[i].entry.Verdict.Cluster == k.entry.Verdict.Cluster {
			if own++; first < 0 {
				first = i
			}
		}
	}
	if own >= maxCopies {
		r.forget(first)
	}
	r.copies = append(r.copies, k)
	r.octets += len(k.raw)
	for r.octets > maxCopyOctets || len(r.copies) > maxAllCopies {
		r.forget(0)
	}
}

func (r *Recent) forget(i int) {
	r.octets -= len(r.copies[i].raw)
	r.copies = slices.Delete(r.copies, i, i+1)
}

// message returns the newest copy with a Message-ID that is kept, nil where there is none.
func (r *Recent) message(id string) *kept {
	id = clipID(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.copies) - 1; i >= 0; i-- {
		if r.copies[i].entry.MessageID == id {
			return r.copies[i]
		}
	}
	return nil
}

// ofCampaign returns the copies of a campaign, the newest first.
func (r *Recent) ofCampaign(id string) (out []*kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.copies) - 1; i >= 0; i-- {
		if r.copies[i].entry.Verdict.Cluster == id {
			out = append(out, r.copies[i])
		}
	}
	return out
}
