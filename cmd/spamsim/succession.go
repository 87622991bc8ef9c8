package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/handover"
	"spamsim/milter/filter"
)

// inherit makes ready all that needs no store, tells the predecessor, and returns once its store is closed. Until then that
// one serves, and goes on to where anything is wrong here.
func inherit(ctx context.Context, from *handover.Predecessor, conf *config.Loaded, log *slog.Logger) (*sockets, error) {
	at := &sockets{from.Passed(), from.Opened()}
	for is, l := range at.opened {
		if path, ok := strings.CutPrefix(is.Address, "unix:"); ok {
			at.opened[is] = control.Adopt(l.(*net.UnixListener), path)
		}
	}
	if _, err := readCertificate(conf.TLS, log); err != nil {
		return nil, err
	}
	if err := at.listen(conf); err != nil {
		at.close()
		return nil, err
	}
	if err := from.Tell(handover.Note{Word: handover.Ready, Version: version()}); err != nil {
		return nil, err
	}
	_, err := from.Hear(ctx, handover.Take)
	return at, err
}

// listen listens where the configuration says and the predecessor did not.
func (s *sockets) listen(conf *config.Loaded) error {
	if s.opened == nil {
		s.opened = map[handover.Socket]net.Listener{}
	}
	for _, door := range doorNames {
		if len(s.passed[door]) > 0 {
			continue
		}
		for _, a := range addresses(conf, door) {
			is := handover.Socket{Door: door, Address: a.String()}
			if s.opened[is] != nil {
				continue
			}
			l, err := listen(a)
			if err != nil {
				return fmt.Errorf("%s: %w", door, err)
			}
			s.opened[is] = l
		}
	}
	return nil
}

// succeed tells the predecessor that it may go, and takes over what it leaves: sockets that no door wants are closed.
func (d *daemon) succeed(ctx context.Context, from *handover.Predecessor, at *sockets) error {
	socket := control.SocketOf(d.conf.Load().Store.Path)
	if err := from.Tell(handover.Note{Word: handover.Serving, Control: socket}); err != nil {
		return err
	}
	if err := from.Await(ctx); err != nil {
		return err
	}
	for _, s := range d.spots {
		keep(s.Listener, false)
	}
	for _, l := range at.opened {
		keep(l, false)
	}
	at.passed = nil // they are served
	at.close()
	return nil
}

// mourn waits for the predecessor's end, and counts what passed there unjudged. What it returns ends the wait.
func (d *daemon) mourn(ctx context.Context, from *handover.Predecessor) (enough func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		switch note, err := from.Hear(ctx, handover.Done); {
		case err == nil:
			d.judge.bury(note.Unjudged)
			d.log.Info("the daemon before has ended", "unjudged", sum(note.Unjudged))
		case ctx.Err() == nil:
			d.log.Warn("the daemon before did not say how it ended", "err", err)
		}
	}()
	return func() { cancel(); <-done }
}

// bury counts what the predecessor let pass unjudged, by door.
func (j *judging) bury(unjudged map[string]int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for door, n := range unjudged {
		j.counts[tally{door, filter.Error.String(), reasonUpgrade}] += n
	}
}

func sum(counts map[string]int64) (n int64) {
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}

// reasonUpgrade is that of a message that passed unjudged since its daemon was being replaced.
const reasonUpgrade = "upgrade"

// refer has a message judged by the successor, by its rules.
func (j *judging) refer(ctx context.Context, env *filter.Envelope, raw []byte, count bool) filter.Judgement {
	out, err := j.next.Judge(ctx, env, raw, count)
	switch {
	case ctx.Err() != nil:
		return out // the door waits no more
	case err != nil:
		j.log.Error("the successor does not judge; the message passes", "door", env.Door, "id", env.QueueID, "err", err)
		return j.pass(env, filter.Error, reasonUpgrade)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.handed++
	return out
}

// release drops all that holds the store, since it is closed; f has none. The gate is shut.
func (j *judging) release(f *filter.Filter) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.before != nil {
		addHits(j.earlier, j.before)
		j.before = nil
	}
	old := j.rules.Load()
	addHits(j.earlier, old.filter)
	j.rules.Store(&ruling{f, old.acts, old.compat})
	j.gone = true
}

// regain judges again by itself.
func (j *judging) regain(conf *config.Loaded, f *filter.Filter) {
	j.adopt(conf, f)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gone = false
}

// leftovers are the messages that passed unjudged since the store was let go, by door, and how many the successor judged.
func (j *judging) leftovers() (left map[string]int64, handed int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.left), j.handed
}
