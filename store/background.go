package store

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A background is what unrelated mail looks like: how common each feature is. It is the null distribution that a score is
// held against.
//
// As bytes: "spamsim background 1\n", then as uvarints the number of messages, the number of features, and for each
// feature in ascending order of the high 32 bits of its hash the step to the one before and the number of messages that
// have it, on the scale of commonScale.
type background struct {
	messages float64
	rarity   [maxStep + 1]float64
	counts   census // by id; the count is on the scale
	// known has a bit for each id's high bits that occur in counts: most features of a message are in no background, and
	// these bits fit in a nearer cache than the counts.
	known [1 << (knownBits - 6)]uint64
}

const knownBits = 21

//go:embed background.bin
var shipped []byte

// ErrBackground is wrapped by errors about a background that cannot be read.
var ErrBackground = errors.New("not a background of this version")

var backgroundMagic = []byte("spamsim background 1\n")

// minCommon is how many messages must have a feature for it to be kept in a background.
const minCommon = 4

// maxStep is the highest step of the scale of commonness: 2^32 messages.
const maxStep = 32 * commonScale

// commonScale is how many steps the scale of commonness has for each doubling.
const commonScale = 8

// caps are the most that one feature of a kind can weigh, in nats.
var caps = [...]float64{single: 4, pair: 6.5, ends: 5, attachment: 6.5}

// readBackground reads the bytes of a background.
func readBackground(data []byte) (*background, error) {
	rest, ok := bytes.CutPrefix(data, backgroundMagic)
	if !ok {
		return nil, ErrBackground
	}
	next := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			ok = false
			return 0
		}
		rest = rest[n:]
		return v
	}
	b := &background{messages: float64(next())}
	id := uint64(0)
	for range next() {
		id += next()
		step := next()
		if !ok || id > math.MaxUint32 || step > maxStep {
			return nil, fmt.Errorf("%w: it is cut or damaged", ErrBackground)
		}
		if step > 0 {
			b.counts.add(uint32(id), int(step))
		}
	}
	if !ok {
		return nil, fmt.Errorf("%w: it is cut", ErrBackground)
	}
	for _, slot := range b.counts.slots {
		if uint32(slot) > 1 {
			i := uint32(slot>>32) >> (32 - knownBits)
			b.known[i/64] |= 1 << (i % 64)
		}
	}
	b.rate()
	return b, nil
}

// weight is how much it tells that a message has the feature, in nats, 0 or less for one that is too common to tell anything.
func (b *background) weight(f feature) float64 {
	id, step := f.id(), 0
	if b.mayKnow(id) {
		step = b.counts.count(id)
	}
	return b.rated(f.kind, step)
}

// mayKnow says of a feature of text whether it may be in counts.
func (b *background) mayKnow(id uint32) bool {
	i := id >> (32 - knownBits)
	return b.known[i/64]>>(i%64)&1 != 0
}

// rated is the weight of a feature by its step of the scale of commonness.
func (b *background) rated(k kind, step int) float64 {
	if k == attachment {
		return caps[k]
	}
	return min(caps[k], b.rarity[min(step, len(b.rarity)-1)])
}

// rate fills rarity, the weight by step of the scale of commonness.
func (b *background) rate() {
	for step := range b.rarity {
		n := math.Exp2(float64(step) / commonScale)
		b.rarity[step] = math.Log((b.messages+priorMessages)/n) - chanceCut
	}
}

// priorMessages stands for mail of which nothing is known.
const priorMessages = 2000

// A BackgroundBuilder counts features of unrelated mail.
type BackgroundBuilder struct {
	messages int
	counts   map[uint32]int
}

// Add counts one message.
func (b *BackgroundBuilder) Add(t *Trace) {
	if b.counts == nil {
		b.counts = map[uint32]int{}
	}
	b.messages++
	for _, f := range t.features {
		if f.kind != attachment {
			b.counts[f.id()]++
		}
	}
}

// Bytes returns the background in its format.
func (b *BackgroundBuilder) Bytes() []byte {
	ids := make([]uint32, 0, len(b.counts))
	for id, n := range b.counts {
		if n >= minCommon {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	out := binary.AppendUvarint(bytes.Clone(backgroundMagic), uint64(b.messages))
	out = binary.AppendUvarint(out, uint64(len(ids)))
	last := uint32(0)
	for _, id := range ids {
		out = binary.AppendUvarint(out, uint64(id-last))
		out = binary.AppendUvarint(out, uint64(math.Round(commonScale*math.Log2(float64(b.counts[id])))))
		last = id
	}
	return out
}
