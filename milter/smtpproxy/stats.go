package smtpproxy

import "sync/atomic"

// Stats are a proxy's counters since it was made, but for Open and Held, which are of now.
type Stats struct {
	Open        int64 // connections of clients
	Held        int64 // octets of messages in memory
	Connections int64 // taken
	Limited     int64 // connections turned away because too many were open
	Denied      int64 // connections and recipients turned away because the peer is not trusted
	Delivered   int64 // messages that the next hop took
	Quarantined int64 // messages that the quarantine took
	Rejected    int64 // messages refused on the judgement's word, for now or for good
	Refused     int64 // messages that the next hop refused at the final dot or at DATA, for now or for good
	Skipped     int64 // messages not judged for their size
	Failed      int64 // messages that passed because judging panicked, took too long or was too busy
	NoMemory    int64 // messages answered 452 for want of memory
	TooLarge    int64 // messages answered 552
	BareLF      int64 // messages with bare line feeds, whether mended or refused
	Aborted     int64 // messages of which the client went away before their end or while they were judged
	HopDials    int64 // connections made to the next hop
	HopReused   int64 // transactions on a connection that was kept
	HopRetried  int64 // of these, begun again on a new connection since the kept one was gone
	HopFailed   int64 // transactions that broke at the next hop: refused connection, silence, cut, nonsense
}

// counters are Stats in the making.
type counters struct {
	open, connections, limited, denied                        atomic.Int64
	delivered, quarantined, rejected, refused                 atomic.Int64
	skipped, failed, noMemory, tooLarge, bareLF, aborted      atomic.Int64
	hopDials, hopReused, hopRetried, hopFailed, stuckJudgings atomic.Int64
}

// Stats returns the counters of now.
func (s *Server) Stats() Stats {
	c := &s.counters
	return Stats{
		Open: c.open.Load(), Held: s.budget.Held(),
		Connections: c.connections.Load(), Limited: c.limited.Load(), Denied: c.denied.Load(),
		Delivered: c.delivered.Load(), Quarantined: c.quarantined.Load(),
		Rejected: c.rejected.Load(), Refused: c.refused.Load(),
		Skipped: c.skipped.Load(), Failed: c.failed.Load(),
		NoMemory: c.noMemory.Load(), TooLarge: c.tooLarge.Load(),
		BareLF: c.bareLF.Load(), Aborted: c.aborted.Load(),
		HopDials: c.hopDials.Load(), HopReused: c.hopReused.Load(),
		HopRetried: c.hopRetried.Load(), HopFailed: c.hopFailed.Load(),
	}
}
