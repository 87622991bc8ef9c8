// Package control is how commands reach the clusters: through the daemon that holds the store, by HTTP on a Unix
// socket beside it, or over the store itself where no daemon runs. Both are a Service.
//
//	POST /check[?PARAMETERS]        a message in, a Line out: for programs of others
//	POST /v1/check[?PARAMETERS]     a message in, a filter.Judgement out
//	POST /v1/explain[?PARAMETERS]   a message in, a filter.Explanation out; nothing is counted
//	POST /v1/train?label=spam|ham   a message in, a filter.Outcome out
//	POST /v1/forget                 a message in, a filter.Outcome out
//	POST /v1/forget/person?as=sender|recipient&address=ADDRESS     store.Forgotten
//	POST /v1/sync                   returns when all that was learnt is on disk
//	GET  /v1/stats                  Stats
//	GET  /v1/settings               the settings in effect by their names, as the file writes them, without secrets
//	GET  /v1/backup                 the store's file as it is now, as octets; cut where something goes wrong amid
//	POST /v1/judge?count=true|false an envelope as a line of JSON and a message behind it in, a filter.Judgement out, as a door
//	                                gets it: what a daemon asks its successor. It stays as it is
//	POST /v1/handled                nothing: the body is a Handled, of which the daemon writes a line in its log
//	POST /v1/upgrade                Upgraded, once the successor takes mail
//	POST /v1/compact                JSON values, one a line: how far the compaction is, at last a Compaction with its end
//	GET  /v1/campaigns?view=live|size|newest|labelled&limit=N      store.Campaign, a list; limit 0 is all
//	GET  /v1/campaigns/ID                                          store.Detail
//	POST /v1/campaigns/ID/label?label=spam|ham|none[&name=NAME]    store.Campaign, as it is then
//	POST /v1/campaigns/ID/drop                                     how many messages were forgotten
//
// The parameters are learn=true, to count the message, and what is known of its envelope, in the place of what its header
// suggests: sender, recipient (once for each), client (an IP address), helo. The calls below /v1 are those of spamsim's
// own commands and change with them; /check does not.
//
// Bodies of answers are JSON. What goes wrong is {"error": TEXT} with status 400 (wrong request), 404 (no such
// cluster), 413 (message over the limit), 503 (not now: Temporary) or 500 (another own failure). Who may connect is decided by the socket's mode: its owner and group.
package control

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
	"spamsim/store"
	"spamsim/store/replica"
)

// Errors of a Service.
var (
	// ErrUnavailable is a daemon that does not answer, or that stops answering.
	ErrUnavailable = errors.New("the daemon does not answer")
	// ErrTooLarge is a message over the size that is judged.
	ErrTooLarge = errors.New("message is larger than limits.max_judged_size")
	// ErrNotNow is a daemon that cannot do now what it may do later.
	ErrNotNow = errors.New("the daemon says")
)

// Temporary tells whether the same request may succeed later.
func Temporary(err error) bool {
	return slices.ContainsFunc([]error{store.ErrInUse, store.ErrCompacting, ErrUnavailable, ErrNotNow, syscall.EADDRINUSE, syscall.ENOSPC,
		syscall.EDQUOT, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}, func(e error) bool { return errors.Is(err, e) })
}

// A Service judges and learns. Its methods may be called from many goroutines.
type Service interface {
	// Check judges a message; it counts only if the Ask says so.
	Check(ctx context.Context, raw []byte, ask Ask) (filter.Judgement, error)
	// Explain says why a message is judged as it is; it counts nothing, whatever the Ask says.
	Explain(ctx context.Context, raw []byte, ask Ask) (filter.Explanation, error)
	// Train learns a message, which is on disk once Sync returned.
	Train(ctx context.Context, raw []byte, l filter.Label) (filter.Outcome, error)
	// Forget takes a message's contribution back; on disk once Sync returned.
	Forget(ctx context.Context, raw []byte) (filter.Outcome, error)
	// ForgetPerson takes back what is stored of an address; on disk once Sync returned.
	ForgetPerson(ctx context.Context, as store.Role, address string) (store.Forgotten, error)
	// Sync returns when all that was counted before is on disk.
	Sync(ctx context.Context) error
	// Stats returns the counters of now.
	Stats(ctx context.Context) (Stats, error)
	// Settings returns the settings in effect by their names.
	Settings(ctx context.Context) (map[string]string, error)
	// Backup writes the store's file as it is now, with all that was counted before, and returns its size.
	Backup(ctx context.Context, w io.Writer) (octets int64, err error)
	// Compact makes the store's file as small as what it holds. Tell hears how many octets were copied, of about how many.
	Compact(ctx context.Context, tell func(done, of int64)) (store.Compacted, error)

	// Campaigns returns the first limit campaigns of a view, 0 for all.
	Campaigns(ctx context.Context, v store.View, limit int) ([]store.Campaign, error)
	// Campaign tells of one. The errors of this and the next wrap store.ErrNoCluster where there is none.
	Campaign(ctx context.Context, id string) (store.Detail, error)
	// Label sets what people say of a campaign, and its name unless it is nil; on disk once Sync returned.
	Label(ctx context.Context, id string, l filter.Label, name *string) (store.Campaign, error)
	// Drop forgets a campaign and returns how many messages that were; on disk once Sync returned.
	Drop(ctx context.Context, id string) (messages int, err error)
}

// Stats say what a store holds and what a daemon did.
type Stats struct {
	Store    string        `json:"store"`   // the file
	Version  string        `json:"version"` // of the program that answered
	Since    *time.Time    `json:"since"`   // when the daemon began; null where none runs
	Held     Held          `json:"held"`
	Sigma    []ScriptStat  `json:"sigma"`    // how true it was on recent mail that nothing resembled
	Messages []VerdictStat `json:"messages"` // judged by the daemon since then
	Exempt   []RuleStat    `json:"exempt"`   // how often each exempt rule matched since then
	Would    *Would        `json:"would"`    // null where the daemon enforces, or none runs

	Peers *replica.Status `json:"peers,omitempty"` // where the daemon has any

	// Doors are the counters of each door since then, by the door's name and the counter's.
	Doors map[string]map[string]int64 `json:"doors"`
}

// Held is what a store holds.
type Held struct {
	Clusters  int   `json:"clusters"`
	Campaigns int   `json:"campaigns"` // clusters of two copies or more
	Messages  int   `json:"messages"`  // counted and not yet expired
	Bytes     int64 `json:"bytes"`     // of the file
	Free      int64 `json:"free"`      // octets of it that hold nothing now
	Commits   int64 `json:"commits"`   // since it was opened
	Failures  int64 `json:"failures"`  // commits that went wrong since then, each tried again
}

// A ScriptStat says how often the best match of recent messages of one script that were no copies reached a sigma of 1, 2
// and 2.5: 15.87, 2.28 and 0.62 % where sigma is true.
type ScriptStat struct {
	Script   string  `json:"script"`
	Messages int     `json:"messages"`
	Scale    float64 `json:"scale"` // of the null distribution; 1 is the shipped figure
	Over     [3]int  `json:"over"`
}

// Would is what mode enforce would have done with the messages that came since the daemon began, but for what scanners asked
// about.
type Would struct {
	Bulk        string `json:"bulk"` // the word of [actions]
	Spam        string `json:"spam"`
	Messages    int64  `json:"messages"`
	Found       int64  `json:"found"` // of verdict bulk
	Quarantined int64  `json:"quarantined"`
	PutOff      int64  `json:"put_off"`
	Rejected    int64  `json:"rejected"`
	Redirected  int64  `json:"redirected"`
	Prefixed    int64  `json:"prefixed"` // that go on, or are quarantined, with a prefix before their Subject
	Exempt      int64  `json:"exempt"`   // exempt ones that would have been bulk; nothing would have been done with them
}

// A RuleStat counts the messages that an exempt rule let pass.
type RuleStat struct {
	Rule string `json:"rule"`
	N    int64  `json:"n"`
}

// A VerdictStat counts the messages of one door, verdict and reason.
type VerdictStat struct {
	Door    string `json:"door"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	N       int64  `json:"n"`
}

// A Local is the Service over an open store.
type Local struct {
	Filter  func() *filter.Filter // of now: a reload may replace it
	Store   *store.Store
	Trusted []netip.Prefix // hosts whose Received fields tell of the client before them
	Limit   int64          // octets of a message, at least 1
	Now     func() time.Time
	About   func() Stats                      // all of Stats but Held
	Config  func() (map[string]string, error) // config.Values of now
}

func (l *Local) envelope(raw []byte) (*filter.Envelope, error) {
	if int64(len(raw)) > l.Limit {
		return nil, ErrTooLarge
	}
	env := source.ReadHeader(raw).Envelope(l.Trusted)
	env.Time = l.Now()
	return env, nil
}

// Check judges a message as if it came now, with the envelope that is told, else that which its header suggests.
func (l *Local) Check(ctx context.Context, raw []byte, ask Ask) (filter.Judgement, error) {
	env, err := l.envelope(raw)
	if err != nil {
		return filter.Judgement{}, err
	}
	ask.fill(env)
	if ask.Learn {
		return l.Filter().Check(ctx, env, raw), nil
	}
	return l.Filter().Peek(ctx, env, raw), nil
}

// Explain says why a message is judged as it is, as if it came now.
func (l *Local) Explain(_ context.Context, raw []byte, ask Ask) (filter.Explanation, error) {
	env, err := l.envelope(raw)
	if err != nil {
		return filter.Explanation{}, err
	}
	ask.fill(env)
	return l.Filter().Explain(env, raw)
}

// Train learns a message.
func (l *Local) Train(_ context.Context, raw []byte, label filter.Label) (filter.Outcome, error) {
	env, err := l.envelope(raw)
	if err != nil {
		return filter.Outcome{}, err
	}
	return l.Filter().Train(env, raw, label)
}

// Forget takes a message's contribution back.
func (l *Local) Forget(_ context.Context, raw []byte) (filter.Outcome, error) {
	env, err := l.envelope(raw)
	if err != nil {
		return filter.Outcome{}, err
	}
	return l.Filter().Forget(env, raw)
}

// Sync writes what is not on disk.
func (l *Local) Sync(context.Context) error { return l.Store.Sync() }

// Settings returns the settings in effect.
func (l *Local) Settings(context.Context) (map[string]string, error) { return l.Config() }

// Stats returns the counters.
func (l *Local) Stats(context.Context) (Stats, error) {
	s := l.About()
	h := l.Store.Stats()
	s.Held = Held{h.Clusters, h.Campaigns, h.Messages, h.Bytes, h.Free, h.Commits, h.Failures}
	s.Sigma = []ScriptStat{}
	for _, c := range l.Store.Calibrations() {
		s.Sigma = append(s.Sigma, ScriptStat{c.Script.String(), c.Messages, c.Scale, c.Over})
	}
	return s, nil
}
