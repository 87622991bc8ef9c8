package door

import (
	"context"
	"fmt"
	"runtime/debug"

	"spamsim/milter/filter"
)

// An Answer is what came of asking the filter about a message.
type Answer struct {
	filter.Judgement
	Panicked bool // then there is no judgement
}

// Ask asks the filter about a message beside the session, no more than Judging at once, and returns where the answer comes: it
// does even when nobody waits any more. What comes once ctx is done is no judgement. A panic concerns this message alone.
func (s *Server) Ask(ctx context.Context, check filter.CheckFunc, env *filter.Envelope, raw []byte) <-chan Answer {
	s.init()
	answer := make(chan Answer, 1)
	s.Go(func() { answer <- s.ask(ctx, check, env, raw) })
	return answer
}

// Leave leaves a judgement behind that nobody waits for: the octets that its message holds are given back when it ends.
func (s *Server) Leave(answer <-chan Answer, b *Budget, octets int) {
	s.Go(func() {
		<-answer
		b.Give(octets)
	})
}

func (s *Server) ask(ctx context.Context, check filter.CheckFunc, env *filter.Envelope, raw []byte) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("judging panicked", "door", s.Name, "id", env.QueueID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			a = Answer{Panicked: true}
		}
	}()
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return Answer{} // nobody waits for it
	}
	return Answer{Judgement: check(ctx, env, raw)}
}
