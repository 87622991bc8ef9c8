package store

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"spamsim/parse"
)

// TestLettersOfAnyLanguage: what letters of a language begin and end with, and its articles and pronouns, make no copies of them.
func TestLettersOfAnyLanguage(t *testing.T) {
	for name, c := range map[string]struct{ above, amid, below string }{
		"German": {"Sehr geehrte Damen und Herren,", "ich habe das für sie und wir werden noch mit ihnen über die", "Mit freundlichen Grüßen"},
		"French": {"Bonjour Madame, Monsieur,", "nous avons pour vous dans cette et je ne suis pas avec les",
			"Je vous prie d'agréer, Madame, Monsieur, l'expression de mes salutations distinguées."},
		"Polish":     {"Szanowni Państwo,", "nie jest tak jak już przez które oraz będzie także dla nich", "Z poważaniem i serdeczne pozdrowienia"},
		"Russian":    {"Здравствуйте, уважаемые коллеги!", "это было так как они для вас или если когда также будет", "С уважением и наилучшими пожеланиями"},
		"Arabic":     {"السلام عليكم ورحمة الله وبركاته", "هذا الذي كان في من على إلى هذه التي لقد كما أن", "مع خالص التحية والتقدير"},
		"Vietnamese": {"Kính gửi anh chị,", "những được trong không với nhưng các của chúng này", "Rất mong nhận được phản hồi. Xin trân trọng cảm ơn anh chị."},
	} {
		s, w := scratchStore(t), newWriter(92)
		for i := range 30 {
			letter := slices.Concat(strings.Fields(c.above), w.text(6), strings.Fields(c.amid), w.text(6), strings.Fields(c.below))
			words := parse.AppendTokens(nil, parse.Fold(strings.Join(letter, " ")))
			if ev := s.Count(traceOf(words), from(i)); ev.Abstain != "" || ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
				t.Errorf("%s letter %d: %+v", name, i, ev)
			}
		}
	}
}

// TestFormulas: what letters in scripts without spaces begin and end with makes no copies of them.
func TestFormulas(t *testing.T) {
	for name, c := range map[string]struct {
		above, below string
		first, last  rune // of the letters that their own words are of
	}{
		"Japanese": {"いつもお世話になっております。", "お忙しいところ恐れ入りますが、ご確認のほどよろしくお願いいたします。", 'ぁ', 'ヶ'},
		"Kanji":    {"お疲れ様です。", "取り急ぎご連絡まで。引き続きよろしくお願い致します。", '一', '丿'},
		"Korean":   {"안녕하세요. 처음 인사드립니다.", "궁금하신 점이 있으시면 언제든지 연락 주시기 바랍니다. 감사합니다.", '가', '힣'},
		"Chinese":  {"尊敬的客户，您好！", "如有任何问题，请随时与我联系。\n顺祝商祺！", '一', '龥'},
		"Thai":     {"เรียน คุณที่นับถือ", "จึงเรียนมาเพื่อโปรดทราบ\nขอแสดงความนับถือ", 'ก', 'ฮ'},
	} {
		s, w := scratchStore(t), newWriter(93)
		for i := range 30 {
			own := make([]rune, 50)
			for k := range own {
				own[k] = c.first + w.Int32N(c.last-c.first)
			}
			raw := "Content-Type: text/plain; charset=utf-8\n\n" + c.above + "\n" + string(own) + "\n" + c.below
			if ev := s.Count(NewTrace(parse.Parse([]byte(raw), parse.Limits{})), from(i)); ev.Abstain != "" || ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
				t.Errorf("%s letter %d: %+v", name, i, ev)
			}
		}
	}
}

// TestPlainWords: all are told, and hardly another; none is a Latin one that is too short to be a word of other languages, too.
func TestPlainWords(t *testing.T) {
	for line := range strings.Lines(commonWords) {
		for _, w := range parse.AppendTokens(nil, parse.Fold(line)) {
			if !plain(w) {
				t.Errorf("%q is not told", w)
			}
			if len(w) < 3 && w[0] < utf8.RuneSelf {
				t.Errorf("%q of %q is told", w, line)
			}
		}
	}
	for _, w := range []string{"he", "no", "to", "ham", "tom"} {
		if plain(w) {
			t.Errorf("%q is told, which looks like a Russian word", w)
		}
	}
	others := 0
	for n := range uint64(20_000) {
		if plain("x" + word(n)) {
			others++
		}
	}
	if others > 40 {
		t.Errorf("%d of 20000 others are told", others)
	}
}
