package milter

import (
	"encoding/binary"
	"fmt"
)

// A contract is what MTA and milter agreed on.
type contract struct {
	version  uint32
	actions  uint32 // may* that the MTA grants
	protocol uint32 // no*, nr* and leadingSpace that it follows
}

// wanted is what we would like. Events that carry nothing for us are left out, and none but the end of the message
// waits for an answer: each answer is a round trip of the MTA's process.
var wanted = contract{
	version: maxVersion,
	actions: mayAddHeaders | mayChangeHeaders | mayQuarantine,
	protocol: noUnknown | noData | leadingSpace |
		nrConnect | nrHelo | nrMail | nrRcpt | nrData | nrUnknown | nrHeader | nrEOH | nrBody,
}

// negotiate answers an offer with what of it we want: an MTA may hang up on a milter that asks for more than it
// offered, and some do.
func negotiate(data []byte, want contract) (contract, error) {
	if len(data) < 12 {
		return contract{}, fmt.Errorf("%w: offer of %d octets", errPacket, len(data))
	}
	offer := func(i int) uint32 { return binary.BigEndian.Uint32(data[4*i:]) }
	c := contract{version: min(offer(0), want.version), actions: offer(1) & want.actions, protocol: offer(2) & want.protocol}
	if c.version < minVersion {
		return contract{}, fmt.Errorf("%w: version %d", errPacket, offer(0))
	}
	return c, nil
}

// answers tells whether the MTA waits for an answer to an event.
func (c contract) answers(cmd byte) bool {
	flag := noReply[cmd]
	return flag != 0 && c.protocol&flag == 0
}

// may tells whether the MTA lets us do that.
func (c contract) may(action uint32) bool { return c.actions&action != 0 }
