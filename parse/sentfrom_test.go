package parse

import (
	"strings"
	"testing"
)

// TestSentFrom: what programs put at the end of a letter, or above what it quotes, is its signature; amid a letter, and in a longer
// line, it is text.
func TestSentFrom(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"yes\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n", "BBS"},
		{"yes\nSent from Mail<https://go.example/?LinkId=5> for Windows\n\n", "BSS"},
		{"yes\nSent with Proton Mail secure email.\n", "BS"},
		{"ja\nVon meinem iPhone gesendet\n", "BS"},
		{"oui\nEnvoyé de mon iPhone\n", "BS"},
		{"sí\nEnviado desde mi teléfono\n", "BS"},
		{"да\nОтправлено с iPhone\n", "BS"},
		{"evet\niPhone'umdan gönderildi\n", "BS"},
		{"はい\niPhoneから送信\n", "BS"},
		{"yes\nVirus-free.www.avast.example <https://www.avast.example/sig>\n", "BS"},
		{"yes\nSent from my iPad\nPlease excuse my brevity.\n", "BSS"},
		{"yes\nGet Outlook for Android\n________________________________\nFrom: a\nSent: b\nTo: c\nany\n", "BSBHHHQ"},
		{"yes\nSent from my phone\nand more\n", "BSB"},
		{"Sent from Mail for Windows\nyes\n", "BB"},
		{"yes\nSent by the man who\nwrote it\n", "BBB"},
		{"yes\nSent with " + strings.Repeat("x", longestSent) + "\n", "BB"},
		{"yes\nSent with it <http" + strings.Repeat("x", 4*longestSent) + ">\n", "BB"},
		{"Sent from here\n", "S"},
		{strings.Repeat("Sent from a\n", 5), "BBSSS"},
		{"yes\nSent from a\nSent from a\n> q\nyes\nSent from a\nSent from a\n", "BSSQBSS"},
	} {
		if got := letters(cutBlocks(c.in)); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}
