package store

// A message that people taught on one node may have come to another, which counted it. Who is taught says so to all, by the
// message's key: nobody else then counts it, and who did takes its count back, so that it is one copy. Of two nodes that
// were taught the same message the one of the lower number keeps it.

// sayTaught tells that a message was taught here; the lock is held.
func (s *Store) sayTaught(key uint64) {
	if s.shared != nil {
		s.shared.values[s.say(KindTaught, key, forever)] = []byte{valueVersion}
	}
}

// untaught takes that back.
func (s *Store) untaught(key uint64) {
	if s.shared != nil {
		s.unsay(KindTaught, key)
	}
}

func (s *Store) takeTaught(e *Entry) error {
	if _, err := versioned(e.Value); err != nil {
		return err
	}
	x := s.shared
	x.teach(e.Key)
	x.values[e.Key] = e.Value
	if d := s.delivery(e.Item); d != nil && (!d.taught || e.Origin < x.node) {
		q := &query{} // its features stay, as of a message whose text is not at hand
		q.tabulate()
		s.forget(e.Item, d, q)
	}
	return nil
}

// teach notes that another node was taught a message, before its value is kept.
func (x *pooled) teach(k Key) {
	if _, known := x.values[k]; !known && k.Origin != x.node {
		x.taught[k.Item]++
	}
}

// unteach notes that it says so no more, before its value goes.
func (x *pooled) unteach(k Key) {
	if _, known := x.values[k]; !known || k.Kind != KindTaught || k.Origin == x.node {
		return
	}
	if x.taught[k.Item]--; x.taught[k.Item] == 0 {
		delete(x.taught, k.Item)
	}
}

// taughtElsewhere says whether another node counts a message because it was taught it.
func (s *Store) taughtElsewhere(key uint64) bool { return s.shared != nil && s.shared.taught[key] > 0 }
