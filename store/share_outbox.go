package store

// An outbox has the keys of entries that are to be sent, in the order in which they were put in: whoever takes in clusters
// in the order of their numbers writes to the end of his file.
type outbox struct {
	keys  map[Key]struct{}
	order []Key // some may not be in keys any more
}

func (o *outbox) put(k Key) {
	if _, there := o.keys[k]; there {
		return
	}
	if len(o.order) > 2*len(o.keys)+outboxSlack {
		o.tidy()
	}
	if o.keys == nil {
		o.keys = map[Key]struct{}{}
	}
	o.keys[k] = struct{}{}
	o.order = append(o.order, k)
}

// outboxSlack is how many keys that were taken out may be left in the order, beside as many as are in.
const outboxSlack = 1024

func (o *outbox) tidy() {
	left := make([]Key, 0, len(o.keys))
	for _, k := range o.order {
		if _, there := o.keys[k]; there {
			left = append(left, k)
		}
	}
	o.order = left
}

// remove takes a key out, wherever it is.
func (o *outbox) remove(k Key) { delete(o.keys, k) }

// next takes out the key that was put in first.
func (o *outbox) next() (k Key, ok bool) {
	for len(o.order) > 0 {
		k, o.order = o.order[0], o.order[1:]
		if _, there := o.keys[k]; there {
			delete(o.keys, k)
			return k, true
		}
	}
	o.order = nil
	return Key{}, false
}
