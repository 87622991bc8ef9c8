package parse

import (
	"strings"
	"sync"
)

// closings are how letters end in front of who wrote them, in small letters; what most mail programs put below has no "-- "
// above it.
var closings = sync.OnceValues(func() (all map[string]bool, sounds *sieve) {
	all, sounds = map[string]bool{}, new(sieve)
	for c := range strings.SplitSeq(`
		regards|kind regards|kindest regards|best regards|warm regards|warmest regards|with kind regards|with best regards|
		many regards|best|all the best|best wishes|kind wishes|many thanks|thanks and regards|thanks & regards|
		thank you and best regards|yours sincerely|sincerely|sincerely yours|yours faithfully|yours truly|respectfully|
		cheers|mit freundlichen grüßen|mit freundlichem gruß|freundliche grüße|freundlicher gruß|viele grüße|beste grüße|
		liebe grüße|herzliche grüße|schöne grüße|mit besten grüßen|mit freundlichen grüssen|freundliche grüsse|
		mit freundlichen gruessen|mfg|vg|lg|cordialement|bien cordialement|très cordialement|bien à vous|
		meilleures salutations|salutations distinguées|saludos|saludos cordiales|un saludo|un cordial saludo|atentamente|
		cordialmente|muchas gracias|cordiali saluti|distinti saluti|saluti|un saluto|un cordiale saluto|atenciosamente|
		com os melhores cumprimentos|melhores cumprimentos|cumprimentos|abraços|grato|obrigado|obrigada|
		met vriendelijke groet|met vriendelijke groeten|vriendelijke groet|hartelijke groet|groeten|mvg|z poważaniem|
		pozdrawiam|z wyrazami szacunku|s pozdravem|med vänliga hälsningar|vänliga hälsningar|med vänlig hälsning|hälsningar|
		mvh|med venlig hilsen|venlig hilsen|de bedste hilsner|med vennlig hilsen|vennlig hilsen|hilsen|
		ystävällisin terveisin|terveisin|с уважением|всего доброго|з повагою|saygılarımla|iyi çalışmalar`, "|") {
		c = strings.TrimSpace(c)
		all[c] = true
		sounds.add(sound(c))
		sounds.add(sound(strings.ToUpper(c)))
	}
	return all, sounds
})

// longestClosing is how many octets the line of one takes.
const longestClosing = 60

// closes tells whether a line is the closing of a letter and nothing else.
func closes(s string) bool {
	all, sounds := closings()
	return len(s) <= longestClosing && sounds.has(sound(s)) && all[strings.ToLower(strings.TrimRight(s, ",.;:!– -"))]
}

// markClosings marks as a signature what stands below the closing of a letter of a few words, where it is as narrow and short as
// one, up to the end or to a quote or footer: such a letter would be known by nothing else. In longer ones names and addresses
// are words beside others; without them unrelated letters are more alike, and sigma would be less true.
func markClosings(lines []line) {
	above := 0 // words of the letter
	for i := range lines {
		if lines[i].kind != Body || lines[i].text == "" {
			continue
		}
		if above == 0 || !closes(lines[i].text) {
			if above += countWords(lines[i].text, fewWords); above >= fewWords {
				return
			}
			continue
		}
		if end := signatureEnd(lines, i); end > 0 && narrow(lines[i+1:end]) {
			mark(lines[i:end], Signature)
		}
	}
}
