package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

// A relay is the daemon's Service for its control socket and for those who watch: the one over its own store, and once it has
// a successor that one's. While neither is to be had, who asks waits.
type relay struct {
	gate gate
	now  control.Service // changes while the gate is shut

	judge    *judging
	upgrades chan upgradeRequest // to the daemon's own loop
	ended    chan struct{}       // closed when that ends
}

// errEnding is an upgrade of a daemon that ends.
var errEnding = errors.New("the daemon is ending")

// through asks the service of now.
func through[T any](ctx context.Context, r *relay, ask func(control.Service) (T, error)) (out T, err error) {
	if err := r.gate.enter(ctx); err != nil {
		return out, err
	}
	defer r.gate.leave()
	return ask(r.now)
}

// Judge judges a message of the predecessor's doors.
func (r *relay) Judge(ctx context.Context, env *filter.Envelope, raw []byte, count bool) (filter.Judgement, error) {
	if count {
		return r.judge.check(ctx, env, raw), ctx.Err()
	}
	return r.judge.peek(ctx, env, raw), ctx.Err()
}

// Upgrade has the daemon's loop do it.
func (r *relay) Upgrade(ctx context.Context) (control.Upgraded, error) {
	reply := make(upgradeRequest, 1) // room for an answer that nobody waits for any more
	select {
	case r.upgrades <- reply:
	case <-r.ended:
		return control.Upgraded{}, errEnding
	case <-ctx.Done():
		return control.Upgraded{}, ctx.Err()
	}
	select {
	case done := <-reply:
		return done.Upgraded, done.err
	case <-ctx.Done():
		return control.Upgraded{}, ctx.Err()
	}
}

// The methods of control.Service.

func (r *relay) Check(ctx context.Context, raw []byte, ask control.Ask) (filter.Judgement, error) {
	return through(ctx, r, func(s control.Service) (filter.Judgement, error) { return s.Check(ctx, raw, ask) })
}

func (r *relay) Explain(ctx context.Context, raw []byte, ask control.Ask) (filter.Explanation, error) {
	return through(ctx, r, func(s control.Service) (filter.Explanation, error) { return s.Explain(ctx, raw, ask) })
}

func (r *relay) Train(ctx context.Context, raw []byte, l filter.Label) (filter.Outcome, error) {
	return through(ctx, r, func(s control.Service) (filter.Outcome, error) { return s.Train(ctx, raw, l) })
}

func (r *relay) Forget(ctx context.Context, raw []byte) (filter.Outcome, error) {
	return through(ctx, r, func(s control.Service) (filter.Outcome, error) { return s.Forget(ctx, raw) })
}

func (r *relay) ForgetPerson(ctx context.Context, as store.Role, address string) (store.Forgotten, error) {
	return through(ctx, r, func(s control.Service) (store.Forgotten, error) { return s.ForgetPerson(ctx, as, address) })
}

func (r *relay) Sync(ctx context.Context) error {
	_, err := through(ctx, r, func(s control.Service) (struct{}, error) { return struct{}{}, s.Sync(ctx) })
	return err
}

func (r *relay) Stats(ctx context.Context) (control.Stats, error) {
	return through(ctx, r, func(s control.Service) (control.Stats, error) { return s.Stats(ctx) })
}

func (r *relay) Settings(ctx context.Context) (map[string]string, error) {
	return through(ctx, r, func(s control.Service) (map[string]string, error) { return s.Settings(ctx) })
}

func (r *relay) Backup(ctx context.Context, w io.Writer) (int64, error) {
	return through(ctx, r, func(s control.Service) (int64, error) { return s.Backup(ctx, w) })
}

func (r *relay) Compact(ctx context.Context, tell func(done, of int64)) (store.Compacted, error) {
	return through(ctx, r, func(s control.Service) (store.Compacted, error) { return s.Compact(ctx, tell) })
}

func (r *relay) Campaigns(ctx context.Context, v store.View, limit int) ([]store.Campaign, error) {
	return through(ctx, r, func(s control.Service) ([]store.Campaign, error) { return s.Campaigns(ctx, v, limit) })
}

func (r *relay) Campaign(ctx context.Context, id string) (store.Detail, error) {
	return through(ctx, r, func(s control.Service) (store.Detail, error) { return s.Campaign(ctx, id) })
}

func (r *relay) Label(ctx context.Context, id string, l filter.Label, name *string) (store.Campaign, error) {
	return through(ctx, r, func(s control.Service) (store.Campaign, error) { return s.Label(ctx, id, l, name) })
}

func (r *relay) Drop(ctx context.Context, id string) (int, error) {
	return through(ctx, r, func(s control.Service) (int, error) { return s.Drop(ctx, id) })
}

// Handled writes the line of a message that left the quarantine.
func (r *relay) Handled(ctx context.Context, h control.Handled) error {
	r.judge.log.LogAttrs(ctx, slog.LevelInfo, "quarantine",
		slog.String("what", h.What), slog.String("name", h.Name), slog.String("sender", h.Sender),
		slog.Int("recipients", h.Done), slog.Int("left", h.Left), slog.String("id", h.ID), slog.String("message_id", h.MessageID))
	return nil
}
