package parse

import "unicode"

// alwaysAlike are letters that are Latin but for their shape, and look like nothing else.
// Pairs: the look-alike, then what it is taken for.
const alwaysAlike = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz" +
	"ɑaƄbƅbɡgıiɩiƖlɭlɫlǀlǃiɾrʋvʂsʐzƶzɦhɳnɲnƞnɱmɵoƽsʈtƫtʉuɍrɨiɟjɉjƙkɓbɗdɖdɠgƥpʠqƭtƴyȡdȴnȶtȷjȸdɇeɛeɜeƷzʒzᶃgⱱv"

// sometimesAlike are letters of other alphabets that can be taken for Latin ones. They are listed
// in both cases, since case folding comes later and Greek Η looks like H while η looks like n.
const sometimesAlike = "" +
	// Cyrillic
	"АaаaВbвbЕeеeЁeёeЅsѕsІiіiЇiїiЈjјjКkкkМmмmНhнhОoоoРpрpСcсcТtтtУyуyҮyүyҰyұyХxхxҲxҳxЬbьbЗzзzԀdԁdԌgԍgԚqԛqԜwԝw" +
	"һhҺhӀlӏlҐrґrГrгrИuиuПnпnӐaӑaӒaӓaӖeӗeӤuӥuӦoӧoӨoөoӰyӱyӲyӳyҚkқkҢhңhҪcҫcѴvѵvѠwѡwԄdԅdԊhԋh" +
	// Greek
	"ΑaαaΒbβbΕeεeΖzζzΗhηnΙiιiΚkκkΜmμuΝnνvΟoοoΡpρpΤtτtΥyυuΧxχxΣsσoςcϹcϲcϳjϜfϝfΩwωwΆaάaΈeέeΉhήnΊiίiΌoόoΎyύuΏwώwϊiϋuΐiΰuΪiΫyΠnπnΓrγyδdϴoΘoθo" +
	// Armenian
	"աwԁdեtհhոnսuօoՕoՏsՍuցgզqքpյjնuլlիhԼlէtգq" +
	// Cherokee, whose capitals have small forms of the same shape
	"ᎪaꭺaᏏbꮟbᏴbꮾbᏟcꮯcᎠdꭰdᎬeꭼeᏀgꮐgᎻhꮋhᎥiꭵiᎫjꭻjᏦkꮶkᏞlꮮlᎷmꮇmᏢpꮲpᎡrꭱrᏒrꮢrᏚsꮪsᎢtꭲtᏙvꮩvᎳwꮃwᎽyꮍyᏃzꮓz" +
	// Lisu
	"ꓮaꓐbꓚcꓓdꓰeꓝfꓖgꓧhꓲiꓙjꓗkꓡlꓟmꓠnꓳoꓑpꓣrꓢsꓔtꓴuꓦvꓪwꓫxꓬyꓜz" +
	// Coptic
	"ⲀaⲁaⲂbⲃbⲈeⲉeⲎhⲏhⲒiⲓiⲔkⲕkⲘmⲙmⲚnⲛnⲞoⲟoⲢpⲣpⲤcⲥcⲦtⲧtⲨyⲩyⲬxⲭx"

var always, sometimes = pairs(alwaysAlike), pairs(sometimesAlike)

func pairs(s string) map[rune]rune {
	m := make(map[rune]rune)
	r := []rune(s)
	for i := 0; i < len(r); i += 2 {
		m[r[i]] = r[i+1]
	}
	for i := 0; i < len(r); i += 2 { // a capital that folds to a look-alike is one, else folding twice would differ
		if u := unicode.ToUpper(r[i]); u >= 0x80 && m[u] == 0 {
			m[u] = r[i+1]
		}
	}
	for c := range rune(26) { // negative circled, negative squared, regional indicators
		if _, own := m['ᴀ']; own {
			m[0x1F150+c], m[0x1F170+c], m[0x1F1E6+c] = 'a'+c, 'a'+c, 'a'+c
		}
	}
	return m
}

// alike takes letters that look Latin for Latin ones, where [Fold] says.
//
// What counts as "more Latin than not" is settled after the mixed words are done, so that folding
// again finds the same or more of it.
func alike(s string) string {
	r := []rune(s)
	latin, other := 0, 0
	eachWord(r, func(w []rune) {
		has, cand := false, false
		for i, c := range w {
			if a, ok := lookup(always, c); ok {
				w[i], c = a, a
			}
			if c < 0x250 {
				has = has || unicode.IsLetter(c)
			} else if _, ok := sometimes[c]; ok {
				cand = true
			}
		}
		if has && cand {
			takeLatin(w)
		}
		for _, c := range w {
			switch {
			case c < 0x250:
				latin++
			default:
				other++
			}
		}
	})
	if latin > other {
		eachWord(r, func(w []rune) {
			for _, c := range w {
				if _, ok := sometimes[c]; !ok {
					return
				}
			}
			takeLatin(w)
		})
	}
	return string(r)
}

func lookup(m map[rune]rune, c rune) (rune, bool) {
	if c < 0x80 {
		return c, false
	}
	a, ok := m[c]
	return a, ok
}

func takeLatin(w []rune) {
	for i, c := range w {
		if a, ok := lookup(sometimes, c); ok {
			w[i] = a
		}
	}
}

// eachWord calls f with each run of letters of r.
func eachWord(r []rune, f func([]rune)) {
	for i := 0; i < len(r); {
		j := i
		for j < len(r) && letter(r[j]) {
			j++
		}
		if j > i {
			f(r[i:j])
			i = j
			continue
		}
		i++
	}
}

func letter(c rune) bool {
	if c < 0x80 {
		return 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	if unicode.IsLetter(c) {
		return true
	}
	_, ok := always[c]
	return ok
}
