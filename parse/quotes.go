package parse

import (
	"strings"
)

// markQuotes marks what was quoted from other messages: lines behind a quote mark, the line that
// introduces them, and all below the header of a message that is passed on.
func markQuotes(lines []line) {
	for i := range lines {
		if passedOn(lines, i) {
			for j := i; j < len(lines); j++ {
				lines[j].kind = Quote
			}
			break
		}
		switch quoteMark(lines[i].text) {
		case '>':
			lines[i].kind = Quote
		case ':', '|':
			if neighbour(lines, i, lines[i].text[0]) {
				lines[i].kind = Quote
			}
		}
	}
	for i := range lines {
		if lines[i].kind == Quote && (i == 0 || lines[i-1].kind != Quote) {
			markIntroduction(lines, i)
		}
	}
}

// quoteMark is '>' for a line behind "> ", ">>" or the initials of a writer ("AB> "), ':' or '|' for
// a line behind one of these and a space, else 0. ">From " is mbox's escape and ">> BUY NOW <<" an ornament.
func quoteMark(s string) byte {
	if s == "" {
		return 0
	}
	if s[0] == ':' || s[0] == '|' {
		if len(s) > 1 && (s[1] != ' ' || s[len(s)-1] == '|') { // the latter is a box
			return 0
		}
		return s[0]
	}
	n := 0
	for n < len(s) && n < 4 && alnum(s[n]|0x20) {
		n++
	}
	if n == len(s) || s[n] != '>' || n > 0 && n+1 < len(s) && s[n+1] != ' ' && s[n+1] != '>' {
		return 0
	}
	if strings.HasPrefix(s, ">From ") || strings.HasSuffix(s, "<<") {
		return 0
	}
	return '>'
}

// neighbour tells whether a line next to i has the same mark; ":" and "|" alone also begin lines of
// lists and tables.
func neighbour(lines []line, i int, mark byte) bool {
	return i > 0 && quoteMark(lines[i-1].text) == mark || i+1 < len(lines) && quoteMark(lines[i+1].text) == mark
}

// markIntroduction marks the line above a quote that begins at i, if it says who wrote it; it may be
// wrapped once, and one empty line may follow it.
func markIntroduction(lines []line, i int) {
	j := i - 1
	if j >= 0 && lines[j].text == "" {
		j--
	}
	if j < 0 || !introduces(lines[j].text) {
		return
	}
	lines[j].kind = Quote
	if j > 0 && !opensIntroduction(lines[j].text) && opensIntroduction(lines[j-1].text) {
		lines[j-1].kind = Quote
	}
}

// wrote are the words with which mail programs end the line that introduces a quote.
var wrote = []string{"wrote", "writes", "said", "says", "mentioned", "schrieb", "schreef", "skrev", "skreiv", "crit", "escribió", "escribio",
	"scritto", "scrisse", "escreveu", "napisał", "napisała", "napsal", "kirjoitti", "пишет", "писал", "написал", "yazdı", "írta",
	"写道", "寫道", "提到", "說", "included", "quoting", "once upon a time", "a écrit", "wrote on"}

// introduces tells whether a line says that what follows was written by somebody.
func introduces(s string) bool {
	if len(s) == 0 || len(s) > 240 {
		return false
	}
	end := strings.TrimRight(s, " ]】\u200e\u200f\u202a\u202b\u202c") // marks of direction, in Hebrew and Arabic
	if !strings.HasSuffix(end, ":") && !strings.HasSuffix(end, "：") && !strings.HasSuffix(end, "wrote") {
		return false
	}
	return hasAny(strings.ToLower(s), wrote) || strings.ContainsAny(s, "0123456789") && (opensIntroduction(s) || angled(s))
}

// angled tells whether a line holds an address in angle brackets: with a date, and a colon at its end, it says in any language
// who wrote what follows.
func angled(s string) bool {
	_, s, _ = strings.Cut(s, "<")
	s, _, ok := strings.Cut(s, ">")
	return ok && strings.Contains(s, "@") && !strings.Contains(s, " ")
}

// opensIntroduction tells whether a line begins as one that introduces a quote.
func opensIntroduction(s string) bool {
	for _, p := range [...]string{"On ", "At ", "Am ", "Le ", "El ", "Il ", "Op ", "Em ", "Den ", "Dnia ", "Quoting ", "In article ", "In message ", "* "} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// passing are the words between dashes above a message that is passed on whole.
var passing = []string{"original message", "forwarded message", "begin forwarded message", "forwarded by", "message d'origine", "message transféré",
	"mail original", "pôvodná správa", "původní zpráva", "wiadomość oryginalna", "oryginalna wiadomość", "eredeti üzenet", "alkuperäinen viesti",
	"oprindelig meddelelse", "opprinnelig melding", "mesaj original", "özgün ileti", "orijinal mesaj", "αρχικό μήνυμα", "вихідне повідомлення",
	"원본 메시지", "원본 메일", "الرسالة الأصلية", "doorgestuurd bericht", "mensagem encaminhada", "mensaje reenviado", "пересланное сообщение",
	"ursprüngliche nachricht", "originalnachricht", "original-nachricht", "weitergeleitete nachricht", "mensaje original", "mensagem original",
	"messaggio originale", "messaggio inoltrato", "oorspronkelijk bericht", "ursprungligt meddelande", "исходное сообщение", "пересылаемое сообщение",
	"原始邮件", "原邮件", "转发邮件", "原始郵件", "元のメッセージ"}

// passedOn tells whether at line i begins a message that is passed on: a separator line, or the
// header that Outlook writes ("From:" with two of "Sent:", "To:", "Subject:" and the like just below).
func passedOn(lines []line, i int) bool {
	s := lines[i].text
	if len(s) < 5 || len(s) > 200 {
		return false
	}
	if s[0] == '-' && strings.HasPrefix(s, "---") || s[0] == 'B' && strings.HasPrefix(s, "Begin forwarded message:") {
		low := strings.ToLower(s)
		return hasAny(low, passing) && !strings.Contains(low, "end of") && !strings.Contains(low, "end forwarded")
	}
	if !headerNames.from[headerName(s)] {
		return false
	}
	n := 0
	for j := i + 1; j < len(lines) && j <= i+5; j++ {
		if headerNames.rest[headerName(lines[j].text)] {
			n++
		}
	}
	return n >= 2
}

// headerNames are what Outlook, in the language of its user, calls the fields of the header of a message that it quotes.
var headerNames = struct{ from, rest map[string]bool }{
	from: set("from", "von", "de", "da", "van", "från", "fra", "od", "lähettäjä", "feladó", "de la", "expeditor", "от", "від", "από",
		"gönderen", "kimden", "dari", "từ", "จาก", "من", "מאת", "差出人", "보낸 사람", "보낸사람", "发件人", "寄件者", "寄件人"),
	rest: set("sent", "date", "to", "subject", "gesendet", "datum", "an", "betreff", "envoyé", "objet", "enviado", "enviada em", "fecha",
		"data", "para", "asunto", "assunto", "inviato", "a", "oggetto", "verzonden", "aan", "onderwerp", "wysłano", "do", "temat",
		"skickat", "till", "ämne", "sendt", "dato", "til", "emne", "lähetetty", "päivämäärä", "vastaanottaja", "aihe", "odesláno",
		"odoslané", "dátum", "komu", "předmět", "predmet", "elküldve", "címzett", "tárgy", "trimis", "către", "subiect", "отправлено",
		"дата", "кому", "тема", "надіслано", "στάλθηκε", "ημερομηνία", "προς", "θέμα", "gönderildi", "gönderilme tarihi", "tarih", "kime",
		"konu", "tanggal", "kepada", "subjek", "ngày", "đến", "chủ đề", "วันที่", "ถึง", "เรื่อง", "تاريخ الإرسال", "إلى", "الموضوع", "נשלח",
		"אל", "נושא", "送信日時", "日時", "宛先", "件名", "보낸 날짜", "받는 사람", "제목", "发送时间", "日期", "收件人", "主题", "寄件日期", "收件者", "主旨"),
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// longestName is more octets than a name of a field has.
const longestName = 48

// headerName is what stands before the colon of a line, in lower case and without the stars around it, "" where that is long.
func headerName(s string) string {
	s = s[:min(len(s), longestName)]
	end := strings.IndexByte(s, ':')
	if end < 0 {
		end = strings.Index(s, "：")
	}
	if end < 0 {
		return ""
	}
	return strings.ToLower(strings.Trim(s[:end], "* \u00a0\u200e\u200f"))
}

// attribution tells whether a quote is that of a reply: lines with quote marks below a line that says who wrote them.
func attribution(quote string) bool {
	head := quote[:min(len(quote), 2000)]
	if !strings.Contains(head, "\n>") {
		return false
	}
	lines := splitLines(head)
	for i := range lines {
		if lines[i].text != "" {
			return introduces(lines[i].text) || opensIntroduction(lines[i].text) && i+1 < len(lines) && introduces(lines[i+1].text)
		}
	}
	return false
}

// introduction tells whether a quote begins as one: with a line that introduces it, or the separator
// or header of a message that is passed on.
func introduction(quote string) bool {
	lines := splitLines(quote[:min(len(quote), 2000)])
	for i := range lines {
		if lines[i].text != "" {
			return introduces(lines[i].text) || passedOn(lines, i) ||
				opensIntroduction(lines[i].text) && i+1 < len(lines) && introduces(lines[i+1].text)
		}
	}
	return false
}
