package filter

import (
	"time"

	"spamsim/store"
)

// Kind is what a verdict says. The zero value is Clean: an oversight delivers mail.
type Kind uint8

// The kinds of verdict.
const (
	Clean   Kind = iota
	Bulk         // one of many near-copies
	Abstain      // too little to judge, with the reason
	Exempt       // a rule or a ham label says so; Would tells what it had been
	Skipped      // over a size limit, not judged
	Error        // own failure: the message passes unjudged
)

// String returns the word of the header, the log and the counters.
func (k Kind) String() string {
	return [...]string{"clean", "bulk", "abstain", "exempt", "skipped", "error"}[k]
}

// Label is what people said of a cluster.
type Label = store.Label

// The labels.
const (
	None = store.None
	Spam = store.Spam
	Ham  = store.Ham
)

// A Verdict is what the filter says of one message.
type Verdict struct {
	Kind       Kind
	Reason     string  // a stable word: "short", "ham", "outbound", ...; "" where the kind says all
	Would      Kind    // for Exempt: what it would have been
	Sigma      float64 // normal deviate; meaningful where Judged
	Threshold  float64
	Judged     bool   // Sigma and what follows were measured against a stored cluster
	Nilsimsa   int    // similarity to the cluster's code, -128..128
	SimHash    int    // Hamming distance of the 64-bit fingerprints, 0..64
	Cluster    string // id in hex; "" where none was near
	Copies     int
	Senders    Count
	Nets       Count
	Recipients Count
	Label      Label
	Seal       string // that the message was counted by this site; "" where it was not, or cannot be told from another
}

// A Count is a number of distinct things, exact to 64.
type Count = store.Count

// An Envelope is what a front door knows of a transaction.
type Envelope struct {
	ClientAddr    string // IP address of the sending host in text, "" where unknown
	Helo          string
	Sender        string // MAIL FROM without angle brackets; "" is the null sender
	Recipients    []string
	QueueID       string // for the log
	Door          string // "smtp", "milter", "dccifd", "check"
	Authenticated bool   // the client gave a password or certificate
	Time          time.Time
}
