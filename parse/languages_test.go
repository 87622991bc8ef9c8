package parse

import (
	"fmt"
	"strings"
	"testing"
)

// TestQuotesInOtherLanguages: what a short answer quotes is set apart also where the mail program of who answers speaks another
// language, as Outlook, Outlook on the web and those that write a line above marked lines do.
func TestQuotesInOtherLanguages(t *testing.T) {
	const own = "We could meet on Thursday at the mill, if that suits you and Maria"
	quoted := strings.Repeat("so many words\n", 50)
	header := func(from, sent, to, subject string) string {
		return fmt.Sprintf("%s: Ann Lee <ann@a.example>\n%s: 14.09.2026 10:12\n%s: Bob\n%s: The mill\n\n", from, sent, to, subject)
	}
	for _, h := range []string{
		header("From", "Sent", "To", "Subject"), header("Von", "Gesendet", "An", "Betreff"), header("De", "Envoyé", "À", "Objet"),
		header("De", "Enviado", "Para", "Asunto"), header("De", "Enviada em", "Para", "Assunto"), header("Da", "Inviato", "A", "Oggetto"),
		header("Van", "Verzonden", "Aan", "Onderwerp"), header("Od", "Wysłano", "Do", "Temat"), header("Från", "Skickat", "Till", "Ämne"),
		header("Fra", "Sendt", "Til", "Emne"), header("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"),
		header("Od", "Odesláno", "Komu", "Předmět"), header("Feladó", "Elküldve", "Címzett", "Tárgy"),
		header("De la", "Trimis", "Către", "Subiect"), header("От", "Отправлено", "Кому", "Тема"), header("Від", "Надіслано", "Кому", "Тема"),
		header("Από", "Στάλθηκε", "Προς", "Θέμα"), header("Gönderen", "Gönderildi", "Kime", "Konu"),
		header("من", "تاريخ الإرسال", "إلى", "الموضوع"), header("מאת", "נשלח", "אל", "נושא"),
		header("差出人", "送信日時", "宛先", "件名"), header("보낸 사람", "보낸 날짜", "받는 사람", "제목"), header("发件人", "发送时间", "收件人", "主题"),
	} {
		onlyOwn(t, own, "text/plain", own+"\n\n"+h+quoted)
	}
	onlyOwn(t, own, "text/html", "<div>"+own+"</div><div id=\"appendonsend\"></div><hr><div id=\"divRplyFwdMsg\"><b>Saatja:</b> Ann<br>"+
		"<b>Teema:</b> The mill</div><div>"+quoted[:len(quoted)/2]+"</div>")
	for _, line := range []string{
		"Op 14 sep. 2026 om 10:12 heeft Ann Lee <ann@a.example> het volgende geschreven:",
		"Στις Δευ 14 Σεπ 2026 στις 10:12, ο/η Ann Lee <ann@a.example> έγραψε:",
		"เมื่อ จ. 14 ก.ย. 2026 เวลา 10:12 Ann Lee <ann@a.example> เขียนว่า:",
		"2026年9月14日(月) 10:12 Ann Lee <ann@a.example>:",
		"\u202bבתאריך 14.9.2026 ב-10:12 מאת \u202aAnn Lee\u202c <\u202aann@a.example\u202c>:\u202c",
	} {
		onlyOwn(t, own, "text/plain", own+"\n\n"+line+"\n> "+strings.ReplaceAll(quoted, "\n", "\n> "))
	}
}

func onlyOwn(t *testing.T, own, typ, body string) {
	t.Helper()
	raw := "Subject: Re: x\nMIME-Version: 1.0\nContent-Type: " + typ + "; charset=utf-8\n\n" + body
	if got := Parse([]byte(raw), Limits{}).Text(); got != Fold(own) {
		t.Errorf("of %.120q is left %.200q", body[min(len(body), len(own)):], got)
	}
}
