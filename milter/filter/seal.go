package filter

import (
	"crypto/hmac"
	"strings"
)

// A verdict on a message that was counted carries a seal, the part mac= of its field: a MAC with the key of the store over
// what tells the message from others (Message-ID and envelope), the code of its text and the verdict's word. Where the
// message comes by another host of the site, whose store has the same key, it is not counted again. A field that somebody
// else wrote, or that comes with another envelope or text, has no such seal and does nothing. A message without a Message-ID
// gets none: it could not be told from another of the same text.

// maxSealed is how many fields of a message are looked at: as many hosts of a site as one message passes, and more.
const maxSealed = 8

// seal is that of a verdict on a message, "" where the message cannot have one.
func (f *Filter) seal(r *Reading, word string) string {
	if r.message.MessageID == "" {
		return ""
	}
	return f.store.Seal(r.x.Message, r.trace.Nilsimsa.String(), word)
}

// sealed tells whether the message carries a verdict of this site.
func (f *Filter) sealed(r *Reading) bool {
	n := 0
	for _, field := range r.message.Fields {
		if !strings.EqualFold(field.Name, HeaderName) {
			continue
		}
		if n++; n > maxSealed {
			break
		}
		word, mac, ok := sealOf(field.Value)
		if ok && hmac.Equal([]byte(mac), []byte(f.seal(r, word))) {
			return true
		}
	}
	return false
}

// sealOf reads the verdict's word and the seal out of a field's value, which a sender may have written.
func sealOf(value string) (word, mac string, ok bool) {
	word, _, _ = strings.Cut(value, ";")
	last := value[strings.LastIndexByte(value, ';')+1:]
	mac, ok = strings.CutPrefix(strings.TrimSpace(last), "mac=")
	return strings.TrimSpace(word), mac, ok && mac != ""
}
