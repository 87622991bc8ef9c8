package replica

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"sync"

	"spamsim/store"
)

// On the wire, numbers big endian:
//
//	entry  stamp u64, until u32, whether it has a value, a byte, the value, and macSize octets of HMAC-SHA-256 (RFC 2104) over
//	       "e", the key and all that
//	batch  version, a byte; origin u32; session u64; seq u64, from 1 in each session; the entries, each its length u32,
//	       its key and itself; and macSize octets over "b" and all that
//	about  JSON (status.go), and macSize octets over "n" and it
//
// A batch of a later version is passed over and counted: what it tells is found in the state, whose form does not change
// but by kinds and values, which have versions of their own.
const (
	wireVersion = 1
	macSize     = 16
	keySize     = 13
	entryHead   = 13
	batchHead   = 21
)

// maxEntry bounds an entry: four times what a part has at most.
const maxEntry = 64 << 10

var (
	errForged  = errors.New("not of this site's key")
	errVersion = errors.New("of a later version")
)

// A sealer authenticates. It may be used from many goroutines.
type sealer struct{ macs sync.Pool }

// newSealer derives the key, so that nothing on the wire tells anything of the site's own key.
func newSealer(key []byte) *sealer {
	derive := hmac.New(sha256.New, []byte("spamsim peers"))
	derive.Write(key)
	derived := derive.Sum(nil)
	return &sealer{sync.Pool{New: func() any { return hmac.New(sha256.New, derived) }}}
}

// sum is the MAC over what data are together, behind the word that says what they are.
func (s *sealer) sum(what string, data ...[]byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte(what))
	for _, d := range data {
		mac.Write(d)
	}
	return mac.Sum(nil)[:macSize]
}

// unseal splits the MAC off.
func (s *sealer) unseal(what string, key, data []byte) ([]byte, error) {
	if len(data) < macSize {
		return nil, fmt.Errorf("%w: %d octets", errForged, len(data))
	}
	data, mac := data[:len(data)-macSize], data[len(data)-macSize:]
	if !hmac.Equal(mac, s.sum(what, key, data)) {
		return nil, errForged
	}
	return data, nil
}

// A sealed entry is as it is in the state.
type sealed struct{ key, value []byte }

func (s *sealer) entry(e *store.Entry) sealed {
	key := e.Key.AppendTo(make([]byte, 0, keySize))
	b := binary.BigEndian.AppendUint64(make([]byte, 0, entryHead+len(e.Value)+macSize), e.Stamp)
	b = binary.BigEndian.AppendUint32(b, e.Until)
	if e.Value == nil {
		b = append(b, 0)
	} else {
		b = append(append(b, 1), e.Value...)
	}
	return sealed{key, append(b, s.sum("e", key, b)...)}
}

// open reads an entry of the state. Its value is not copied.
func (s *sealer) open(key, value []byte) (store.Entry, error) {
	if _, err := s.unseal("e", key, value); err != nil {
		return store.Entry{}, fmt.Errorf("entry: %w", err)
	}
	return readEntry(sealed{key, value})
}

// readEntry reads an entry that is known to be of the site: that of a batch is, whose own seal is over all that is in it.
func readEntry(s sealed) (store.Entry, error) {
	k, ok := store.ReadKey(s.key)
	if !ok || len(s.value) < entryHead+macSize || len(s.value) > maxEntry {
		return store.Entry{}, fmt.Errorf("entry: %w", errForged)
	}
	data := s.value[:len(s.value)-macSize]
	e := store.Entry{Key: k, Stamp: binary.BigEndian.Uint64(data), Until: binary.BigEndian.Uint32(data[8:])}
	if data[12] != 0 {
		e.Value = data[entryHead:]
	}
	return e, nil
}

// A batch is what one node tells at once.
type batch struct {
	origin  uint32
	session uint64
	seq     uint64
	entries []sealed
}

func (s *sealer) batch(b *batch) []byte {
	size := batchHead + macSize
	for _, e := range b.entries {
		size += 4 + keySize + len(e.value)
	}
	out := binary.BigEndian.AppendUint32(append(make([]byte, 0, size), wireVersion), b.origin)
	out = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, b.session), b.seq)
	for _, e := range b.entries {
		out = binary.BigEndian.AppendUint32(out, uint32(len(e.key)+len(e.value)))
		out = append(append(out, e.key...), e.value...)
	}
	return append(out, s.sum("b", out)...)
}

func (s *sealer) openBatch(data []byte) (*batch, error) {
	data, err := s.unseal("b", nil, data)
	if err != nil {
		return nil, err
	}
	if len(data) < batchHead || data[0] > wireVersion {
		return nil, errVersion
	}
	b := &batch{origin: binary.BigEndian.Uint32(data[1:]), session: binary.BigEndian.Uint64(data[5:]), seq: binary.BigEndian.Uint64(data[13:])}
	for data = data[batchHead:]; len(data) > 0; {
		if len(data) < 4 || len(data)-4 < int(binary.BigEndian.Uint32(data)) || binary.BigEndian.Uint32(data) < keySize {
			return nil, fmt.Errorf("batch: %w", errForged)
		}
		e := data[4 : 4+binary.BigEndian.Uint32(data)]
		b.entries = append(b.entries, sealed{e[:keySize], e[keySize:]})
		data = data[4+len(e):]
	}
	return b, nil
}
