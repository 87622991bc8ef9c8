package parse

import "strings"

// sentBy are the first words of the line with which a mail program or a scanner ends a letter ("Sent from my phone", "Get Outlook
// for iOS"), sentEnd the last ones, where these tell; in small letters.
var (
	sentBy = byFirst(strings.Split("sent from |sent with |sent via |sent using |sent through |sent by |sent on |get outlook for |get bluemail |download outlook |"+
		"this message was sent from my |please excuse my brevity|please excuse any typo|yahoo mail: |yahoo mail - |virus-free|"+
		"gesendet von |gesendet mit |gesendet über |versendet mit |verschickt mit |diese nachricht wurde von mein|bitte entschuldigen sie die kürze|"+
		"bitte entschuldigen sie meine kürze|holen sie sich outlook |outlook für |virenfrei|"+
		"envoyé de |envoyé depuis |envoyé à partir |envoyé avec |envoyé via |envoyé par |obtenir outlook |obtenez outlook |télécharger outlook |"+
		"provenance : courrier |garanti sans virus|"+
		"enviado desde |enviado con |enviado por |enviado de |enviado do |enviado da |enviado pelo |enviado a |enviado via |enviado com |"+
		"obtener outlook |obtén outlook |descargar outlook |obter outlook |obter o outlook |baixar outlook |libre de virus|livre de vírus|"+
		"inviato da |inviato dal |inviato con |inviato tramite |inviata da |scarica outlook |ottieni outlook |privo di virus|"+
		"verzonden vanaf |verzonden van |verzonden vanuit |verzonden met |verzonden via |verstuurd vanaf |verstuurd vanuit |verstuurd met |"+
		"outlook voor |virusvrij|wysłane z |wysłano z |wysłane za |wysłano za |pobierz outlook |pobierz aplikację outlook |wolny od wirusów|"+
		"skickat från |skickat med |skickat via |hämta outlook |sendt fra |sendt med |sendt via |hent outlook |skaff outlook |få outlook |"+
		"lähetetty |hanki outlook |odesláno z |odesláno ze |odesláno pomocí |získat outlook |získejte outlook |odoslané z |odoslané zo |"+
		"získajte outlook |trimis de pe |trimis din |obțineți outlook |отправлено с |отправлено из |получить outlook |скачать outlook |"+
		"надіслано з |надіслано із |отримати outlook |στάλθηκε από |εστάλη από |λήψη του outlook |dikirim dari |dapatkan outlook |được gửi từ |"+
		"đã gửi từ |gửi từ |tải outlook |ส่งจาก|نُشر من |أُرسلت من |أرسلت من |أُرسل من |מאת ה|נשלח מ|发自|發自|发送自|从我的|從我的|寄自|获取 outlook |取得 outlook ", "|"))
	sentEnd = strings.Split(" gesendet|gönderildi|gönderilmiştir|küldve|から送信|から送信されました|を入手|에서 보냄|에서 보낸 메일", "|")
)

// byFirst are words by their first octet, be it small or large.
func byFirst(words []string) (by [256][]string) {
	for _, w := range words {
		small, large := w[0], strings.ToUpper(w)[0]
		by[small] = append(by[small], w)
		if large != small {
			by[large] = append(by[large], w)
		}
	}
	return by
}

// Bounds, that no campaign hides in such lines: octets of one without its addresses, and how many stand together.
const (
	longestSent = 120
	mostSent    = 3
)

// markSentFrom marks what a program put at the end of a letter, or above what the letter quotes, as a signature: short letters of
// many people would have little else.
func markSentFrom(lines []line) {
	last, n := true, 0 // no letter goes on below; lines marked there
	for i := len(lines) - 1; i >= 0; i-- {
		switch s := lines[i].text; {
		case lines[i].kind != Body:
			last, n = true, 0
		case !last && !strings.HasPrefix(s, "Sent from my ") || strings.Trim(s, "_-=* ") == "":
		case n < mostSent && sentFrom(s):
			lines[i].kind = Signature
			n++
		default:
			last = false
		}
	}
}

// sentFrom tells whether a line says by which program or device a letter was sent.
func sentFrom(s string) bool {
	if len(s) > 4*longestSent {
		return false
	}
	for {
		before, rest, ok := strings.Cut(s, "<http")
		if !ok {
			break
		}
		_, behind, _ := strings.Cut(rest, ">")
		s = before + behind
	}
	s = strings.Trim(s, " .!*[]()")
	if len(s) == 0 || len(s) > longestSent {
		return false
	}
	for _, by := range sentBy[s[0]] {
		if len(s) >= len(by) && strings.EqualFold(s[:len(by)], by) {
			return true
		}
	}
	for _, end := range sentEnd {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}
