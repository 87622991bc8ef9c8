package store

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"spamsim/parse"
)

// own is ownWords, and that the hashes are still those of the words.
func own(words []string) []string {
	words, hashes := ownWords(words, wordHashes(nil, words))
	if !slices.Equal(hashes, wordHashes(nil, words)) {
		return []string{"hashes of other words"}
	}
	return words
}

func TestOwnWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"one":                    "one",
		"please send mail to me": "please send mail to me",
		"for further assistance please send mail to postmaster":                                   "",
		"amy for further assistance please send mail to bob":                                      "amy bob",
		"amy for further assistance please send mail bob":                                         "amy for further assistance please send mail bob",
		"own before for further assistance please send mail to postmaster own after":              "own before own after",
		"first sorry to have to inform you that your aunt":                                        "first aunt",
		"sorry to have to inform you that your ann bob cid dan eve fay gus hal if you do ivy":     "ann bob cid dan eve fay gus hal ivy",
		"sorry to have to inform you that your ann bob cid dan eve fay gus hal ivy if you do jon": "ann bob cid dan eve fay gus hal ivy if you do jon",
		"if you do a@b.example sorry to have to inform you that your":                             "a@b.example",
		"if you do ann please send mail to bob sorry to have":                                     "if you do ann please send mail to bob sorry to have",
	} {
		if got := own(parse.AppendTokens(nil, parse.Fold(in))); !slices.Equal(got, parse.AppendTokens(nil, parse.Fold(want))) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	w := newWriter(80)
	words := w.text(3000)
	if got := own(slices.Clone(words)); len(got) != len(words) {
		t.Errorf("%d of %d words of another text are left", len(got), len(words))
	}
}

// TestNoticesAreNoCampaign: what programs write for many people makes no copies, the same words of a person do.
func TestNoticesAreNoCampaign(t *testing.T) {
	for name, notice := range map[string]string{
		"bounce": "This is the mail system at host mx%.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\nIf you do so, please include this problem report. You can\ndelete your own text from the attached returned message.\n\n<u%@a%.example>: host mx.a%.example[192.0.2.%] said: 550 5.1.1\n <u%@a%.example>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)",
		"office": "Your message to u%@a%.example couldn't be delivered.\nu% wasn't found at a%.example.\n\nUnknown To address\n\nHow to Fix It\nThe address may be misspelled or may not exist. Try one or more of the following:\nSend the message again following these steps: In Outlook, open this non-delivery report (NDR) and choose Send Again from the Report ribbon. Then delete and retype the entire recipient address. If prompted with an Auto-Complete List suggestion don't select it. After typing the complete address, click Send.",
		"zoom":   "u% is inviting you to a scheduled Zoom meeting.\n\nJoin Zoom Meeting\nhttps://zoom.example/j/%?pwd=%\n\nMeeting ID: 8% 12%\nPasscode: a%\n\nDial by your location\n        +1 301 715 8592 US (Washington DC)\n        +1 312 626 6799 US (Chicago)\n        +1 646 876 9923 US (New York)\n        +1 253 215 8782 US (Tacoma)\nFind your local number: https://zoom.example/u/%",
		"chimp":  "Copyright © 2025 Firm%, All rights reserved.\nOur mailing address is:\n12% Street\nWant to change how you receive these emails?\nYou can update your preferences or unsubscribe from this list.\nEmail Marketing Powered by Mailchimp",
		"list":   "-------------- next part --------------\nA non-text attachment was scrubbed...\nName: signature.asc\nType: application/pgp-signature\nSize: 81% bytes\nDesc: OpenPGP digital signature\nURL: <http://lists.a%.example/pipermail/list/attachments/20%/attachment.sig>\n-------------- next part --------------\nAn HTML attachment was scrubbed...\nURL: <http://lists.a%.example/pipermail/list/attachments/20%/attachment.html>",
		"read":   "This is a Return Receipt for the mail that you sent to u%@a%.example.\n\nNote: This Return Receipt only acknowledges that the message was displayed on the recipient's computer. There is no guarantee that the recipient has read or understood the message contents.",
	} {
		s := scratchStore(t)
		w := newWriter(81)
		for n := range 8 {
			text := strings.ReplaceAll(notice, "%", string(rune('a'+n)))
			raw := "Subject: x\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n\r\n" + strings.Join(w.text(60), " ") + "\r\n"
			if ev := s.Count(NewTrace(parse.Parse([]byte(raw), parse.Limits{})), from(n)); ev.Member && ev.Copies >= 5 {
				t.Errorf("%s %d: %+v", name, n, ev)
			}
		}
	}
}

// TestServicesAreNoCampaign: what gateways, scanners and services write above and below the letters of many people makes no
// copies of them, however short they are.
func TestServicesAreNoCampaign(t *testing.T) {
	for name, c := range map[string]struct{ above, below string }{
		"gateway":  {above: "CAUTION: This email originated from outside of the organization. Do not click links or open attachments unless you recognize the sender and know the content is safe."},
		"learn":    {above: "[You don't often get email from u%@a%.example. Learn why this is important at https://aka.ms/LearnAboutSenderIdentification ]"},
		"external": {above: "This Message Is From an External Sender\nThis message came from outside your organization.\nPlease exercise caution when opening attachments or clicking on links."},
		"german":   {above: "ACHTUNG: Diese E-Mail stammt von außerhalb der Organisation. Klicken Sie nicht auf Links und öffnen Sie keine Anhänge, es sei denn, Sie kennen den Absender und wissen, dass der Inhalt sicher ist."},
		"unknown":  {above: "*** EXTERNAL MAIL *** Do not open attachments or click links from unknown senders."},
		"away":     {above: "Thank you for your email. I am currently out of the office with no access to email and will return on Monday. If your request is urgent, please contact my colleague % % at u%@a%.example."},
		"abwesend": {above: "Vielen Dank für Ihre Nachricht. Ich bin derzeit nicht im Büro und habe keinen Zugriff auf meine E-Mails. Ihre E-Mail wird nicht automatisch weitergeleitet. In dringenden Fällen wenden Sie sich bitte an meine Kollegin % %."},
		"letter":   {below: "You're currently a free subscriber to %. For the full experience, upgrade your subscription.\nUpgrade to paid\nLike Comment Restack\n(C) 2026 %\n548 Market Street PMB %, San Francisco, CA 94104\nUnsubscribe"},
		"ticket":   {above: "# New Ticket Created by  % % \n# Please include the string:  [% #42%]\n# in the subject line of all future correspondence about this issue. \n# <URL: http://rt.%.example/Ticket/Display.html?id=42% >"},
		"answered": {above: "##- Please type your reply above this line -##\nYour request (42%) has been received and is being reviewed by our support staff.\nTo add additional comments, reply to this email.", below: "This email is a service from %. Delivered by Zendesk"},
		"issue":    {below: "Reply to this email directly or view it on GitLab.\nYou're receiving this email because of your account on gitlab.com. If you'd like to receive fewer emails, you can unsubscribe from this thread or adjust your notification settings."},
		"scanner":  {below: "This email has been checked for viruses by Avast antivirus software.\nwww.avast.example"},
		"document": {below: "Do Not Share This Email\nThis email contains a secure link to Docusign. Please do not share this email, link, or access code with others.\n\nAlternate Signing Method\nVisit Docusign.com, click 'Access Documents', and enter the security code: %\n\nAbout Docusign\nSign documents electronically in just minutes. It's safe, secure, and legally binding."},
		"zoom":     {below: "% is inviting you to a scheduled Zoom meeting.\n\nJoin Zoom Meeting\nhttps://us02web.zoom.us/j/%\n\nMeeting ID: 842 1234 %\nPasscode: %\n\n---\n\nOne tap mobile\n+16699006833,,%# US (San Jose)\n\n---\n\nDial by your location\n• +1 669 900 6833 US (San Jose)\n• +1 719 359 4580 US\n• +1 253 205 0468 US\n• +1 305 224 1968 US\n• +1 309 205 3325 US\n\nFind your local number: https://us02web.zoom.us/u/%\n\n---\n\nJoin by H.323\n• 144.195.19.161 (US West)\n• 206.247.11.121 (US East)\n• 115.114.131.7 (India Mumbai)"},
		"webex":    {below: "-- Do not delete or change any of the following text. --\n\nWhen it's time, join your Webex meeting here.\n\nMore ways to join:\n\nJoin from the meeting link\nhttps://%.webex.com/j.php?MTID=%\n\nJoin by meeting number\nMeeting number (access code): 2345 %\nMeeting password: %\n\nTap to join from a mobile device (attendees only)"},
		"réunion":  {below: "Réunion Microsoft Teams\nRejoindre sur votre ordinateur, application mobile ou appareil de la salle\nCliquez ici pour participer à la réunion<https://teams.microsoft.com/l/%>\nID de réunion : 345 %\nCode secret : %\nTélécharger Teams | Rejoindre sur le web\nOu appelez (audio seulement)"},
		"anzeige":  {above: "Hallo %!\n\nEin Interessent hat eine Anfrage zu deiner Anzeige gesendet:\n\n'%'\nAnzeigennummer: 42%\n\nNachricht von: %", below: "Beantworte diese Nachricht einfach durch Klick auf 'Antworten' in deinem E-Mail-Programm oder direkt in deinem Postfach bei Kleinanzeigen.\n\nZum Schutz unserer Nutzer filtern wir Spam und andere verdächtige Nachrichten. Wenn Nutzer gegen unsere Grundsätze verstoßen, behalten wir uns vor, die Übertragung weiterer Nachrichten zu verhindern."},
		"attached": {below: "Your message is ready to be sent with the following file or link attachments:\n\n%.pdf\n\nNote: To protect against computer viruses, e-mail programs may prevent sending or receiving certain types of file attachments. Check your e-mail security settings to determine how attachments are handled."},
		"fuera":    {above: "Buenos días:\n\nGracias por su mensaje. Estaré fuera de la oficina hasta el 4% de noviembre, con acceso limitado al correo electrónico. Para asuntos urgentes, póngase en contacto con % %."},
		"assente":  {above: "Buongiorno,\n\nsono fuori ufficio fino al 4% novembre e non avrò accesso regolare alla posta elettronica. Per comunicazioni urgenti potete contattare % % al numero 4%."},
		"absent":   {above: "Bonjour,\n\nJe suis actuellement absent du bureau et serai de retour le 4% novembre. En cas d'urgence, merci de contacter % %."},
		"urlop":    {above: "Dzień dobry,\n\ndziękuję za wiadomość. Do dnia 4% przebywam na urlopie i nie mam dostępu do poczty. W pilnych sprawach proszę o kontakt z % %."},
		"férias":   {above: "Bom dia,\n\nObrigado pela sua mensagem. Estarei fora do escritório até o dia 4% com acesso limitado ao e-mail. Para assuntos urgentes, por favor entre em contato com % %."},
		"semester": {above: "Hej!\n\nTack för ditt mejl. Jag är på semester till och med den 4% och har begränsad tillgång till min e-post. Vid brådskande ärenden vänligen kontakta % %."},
		"español":  {above: "No se pudo entregar el mensaje a estos destinatarios o grupos:\n\n% (u%@a%.example)\nNo se encontró la dirección de correo electrónico que especificó. Compruebe la dirección de correo electrónico del destinatario e intente reenviar el mensaje. Si el problema continúa, póngase en contacto con el departamento de soporte técnico."},
		"digest":   {above: "Send % mailing list submissions to\n\t%@lists.%.example\n\nTo subscribe or unsubscribe via the World Wide Web, visit\n\thttps://lists.%.example/mailman/listinfo/%\nor, via email, send a message with subject or body 'help' to\n\t%-request@lists.%.example\n\nYou can reach the person managing the list at\n\t%-owner@lists.%.example\n\nWhen replying, please edit your Subject line so it is more specific\nthan \"Re: Contents of % digest...\""},
		"calendar": {above: "You have been invited by % % to attend an event named %.\n\n%\nThursday Nov 4%, 2025\nCentral European Time - Berlin\n\n% 4%\nView map https://www.google.com/maps?q=%\n\nJoin with Google Meet\nhttps://meet.google.com/%\n\nJoin by phone\n(US) +1 2%\nPIN: 4%#\n\nMore phone numbers: https://tel.meet/%", below: "Organizer\n%\n\nGuests\n% - organizer\n%\nView all guest info https://calendar.google.com/e?%\n\nYour attendance is optional."},
		"event":    {above: "Hi %,\n\nA new event has been scheduled.\n\nEvent Type:\n30 Minute Meeting\n\nInvitee:\n%\n\nInvitee Email:\nu%@a%.example", below: "View event in Calendly: https://calendly.com/a/%\n\nPro Tip! Take Calendly anywhere you work\nAccess Calendly on any web page with our browser extension."},
		"gesendet": {below: "Ihre Nachricht kann jetzt mit folgender Datei oder Linkanlage gesendet werden:\n\n%.pdf\n\nHinweis: E-Mail-Programme können das Senden oder Empfangen von bestimmten Arten von Dateianlagen verhindern, um den Computer vor Viren zu schützen."},
		"incident": {above: "Hello %,\n\nYour incident INC4% has been opened on your behalf.\n\nShort description: %", below: "Priority: 2 - High\nState: New\nAssignment group: %\n\nYou can view all the details of the incident by following the link below:\nTake me to the incident: https://%.service-now.com/n%\n\nThank you.\n\nUnsubscribe | Notification Preferences\n\nRef:MSG4%"},
		"topic":    {below: "---\n[Visit Topic](https://forum.%.example/t/%) or reply to this email to respond.\n\nYou are receiving this because you enabled mailing list mode.\n\nTo unsubscribe from these emails, [click here](https://forum.%.example/u/%)."},
	} {
		s := scratchStore(t)
		w := newWriter(84)
		for n := range 12 {
			raw := "Subject: x\n\n" + c.above + "\n\n" + strings.Join(w.text(25), " ") + "\n\n" + c.below + "\n"
			for _, own := range w.text(strings.Count(raw, "%")) {
				raw = strings.Replace(raw, "%", own, 1)
			}
			ev := s.Count(NewTrace(parse.Parse([]byte(raw), parse.Limits{})), from(n))
			if ev.Abstain != "" || ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
				t.Errorf("%s %d: %+v", name, n, ev)
			}
		}
	}
}

// TestNoticesAlone: notices that say nothing of their own but names, addresses and numbers make no campaign.
func TestNoticesAlone(t *testing.T) {
	for name, notice := range map[string]string{
		"exim":     "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  %w@%w.example\n    host mx.%w.example [%d.%d.%d.%d]\n    SMTP error from remote mail server after RCPT TO:<%w@%w.example>:\n    550 5.1.1 User unknown",
		"delay":    "This is the mail system at host mx.%w.example.\n\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n\nYour message could not be delivered for more than 4 hour(s).\nIt will be retried until it is 5 day(s) old.\n\n<%w@%w.example>: connect to mx.%w.example[%d.%d.%d.%d]:25: Connection timed out",
		"office":   "Your message to %w@%w.example couldn't be delivered.\n%w wasn't found at %w.example.\nsender Office 365 %w\nAction Required Recipient\nUnknown To address\nHow to Fix It\nThe address may be misspelled or may not exist. Try one or more of the following:\nSend the message again following these steps: In Outlook, open this non-delivery report (NDR) and choose Send Again from the Report ribbon.",
		"exchange": "Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\n%w@%w.example\nDie eingegebene E-Mail-Adresse konnte nicht gefunden werden. Überprüfen Sie die E-Mail-Adresse des Empfängers, und versuchen Sie, die Nachricht erneut zu senden. Wenn das Problem weiterhin besteht, wenden Sie sich an Ihren E-Mail-Administrator.\n\nDiagnoseinformationen für Administratoren:\n\nGenerierender Server: %w.example\n\n%w@%w.example\nRemote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'",
		"zoom":     "%w %w is inviting you to a scheduled Zoom meeting.\n\nTopic: %w %w\nTime: %d %d 10:00 AM Amsterdam, Berlin, Rome, Stockholm, Vienna\n\nJoin Zoom Meeting\nhttps://us02web.zoom.us/j/%d\n\nMeeting ID: %d%d\nPasscode: %w%d\nOne tap mobile\n+13017158592,,%d%d# US (Washington DC)\n+13126266799,,%d%d# US (Chicago)\n\nDial by your location\n        +1 301 715 8592 US (Washington DC)\n        +1 312 626 6799 US (Chicago)\nFind your local number: https://us02web.zoom.us/u/%w",
		"teams":    "%w %w %w %w %w\n\nMicrosoft Teams meeting\nJoin on your computer, mobile app or room device\nClick here to join the meeting <https://teams.microsoft.com/l/%w>\nMeeting ID: %d%d\nPasscode: %w\nDownload Teams<https://www.microsoft.com/a> | Join on the web<https://www.microsoft.com/b>\nOr call in (audio only)\n+%d %d   %w\nPhone Conference ID: %d%d#\nFind a local number<https://dialin.teams.microsoft.com/x> | Reset PIN<https://dialin.teams.microsoft.com/y>\nLearn More<https://aka.ms/z> | Meeting options<https://teams.microsoft.com/%d>",
		"banned":   "Hi,\n\nThe IP %d.%d.%d.%d has just been banned by Fail2Ban after\n%d attempts against sshd.\n\nHere is more information about %d.%d.%d.%d :\n\nOrganization: %w %w\n\nRegards,\n\nFail2Ban",
		"disk":     "This message was generated by the smartd daemon running on:\n\n   host name:  %w\n   DNS domain: %w.example\n\nThe following warning/error was logged by the smartd daemon:\n\nDevice: /dev/sd%w [SAT], %d Currently unreadable (pending) sectors\n\nDevice info:\n%w-%w, S/N:%w-%w, FW:%d.%d, %d TB\n\nFor details see host's SYSLOG.\n\nYou can also use the smartctl utility for further investigation.\nNo additional messages about this problem will be sent.",
	} {
		s := scratchStore(t)
		w := newWriter(82)
		for n := range 20 {
			pieces := strings.Split(notice, "%")
			for i, piece := range pieces[1:] {
				if piece[0] == 'd' {
					pieces[i+1] = strconv.Itoa(w.IntN(255)) + piece[1:]
				} else {
					pieces[i+1] = word(w.Uint64()%20_000) + piece[1:]
				}
			}
			raw := "Subject: x\r\n\r\n" + strings.ReplaceAll(strings.Join(pieces, ""), "\n", "\r\n") + "\r\n"
			if ev := s.Count(NewTrace(parse.Parse([]byte(raw), parse.Limits{})), from(n)); ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
				t.Errorf("%s %d: %+v", name, n, ev)
			}
		}
	}
}

// TestWrapped: who puts what programs say around and between his words does not hide them. A few make pairs of boilerplate by
// chance.
func TestWrapped(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(83)
	said := strings.Fields(strings.ReplaceAll(boilerplate, "\n", " "))
	text := w.text(60)
	found, hidden := 0, 0
	for n := range 12 {
		var mail []string
		for own := range slices.Chunk(w.changed(text, 0.1), 3+w.IntN(4)) {
			at := w.IntN(len(said) - 20)
			mail = append(append(mail, said[at:at+1+w.IntN(20)]...), own...)
		}
		own := own(parse.AppendTokens(nil, parse.Fold(strings.Join(mail, " "))))
		for _, x := range text {
			if slices.Contains(mail, x) && !slices.Contains(own, parse.AppendTokens(nil, parse.Fold(x))[0]) {
				hidden++
			}
		}
		if ev := s.Count(traceOf(mail), from(n)); ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
			found++
		}
	}
	if found < 8 || hidden > 36 {
		t.Errorf("%d of 8 copies from the fifth on are found, %d of 720 words are hidden", found, hidden)
	}
}
