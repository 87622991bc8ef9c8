package filter

import "context"

// A CheckFunc judges one message for a front door. It never fails: an own failure is a Judgement whose
// verdict is Error, and the message passes. It may be called from many goroutines.
type CheckFunc func(ctx context.Context, env *Envelope, raw []byte) Judgement

// A Judgement is what a front door does with a message.
type Judgement struct {
	Verdict Verdict
	Action  Action
	Reply   string   // for Reject and TempFail: "550 5.7.1 text", ASCII, one line
	Add     []Field  // to be put at the very top, in order
	Strip   []string // names of which every incoming field is removed, any case
	Subject string   // a prefix for the Subject, printable ASCII; "" leaves it as it is. A missing Subject is added
}

// Action is what is done with a message beside tagging it.
type Action uint8

// The actions.
const (
	Tag Action = iota
	Quarantine
	Reject
	TempFail
	Redirect // it goes on with a field that tells the MTA where to: WithRedirect
)

// A Field is a header field to add. Value begins with a space and is folded with LF TAB, as milter wants it.
type Field struct{ Name, Value string }
