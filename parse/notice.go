package parse

import (
	"math/bits"
	"strings"
	"sync"
)

// legal are how words begin of the notices that houses put below all their letters, language by language: that they are
// confidential, and what somebody has to do who got one by mistake. At most 32 each, each of three octets and more.
var legal = [...][]string{
	{"confidenti", "privileged", "intended recipient", "addressee", "intended solely", "intended only", "solely for", "in error", "by mistake",
		"hereby notified", "unauthori", "disseminat", "prohibited", "notify", "delete", "destroy", "sender", "disclos", "unlawful"},
	{"vertraulich", "rechtlich geschützt", "adressat", "irrtümlich", "empfänger", "absender", "vernicht", "lösch", "unbefugt", "nicht gestattet",
		"weitergabe", "ausschließlich für", "informieren sie"},
	{"confidentiel", "destinataire", "par erreur", "expéditeur", "détrui", "pièces jointes", "interdit", "divulg", "diffusion", "exclusi", "avertir"},
	{"confidencial", "destinatari", "por error", "remitente", "elimin", "adjunt", "prohibid", "autoriza", "exclusiv", "divulga", "secreto", "reproducción"},
	{"confidencia", "destinatári", "por engano", "por erro", "remetente", "apag", "anexo", "proibid", "autorizad", "divulga", "privilegiad", "eliminar"},
	{"riservat", "confidenzial", "destinat", "per errore", "mittente", "cancell", "distrugg", "allegat", "diffusione", "proibit", "vietat", "esclusiv"},
	{"vertrouwelijk", "geadresseerde", "ten onrechte", "per vergissing", "afzender", "verwijder", "verboden", "uitsluitend", "openbaar", "bijlage"},
	{"poufn", "adresat", "omyłkow", "nadawc", "usuni", "załącznik", "zabron", "wyłącznie"},
	{"konfidentiell", "adressat", "mottagare", "avsändare", "radera", "av misstag", "obehörig", "spridning", "förbjud", "avsett för"},
	{"fortrolig", "modtager", "afsender", "slet", "ved en fejl", "uberettiget", "konfidensiell", "mottaker", "avsender", "slett", "feilsendt"},
	{"luottamuksell", "vastaanottaj", "lähettäj", "poista", "vahingossa", "tarkoitettu"},
	{"důvěrn", "adresát", "odesílatel", "omylem", "vymaž", "smaž", "neoprávněn", "určen"},
	{"конфиденциальн", "адресат", "получател", "по ошибке", "отправител", "удалит", "уничтож", "запрещ", "распростран"},
	{"gizli", "alıcı", "gönderen", "yanlışlıkla", "siliniz", "yasak"},
}

// A legalWord is one of them: the number of its language, and its bit.
type legalWord struct {
	language int
	bit      uint32
	text     string
}

// legalWords are they by sound, and the sounds.
var legalWords = sync.OnceValues(func() (by map[uint16][]legalWord, sounds *sieve) {
	by, sounds = map[uint16][]legalWord{}, new(sieve)
	for language, words := range legal {
		for i, w := range words {
			s := sound(w)
			by[s] = append(by[s], legalWord{language, 1 << i, w})
			sounds.add(s)
		}
	}
	return by, sounds
})

// sound is made of the first three octets of a word, of ASCII letters the same for small and capital ones; 0 where there are
// fewer.
func sound(w string) uint16 {
	if len(w) < 3 {
		return 0
	}
	return uint16(w[0]&31)<<10 | uint16(w[1]&31)<<5 | uint16(w[2]&31)
}

// A sieve has a bit for each sound.
type sieve [1 << 9]uint64

func (s *sieve) add(sound uint16)      { s[sound/64] |= 1 << (sound % 64) }
func (s *sieve) has(sound uint16) bool { return s[sound/64]>>(sound%64)&1 != 0 }

// belowNotice is how many lines may stand below the words of a notice: what a house is, and where.
const belowNotice = 4

// A notice holds which of the legal words of each language were met, a bit each.
type notice [len(legal)]uint32

// read takes up the legal words of a line.
func (n *notice) read(s string) {
	by, sounds := legalWords()
	if !ascii(s) {
		s = strings.ToLower(s)
	}
	at := uint16(0) // the sound of the three octets up to i
	for i := range len(s) {
		if at = at<<5&(1<<15-1) | uint16(s[i]&31); !sounds.has(at) || i < 2 || i > 2 && (s[i-3] >= 0x80 || alnum(s[i-3]|0x20)) {
			continue
		}
		for _, w := range by[at] {
			if prefixFold(s[i-2:], w.text) {
				n[w.language] |= w.bit
			}
		}
	}
}

// plainly tells whether a footer is a legal notice and little else: it has five of the words of a language, and one in so many of
// all its words.
func plainly(footer string) bool {
	n := notice{}
	n.read(footer)
	for _, of := range n {
		if met := bits.OnesCount32(of); met >= 5 && countWords(footer, met*perLegal+1) <= met*perLegal {
			return true
		}
	}
	return false
}

const perLegal = 12

// begins takes up one line more, of so many from below, and tells whether it may begin a legal notice: it has two of the words
// of a language, and all lines together have four. Where none of the lowest few lines had any, there is none: it would cost all
// mail the time.
func (n *notice) begins(s string, lines int) (yes bool) {
	if lines > belowNotice && *n == (notice{}) {
		return false
	}
	own := notice{}
	own.read(s)
	for language, of := range own {
		n[language] |= of
		yes = yes || bits.OnesCount32(of) >= 2 && bits.OnesCount32(n[language]) >= 4
	}
	return yes
}
