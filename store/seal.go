package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// sealSize is how many octets of the MAC a seal keeps. Who guesses one in 2^64 spares one message from being counted.
const sealSize = 8

// sealKeyOf derives the key of seals, so that no seal tells anything of the store's own key (RFC 2104, as HKDF-Extract of
// RFC 5869 section 2.2 does it).
func sealKeyOf(key []byte) []byte {
	mac := hmac.New(sha256.New, []byte("spamsim seal"))
	mac.Write(key)
	return mac.Sum(nil)
}

// Seal returns 16 hex digits that only who has the store's key can make of these strings, in this order: HMAC-SHA256, each
// string behind its length. Stores of one key make the same.
func (s *Store) Seal(data ...string) string {
	mac := hmac.New(sha256.New, s.sealKey)
	for _, d := range data {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(d)))
		mac.Write(length[:])
		mac.Write([]byte(d))
	}
	return hex.EncodeToString(mac.Sum(nil)[:sealSize])
}
