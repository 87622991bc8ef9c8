package smtpproxy

import (
	"fmt"
	"time"
)

// again takes a new connection in the place of one that died.
func (x *exchange) again() error {
	x.remote.close()
	x.pool.server.counters.hopRetried.Add(1)
	r, err := x.pool.dial()
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		r.close()
		return errNotSure
	}
	x.remote, x.sent = r, 0
	return nil
}

func (x *exchange) data() (reply, error) {
	if x.heard < len(x.said) {
		return "", fmt.Errorf("%w: DATA before all answers", errAnswer)
	}
	quiet := time.Since(x.remote.heard)
	r, err := x.remote.ask("DATA")
	if (err != nil || r.code() == 421) && quiet > x.remote.timeouts.Idle && x.repeat() == nil {
		r, err = x.remote.ask("DATA")
	}
	switch {
	case err != nil:
		return "", err
	case r.code() == 354 && x.remote.r.Buffered() > 0:
		return "", fmt.Errorf("%w to DATA: more than one", errAnswer)
	case r.code() == 354:
		x.inData = true
	case r[0] < '4':
		return "", fmt.Errorf("%w to DATA: %s", errAnswer, r.line())
	}
	return r, nil
}

// repeat says the envelope to a new connection, as far as it was accepted. It must be accepted again as it was: the
// client was told so.
func (x *exchange) repeat() error {
	if err := x.again(); err != nil {
		return err
	}
	accepted := x.said[:0]
	for _, s := range x.said {
		if s.ok {
			accepted = append(accepted, s)
		}
	}
	x.said, x.heard, x.taken, x.ready = accepted, 0, 0, nil
	for x.heard < len(x.said) {
		if err := x.hear(); err != nil {
			return err
		}
		if s := x.said[x.heard-1]; !s.ok && s.kind != sayForward {
			return fmt.Errorf("%w to %s, which was accepted before", errAnswer, s.line)
		}
	}
	return nil
}
