package parse

import (
	"slices"
	"strings"
)

// passing are the words between dashes above a message that is passed on whole.
var passing = []string{"original message", "forwarded message", "begin forwarded message", "forwarded by", "message d'origine", "message transféré",
	"mail original", "pôvodná správa", "původní zpráva", "wiadomość oryginalna", "oryginalna wiadomość", "eredeti üzenet", "alkuperäinen viesti",
	"oprindelig meddelelse", "opprinnelig melding", "mesaj original", "özgün ileti", "orijinal mesaj", "αρχικό μήνυμα", "вихідне повідомлення",
	"원본 메시지", "원본 메일", "الرسالة الأصلية", "doorgestuurd bericht", "mensagem encaminhada", "mensaje reenviado", "пересланное сообщение",
	"ursprüngliche nachricht", "originalnachricht", "original-nachricht", "weitergeleitete nachricht", "mensaje original", "mensagem original",
	"messaggio originale", "messaggio inoltrato", "oorspronkelijk bericht", "ursprungligt meddelande", "исходное сообщение", "пересылаемое сообщение",
	"原始邮件", "原邮件", "转发邮件", "原始郵件", "元のメッセージ"}

// passedOn tells whether at line i begins a message that is passed on: a separator line, the header that Outlook writes
// ("From:" with two of "Sent:", "To:", "Subject:" and the like just below; others write one of these first), or that of Notes (who wrote it, and when, above
// "To:" and another).
func passedOn(lines []line, i int) bool {
	s := lines[i].text
	if len(s) < 5 || len(s) > 200 {
		return false
	}
	if s[0] == '-' && strings.HasPrefix(s, "---") || s[0] == 'B' && strings.HasPrefix(s, "Begin forwarded message:") {
		low := strings.ToLower(s)
		return hasAny(low, passing) && !strings.Contains(low, "end of") && !strings.Contains(low, "end forwarded")
	}
	switch name := headerName(s); {
	case headerNames.from[name]:
		return fieldsBelow(lines, i) >= 2
	case headerNames.rest[name]: // GMX begins with when, Thunderbird with what about
		return fromBelow(lines, i) && fieldsBelow(lines, i) >= 2
	}
	return when(lines, i) && fieldsBelow(lines, i) >= 2 && addressedBelow(lines, i)
}

// fieldsBelow counts the fields of a quoted header in the five lines below i.
func fieldsBelow(lines []line, i int) (n int) {
	for j := i + 1; j < len(lines) && j <= i+5; j++ {
		if headerNames.rest[headerName(lines[j].text)] {
			n++
		}
	}
	return n
}

// fromBelow tells whether one of the five lines below i says who wrote.
func fromBelow(lines []line, i int) bool {
	return slices.ContainsFunc(lines[i+1:min(len(lines), i+6)], func(l line) bool { return headerNames.from[headerName(l.text)] })
}

// when tells whether line i, or the one below it, which says nothing else, ends in a time of day: "Bob on 09/01/2000 11:48 AM".
func when(lines []line, i int) bool {
	if timed(lines[i].text) {
		return true
	}
	if i+1 >= len(lines) || len(lines[i].text) > longestName || !timed(lines[i+1].text) {
		return false
	}
	return strings.Trim(lines[i+1].text, "0123456789/.:- AMPamp") == ""
}

// timed tells whether a line ends in a time of day, of 12 hours or of 24.
func timed(s string) bool {
	if n := len(s); n > 0 && s[n-1]|0x20 == 'm' {
		s = strings.TrimRight(s[:n-1], "apAP")
		s = strings.TrimRight(s, " ")
	}
	n := len(s)
	return n > 3 && digit(s[n-1]) && digit(s[n-2]) && s[n-3] == ':' && digit(s[n-4])
}

// addressedBelow tells whether the first field in the five lines below i says to whom a message went.
func addressedBelow(lines []line, i int) bool {
	for j := i + 1; j < len(lines) && j <= i+5; j++ {
		if name := headerName(lines[j].text); headerNames.rest[name] {
			return headerNames.to[name]
		}
	}
	return false
}

// markHeads marks the headers of quoted messages, which say who wrote to whom and when, with the separators above them: what one
// person passes on has them in common, however unlike the messages are.
func markHeads(lines []line) {
	for i := 0; i < len(lines); i++ {
		if lines[i].kind == Quote && passedOn(lines, i) {
			end := headEnd(lines, i)
			mark(lines[i:end], Head)
			i = end - 1
		}
	}
}

// markTraces marks whole headers, with the way that a message took (RFC 5321, section 4.4): reports of delivery put them into their
// text. There are so many fields in one, and no empty line.
func markTraces(lines []line) {
	for i := 0; i < len(lines); i++ {
		if lines[i].kind != Body || !prefixFold(lines[i].text, "received:") && !prefixFold(lines[i].text, "return-path:") {
			continue
		}
		end, fields := i, 0
		for end < len(lines) && lines[end].text != "" {
			if name, _, ok := strings.Cut(lines[end].text, ":"); ok && traceFields[strings.ToLower(name)] {
				fields++
			}
			end++
		}
		if fields >= fewTraceFields {
			mark(lines[i:end], Head)
		}
		i = end
	}
}

const fewTraceFields = 5

var traceFields = set("received", "return-path", "from", "to", "subject", "date", "message-id", "mime-version", "content-type",
	"content-transfer-encoding", "content-language", "dkim-signature", "user-agent", "x-mailer", "in-reply-to", "references", "reply-to", "sender")

// Bounds of such a header: its lines, with the names of all to whom the message went, and the lines in a row that are neither a
// field nor one with an address or a time.
const (
	maxHeadLines = 40
	maxHeadOther = 3
)

// headEnd is the line behind the header that begins at line i: behind the last of its fields, which stand together but for
// values that are wrapped, lists of addresses above all.
func headEnd(lines []line, i int) (end int) {
	end = i + 1
	fields := false
	for j, other := i, 0; j < min(len(lines), i+maxHeadLines) && other <= maxHeadOther; j++ {
		switch s := unmarked(lines[j].text); {
		case isField(s):
			end, other, fields = j+1, 0, true
		case s == "":
			if fields && (j+1 == len(lines) || !isField(unmarked(lines[j+1].text))) {
				return end
			}
		case !strings.ContainsAny(s, "@;") && !timed(s) && !strings.HasSuffix(s, "---"):
			other++
		}
	}
	return end
}

// unmarked is a line without its quote marks: Apple's program puts some before the header that it passes on.
func unmarked(s string) string { return strings.TrimLeft(s, "> ") }

// isField tells whether a line is a field of a quoted header.
func isField(s string) bool {
	name := headerName(s)
	return headerNames.from[name] || headerNames.rest[name]
}

// headerNames are what Outlook, in the language of its user, calls the fields of the header of a message that it quotes.
var headerNames = struct{ from, to, rest map[string]bool }{
	from: set("from", "von", "de", "da", "van", "från", "fra", "od", "lähettäjä", "feladó", "de la", "expeditor", "от", "від", "από",
		"gönderen", "kimden", "dari", "từ", "จาก", "من", "מאת", "差出人", "보낸 사람", "보낸사람", "发件人", "寄件者", "寄件人"),
	to: set("to", "an", "a", "à", "pour", "para", "aan", "till", "til", "do", "komu", "címzett", "vastaanottaja", "către", "кому",
		"προς", "kime", "kepada", "đến", "ถึง", "إلى", "אל", "宛先", "받는 사람", "收件人", "收件者"),
	rest: set("cc", "bcc", "cci", "kopie", "kopia", "thema", "à", "pour", "sent", "date", "to", "subject", "gesendet", "datum", "an", "betreff", "envoyé", "objet", "enviado", "enviada em", "fecha",
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
