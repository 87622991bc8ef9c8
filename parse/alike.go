package parse

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// romanAlike are letters that are Latin but for their shape, and look like nothing else.
// Pairs: the look-alike, then what it is taken for.
const romanAlike = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz" +
	"ɑaƄbƅbɡgıiɩiƖlɭlɫlǀlǃiɾrʋvʂsʐzƶzɦhɳnɲnƞnɱmɵoƽsʈtƫtʉuɍrɨiɟjɉjƙkɓbɗdɖdɠgƥpʠqƭtƴyȡdȴnȶtȷjȸdɇeɛeɜeƷzʒzᶃgⱱv"

// foreignAlike are letters of other alphabets that can be taken for Latin ones. They are listed
// in both cases, since case folding comes later and Greek Η looks like H while η looks like n.
const foreignAlike = "" +
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

// alike maps look-alikes, and Latin letters with an accent, to the letter of ASCII that they are taken for.
var alike = func() map[rune]rune {
	m := make(map[rune]rune, 1500)
	for c := rune(0xC0); c < 0x1F00; c++ {
		if c == 0x250 {
			c = 0x1E00 // the rest of the accented letters
		}
		if d := norm.NFD.String(string(c)); d[0] < 0x80 && unicode.IsLetter(c) {
			m[c] = unicode.ToLower(rune(d[0]))
		}
	}
	for c := range rune(26) { // negative circled, negative squared, regional indicators
		m[0x1F150+c], m[0x1F170+c], m[0x1F1E6+c] = 'a'+c, 'a'+c, 'a'+c
	}
	addPairs(m, romanAlike)
	addPairs(m, foreignAlike)
	return m
}()

// addPairs adds pairs of letters to m. A capital that folds to a look-alike is one, else folding
// twice would differ from folding once.
func addPairs(m map[rune]rune, pairs string) {
	r := []rune(pairs)
	for i := 0; i < len(r); i += 2 {
		m[r[i]] = r[i+1]
	}
	for i := 0; i < len(r); i += 2 {
		if u := unicode.ToUpper(r[i]); u >= 0x80 && m[u] == 0 {
			m[u] = r[i+1]
		}
	}
}
