package store

import (
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"spamsim/parse"
)

// What is known of attachments: of each the octetSketch lowest hashes of its windows of 8 octets. Two files that differ
// in a few octets in a hundred share half of them and more, the same file all. Windows that say nothing of the content are
// left out while there are others: of few distinct octets, and of printable ASCII, which is what frames of documents and
// the metadata of pictures are made of.
const (
	octetSketch   = 32
	octetWindow   = 8
	fewOctets     = 5       // distinct octets that a window needs
	maxOctets     = 1 << 19 // of an attachment that are looked at
	maxFiles      = 3       // attachments of a message that are looked at
	minAttachment = 512     // octets: below are spacer images and empty files
	minPicture    = 8 << 10 // octets of a picture shown in a message of little text; below are logos
)

// attachments adds the features of a message's attachments. A picture within a text is the letterhead of whoever writes,
// and says nothing; one in place of a text is the message, unless that quotes another one. A text that says too little to be judged
// by itself says no more above a file: "please see attached" is what many unlike letters say.
func (t *Trace) attachments(m *parse.Message) {
	files, all := 0, m.Attachments
	worded := t.Tokens >= minTokens || slices.ContainsFunc(all, func(a parse.Attachment) bool { return a.Inline }) && quotes(m)
	for i := range all {
		a := &all[i]
		if len(a.Data) < minAttachment || belongings(a) || a.Inline && (worded || len(a.Data) < minPicture) {
			continue
		}
		for _, h := range lowest(content(a.Data[:min(len(a.Data), maxOctets)])) {
			t.features = append(t.features, feature{hash: h, kind: attachment})
		}
		if files++; files == maxFiles {
			break
		}
	}
	if files > 0 && t.Tokens < minTokens {
		t.features = slices.DeleteFunc(t.features, func(f feature) bool { return f.kind != attachment })
	}
	t.features, _ = distinct(t.features, nil)
}

// quotes says whether what a message quotes has words.
func quotes(m *parse.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == parse.Quote && len(parse.AppendTokens(nil, parse.Fold(b.Text))) >= minTokens {
			return true
		}
	}
	return false
}

// belongings says whether an attachment is what a person's mail program adds to all mail: his signature, of which the
// certificates of his authority are the most (RFC 8551), and his card (RFC 6350).
func belongings(a *parse.Attachment) bool {
	switch a.Type {
	case "application/pkcs7-signature", "application/x-pkcs7-signature":
		return a.Name == "" || strings.EqualFold(path.Ext(a.Name), ".p7s")
	case "application/pgp-signature", "text/vcard", "text/x-vcard", "text/directory":
		return true
	}
	return false
}

// lowest returns the sketch of a file's octets, ascending.
func lowest(data []byte) []uint64 {
	out := lowestOf(data, telling)
	if len(out) < octetSketch {
		out = lowestOf(data, func(uint64) bool { return true })
	}
	return out
}

func lowestOf(data []byte, takes func(window uint64) bool) []uint64 {
	out := make([]uint64, 0, octetSketch+1)
	for i := 0; i+octetWindow <= len(data); i++ {
		w := binary.LittleEndian.Uint64(data[i:])
		h := mix(w ^ octetSeed)
		if len(out) == octetSketch && h >= out[octetSketch-1] || !takes(w) {
			continue
		}
		if at, known := slices.BinarySearch(out, h); !known {
			out = slices.Insert(out, at, h)
			out = out[:min(len(out), octetSketch)]
		}
	}
	return out
}

// octetSeed keeps windows apart from words.
const octetSeed = 0x6f6374657473

// telling says whether a window is likely to be content.
func telling(w uint64) bool {
	ascii, distinct := true, 0
	for i := range octetWindow {
		b := byte(w >> (8 * i))
		ascii = ascii && (b >= ' ' && b <= '~' || b == '\n' || b == '\r' || b == '\t')
		fresh := true
		for k := range i {
			fresh = fresh && byte(w>>(8*k)) != b
		}
		if fresh {
			distinct++
		}
	}
	return !ascii && distinct >= fewOctets
}
