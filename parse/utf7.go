package parse

import (
	"strings"
	"unicode/utf16"
)

// decodeUTF7 reads UTF-7 (RFC 2152), which no charset table has. What is not UTF-7 in it is kept as it is.
func decodeUTF7(b []byte) string {
	var out strings.Builder
	for i := 0; i < len(b); i++ {
		if b[i] != '+' {
			out.WriteString(decodeMixed(b[i:i+1], false))
			continue
		}
		end := i + 1
		for end < len(b) && sextet[b[end]] < 64 {
			end++
		}
		if end == i+1 {
			out.WriteByte('+')
		}
		out.WriteString(shifted(b[i+1 : end]))
		i = end - 1
		if end < len(b) && b[end] == '-' {
			i = end
		}
	}
	return out.String()
}

// shifted decodes the UTF-16 in a run of base64.
func shifted(b []byte) string {
	raw := lenientBase64(nil, b)
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	return string(utf16.Decode(units))
}
