package store

import "encoding/binary"

// Buckets is how many parts the entries are in, by their keys.
const Buckets = 64

// Bucket is the one of an entry, the same on all nodes and in all versions.
func (k Key) Bucket() int { return int(k.mixed() >> 58) }

func (k Key) mixed() uint64 { return mix(mix(k.Item^uint64(k.Kind)<<56) ^ uint64(k.Origin)) }

// digests are the exclusive or of all entries of each bucket, by the hour in which they end: those that end before an hour can
// be left out, since nodes let them go at slightly different times.
type digests map[uint32]*[Buckets]uint64

// flip puts an entry in, or takes it out.
func (d digests) flip(k Key, h held) {
	at := d[h.until]
	if at == nil {
		at = new([Buckets]uint64)
		d[h.until] = at
	}
	at[k.Bucket()] ^= mix(k.mixed() + h.stamp)
}

// Digest sums up the entries that hold beyond an hour: equal digests are of equal states.
func (p *Share) Digest(hour uint32) (out [Buckets]uint64) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for until, sums := range p.x.digest {
		if until > hour {
			for i, v := range sums {
				out[i] ^= v
			}
		}
	}
	return out
}

// keySize is that of a key in octets.
const keySize = 13

// AppendTo appends the key as octets: kind, then item u64 and origin u32, big endian.
func (k Key) AppendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(k.Kind)), k.Item)
	return binary.BigEndian.AppendUint32(b, k.Origin)
}

// ReadKey reads what AppendTo wrote; ok is false where b is not as long.
func ReadKey(b []byte) (k Key, ok bool) {
	if len(b) != keySize {
		return Key{}, false
	}
	return Key{Kind: Kind(b[0]), Item: binary.BigEndian.Uint64(b[1:]), Origin: binary.BigEndian.Uint32(b[9:])}, true
}
