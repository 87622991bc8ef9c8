package parse

import "bytes"

// Identifier octets of the elements that are met on the way to what is signed (X.690, section 8.1.2).
const (
	berOctets     = 0x04
	berOID        = 0x06
	berSequence   = 0x30
	berSet        = 0x31
	berInteger    = 0x02
	berExplicit0  = 0xa0
	berManyOctets = berOctets | berConstructed

	berConstructed = 0x20
	berLongTag     = 0x1f
	berIndefinite  = 0x80
)

// deepestBER is how deep elements without a length may be nested. Those who sign while they write, as OpenSSL does, nest five.
const deepestBER = 16

// signedData is 1.2.840.113549.1.7.2 (RFC 5652, section 5.1).
var signedData = []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}

// A berReader is what is left of elements in BER (X.690), of which DER is a part.
type berReader []byte

// next reads the next element, which must have that identifier octet, and returns its contents.
func (b *berReader) next(id byte) (contents berReader, ok bool) {
	got, contents, rest, ok := berElement(*b, deepestBER)
	if !ok || got != id {
		return nil, false
	}
	*b = rest
	return contents, true
}

// into goes into the next element.
func (b *berReader) into(id byte) (ok bool) {
	*b, ok = b.next(id)
	return ok
}

// skip passes over the next element.
func (b *berReader) skip(id byte) bool {
	_, ok := b.next(id)
	return ok
}

// berElement cuts the first element off b. depth is how deep there may be elements without a length in it.
func berElement(b []byte, depth int) (id byte, contents, rest []byte, ok bool) {
	if len(b) < 2 || b[0]&berLongTag == berLongTag {
		return 0, nil, nil, false
	}
	id, n := b[0], int(b[1])
	if b = b[2:]; n == berIndefinite {
		contents, rest, ok = untilEnd(b, depth)
		return id, contents, rest, ok && id&berConstructed != 0
	}
	if n > berIndefinite {
		size := n - berIndefinite
		if size > 4 || size > len(b) {
			return 0, nil, nil, false
		}
		n = 0
		for _, octet := range b[:size] {
			n = n<<8 | int(octet)
		}
		b = b[size:]
	}
	if n < 0 || n > len(b) { // an int may have 32 bits
		return 0, nil, nil, false
	}
	return id, b[:n], b[n:], true
}

// untilEnd cuts b where its end-of-contents octets are (X.690, section 8.1.5), those of the elements in it left out.
func untilEnd(b []byte, depth int) (contents, rest []byte, ok bool) {
	end := []byte{0, 0}
	for at := b; depth > 0; {
		if bytes.HasPrefix(at, end) {
			return b[:len(b)-len(at)], at[len(end):], true
		}
		if _, _, at, ok = berElement(at, depth-1); !ok {
			break
		}
	}
	return nil, nil, false
}

// signedContent returns what a signature holds that it was made of (RFC 5652, sections 3 and 5): nothing where it stands apart or
// there are certificates alone. ok is false where b is no such thing.
func signedContent(b []byte) (content []byte, ok bool) {
	r := berReader(b)
	if !r.into(berSequence) {
		return nil, false
	}
	if kind, ok := r.next(berOID); !ok || !bytes.Equal(kind, signedData) {
		return nil, false
	}
	if !r.into(berExplicit0) || !r.into(berSequence) || !r.skip(berInteger) || !r.skip(berSet) || !r.into(berSequence) || !r.skip(berOID) {
		return nil, false
	}
	if len(r) == 0 {
		return nil, true
	}
	if !r.into(berExplicit0) {
		return nil, false
	}
	return berJoined(r, deepestBER)
}

// berJoined joins the pieces of an octet string (X.690, section 8.7).
func berJoined(b []byte, depth int) (all []byte, ok bool) {
	for len(b) > 0 {
		id, piece, rest, ok := berElement(b, deepestBER)
		if ok && id == berManyOctets && depth > 0 {
			piece, ok = berJoined(piece, depth-1)
		} else if id != berOctets {
			ok = false
		}
		if !ok {
			return nil, false
		}
		if b = rest; all == nil {
			all = piece[:len(piece):len(piece)] // the only one, mostly
		} else {
			all = append(all, piece...)
		}
	}
	return all, true
}
