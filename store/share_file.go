package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// Rows of the bucket, numbers little endian but in keys:
//
//	0                  number of this node, u64 big endian
//	key (AppendTo)     stamp u64, until u32, whether it is gone, a byte, and the value, as on the wire; a part has none where
//	                   it is all of its cluster
//	255, number u64    seq u64 that a foreign cluster has here; of number 0, seq from which numbers are free
//
// A store that has no number of its own does not share.
var nodeRow = []byte{0}

// nodeKey stands for that row where changes are noted.
var nodeKey Key

const kindSeq Kind = 255 // of the rows that are no entries

func seqKey(number uint64) Key { return Key{Item: number, Kind: kindSeq} }

// floorItem stands for no cluster: numbers begin at 1.
const floorItem = 0

// sharedRow is the row of an entry as it is now, or of a foreign cluster's seq.
func (s *Store) sharedRow(k Key) keyValue {
	x := s.shared
	if k == nodeKey {
		return keyValue{bucketShared, nodeRow, bigEndian(uint64(x.node))}
	}
	row := keyValue{bucket: bucketShared, key: k.AppendTo(nil)}
	if k == seqKey(floorItem) {
		row.value = binary.LittleEndian.AppendUint64(nil, s.lastSeq)
		return row
	}
	if k.Kind == kindSeq {
		if seq, ok := x.local[k.Item]; ok {
			row.value = binary.LittleEndian.AppendUint64(nil, seq)
		}
		return row
	}
	h, ok := x.get(k)
	if !ok {
		return row
	}
	row.value = h.appendTo(nil)
	if k.Kind != KindPart {
		row.value = append(row.value, x.values[k]...)
	} else if seq := s.now(x.seqHere(k.Item)); x.parts[seq] != nil {
		if p := s.partOf(k); p != nil {
			row.value = append(row.value, p.marshal()...)
		}
	}
	return row
}

// appendTo writes what the file has of every entry.
func (h held) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, h.stamp)
	return append(binary.LittleEndian.AppendUint32(b, h.until), oneIf(h.gone))
}

// rowsOf are the rows of solos that other nodes told of: each one's record, its entry and its seq, all in the order of their
// keys, so that the file is walked once.
func rowsOf(all []begun) []keyValue {
	rows := make([]keyValue, 0, 3*len(all))
	const octets = 8 + keySize + 13 + keySize + 8
	room := make([]byte, 0, octets*len(all))
	put := func(write func([]byte) []byte) []byte {
		from := len(room)
		room = write(room)
		return room[from:len(room):len(room)]
	}
	number := func(n uint64) func([]byte) []byte {
		return func(b []byte) []byte { return binary.BigEndian.AppendUint64(b, n) }
	}
	for i := range all {
		rows = append(rows, keyValue{bucketClusters, put(number(all[i].seq)), all[i].record})
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b begun) int { return cmp.Compare(a.key.Item, b.key.Item) })
	for i := range all {
		rows = append(rows, keyValue{bucketShared, put(all[i].key.AppendTo), put(all[i].held.appendTo)})
	}
	for i := range all {
		seq := func(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, all[i].seq) }
		rows = append(rows, keyValue{bucketShared, put(seqKey(all[i].key.Item).AppendTo), put(seq)})
	}
	return rows
}

// toBegin takes the solos of other nodes that are to be written now. What became something else meanwhile is left out, and
// is then a change like others. The lock is not held, and given up now and then.
func (s *Store) toBegin(all bool) (out []begun) {
	s.mu.Lock()
	taken := s.changes.takeBegun(all)
	s.mu.Unlock()
	out = taken[:0]
	for some := range slices.Chunk(taken, lockedFor) {
		s.mu.Lock()
		out = s.stillBegun(out, some)
		s.mu.Unlock()
	}
	return out
}

// stillBegun appends those of all that are what they were to out.
func (s *Store) stillBegun(out, all []begun) []begun {
	x := s.shared
	for _, b := range all {
		if s.unwritten.records[b.seq] != nil && x.local[b.key.Item] == b.seq {
			out = append(out, b)
			continue
		}
		s.changes.cluster(b.seq)
		s.changes.share(b.key)
		s.changes.share(seqKey(b.key.Item))
	}
	return out
}

// bringAlong lets solos of other nodes that wait be written with the changes that name them: the file never has what is said
// of a number without the number. The lock is held.
func (s *Store) bringAlong() {
	all := s.changes.begun
	if len(all) == 0 {
		return
	}
	x, named := s.shared, map[uint64]bool{}
	for seq := range s.changes.clusters {
		named[seq] = true
	}
	for k := range s.changes.shared {
		named[x.local[k.Item]] = true
		if k.Kind == KindEdge {
			to, _ := readEdge(x.values[k]) // what cannot be read names nothing
			named[x.local[to]] = true
		}
	}
	for seq := range named {
		if i, ok := slices.BinarySearchFunc(all, seq, func(b begun, seq uint64) int { return cmp.Compare(b.seq, seq) }); ok {
			s.changes.cluster(seq)
			s.changes.share(all[i].key)
			s.changes.share(seqKey(all[i].key.Item))
		}
	}
}

// waiting says whether solos of other nodes wait for a commit.
func (s *Store) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.changes.begun) > 0
}

// maxBehind is how many solos of other nodes may wait for a commit, beside those that one is writing: some 200 MB.
const maxBehind = begunAtOnce + begunAtOnce/2

// behind says whether so many wait.
func (s *Store) behind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.changes.begun) > maxBehind
}

// catchUp returns when the file is not far behind any more, or cannot be written. Who waits lets the commit at hand end, and
// makes another only where that was not enough: what comes meanwhile is written with it.
func (s *Store) catchUp() {
	for s.behind() {
		err := s.commits.between(func() error {
			if !s.behind() {
				return nil
			}
			return s.commits.write(s, s.db.Load().Update, false)
		})
		if err != nil {
			return // the committer has told of it, or the store is closed
		}
	}
}

// loadShared reads the rows; b is nil in a file of before there was such a bucket.
func (s *Store) loadShared(b *bbolt.Bucket) error {
	if b == nil || b.Get(nodeRow) == nil {
		return nil
	}
	node := b.Get(nodeRow)
	if len(node) != 8 {
		return fmt.Errorf("number of the node: %w", ErrRecord)
	}
	x := newSharing(uint32(binary.BigEndian.Uint64(node)&nodeMask), s.opts.Now)
	s.shared = x
	for _, pass := range []func(Key, *reader) error{s.loadSeq, s.loadEntry} {
		err := b.ForEach(func(key, v []byte) error {
			if len(key) == len(nodeRow) {
				return nil
			}
			k, ok := ReadKey(key)
			if !ok {
				return fmt.Errorf("entry %x: %w", key, ErrRecord)
			}
			if err := pass(k, &reader{data: v}); err != nil {
				return fmt.Errorf("entry %x: %w", key, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for from := range s.moved {
		s.lastSeq = max(s.lastSeq, from)
		if to := s.now(from); to != from {
			x.least[to] = min(x.leastOf(to), x.number(from))
		}
	}
	s.lastSeq += seqLeap
	s.settleLatest()
	return nil
}

func (s *Store) loadSeq(k Key, r *reader) error {
	if k.Kind != kindSeq {
		return nil
	}
	seq := r.u64()
	if r.cut {
		return ErrRecord
	}
	if k.Item == floorItem {
		s.lastSeq = max(s.lastSeq, seq)
		return nil
	}
	s.shared.born[seq], s.shared.local[k.Item] = k.Item, seq
	s.lastSeq = max(s.lastSeq, seq)
	return nil
}

func (s *Store) loadEntry(k Key, r *reader) error {
	if k.Kind == kindSeq {
		return nil
	}
	x := s.shared
	h := held{stamp: r.u64(), until: r.u32(), gone: r.byte() != 0}
	if r.cut {
		return ErrRecord
	}
	x.hold(k, h)
	x.clock = max(x.clock, h.stamp)
	if k.Kind <= KindDrop && x.own(k.Item) { // a number must not be given twice while others know of it
		s.lastSeq = max(s.lastSeq, x.seqHere(k.Item))
	}
	x.spoke = x.spoke || k.Kind == KindPart && k.Origin == x.node
	if h.gone || len(r.data) == 0 {
		return nil
	}
	v := append([]byte(nil), r.data...)
	if k.Kind == KindTaught {
		x.teach(k)
	}
	if k.Kind != KindPart {
		x.values[k] = v
	}
	return s.loadValue(k, h, v)
}

func (s *Store) loadValue(k Key, h held, v []byte) error {
	x := s.shared
	switch k.Kind {
	case KindPart:
		return s.loadPart(k, v)
	case KindWord:
		w, err := readWord(v)
		w.stamp, w.origin = h.stamp, k.Origin
		seq := s.now(x.seqHere(k.Item))
		if old := x.words[seq]; err == nil && w.later(&old) {
			x.words[seq] = w
		}
		return err
	case KindEdge:
		x.link(k, v)
	case KindDrop:
		x.drops[k.Item] = true
	case KindFit:
		if k.Origin != x.node {
			return s.takeFit(&Entry{Key: k, Value: v})
		}
	}
	return nil
}

func (s *Store) loadPart(k Key, v []byte) error {
	p, err := readPart(v)
	if err != nil {
		return err
	}
	x := s.shared
	seq := s.now(x.seqHere(k.Item))
	at := x.parts[seq]
	if at == nil {
		at = &parts{their: map[Key]*portion{}}
		x.parts[seq] = at
	}
	if k.Origin != x.node {
		at.their[k] = p
	} else {
		at.own, at.mine = p, k.Item
	}
	return nil
}
