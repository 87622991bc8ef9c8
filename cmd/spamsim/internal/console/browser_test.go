package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// serve is a console for a browser: its address with the password in it, and without.
func (w *world) serve() (with, without string) {
	w.t.Helper()
	s := httptest.NewServer(w.handler)
	w.t.Cleanup(s.Close)
	return strings.Replace(s.URL, "http://", "http://x:"+token+"@", 1), s.URL
}

// contrasts finds text that stands out too little from what is behind it: WCAG 2.2, 1.4.3, with its formulas of contrast
// and luminance. Text within pictures stands on the picture's ground.
const contrasts = `(() => {
	const rgb = s => (s.match(/[\d.]+/g) || []).map(Number);
	const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length && c[3] !== 0) return c; } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.body.querySelectorAll('*')) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length || e.closest('title')) continue;
		const style = getComputedStyle(e), fore = rgb(e.closest('svg') ? style.fill : style.color);
		const a = lum(fore), b = lum(ground(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) bad.push(e.tagName + '.' + e.getAttribute('class') + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30));
	}
	return bad;
})()`

// structure finds what those miss who do not see the page, or use no mouse.
const structure = `(() => {
	const bad = [], all = s => [...document.querySelectorAll(s)], want = (ok, what) => { if (!ok) bad.push(what); };
	for (const s of ['main', 'nav', 'header', 'footer', 'h1', 'title', 'html[lang]']) want(all(s).filter(e => !e.closest('svg')).length === 1, 'not one ' + s);
	for (const e of all('input, textarea')) want(e.labels.length > 0, 'no label: ' + e.outerHTML);
	for (const e of all('table')) want(e.caption && e.caption.textContent.trim(), 'no caption: ' + e.textContent.slice(0, 60));
	for (const e of all('th')) want(e.scope, 'no scope: ' + e.outerHTML);
	for (const e of all('svg')) want(e.getAttribute('role') === 'img' && e.getAttribute('aria-label'), 'a picture without a name');
	for (const e of all('.scroll')) want(e.tabIndex === 0 && e.getAttribute('aria-label'), 'cannot be scrolled by keys');
	for (const e of all('[aria-labelledby]')) want(document.getElementById(e.getAttribute('aria-labelledby')), 'named by nothing');
	const ids = all('[id]').map(e => e.id); want(new Set(ids).size === ids.length, 'an id twice: ' + ids);
	let level = 0; for (const e of all('h1, h2, h3')) { want(e.tagName[1] - level <= 1, 'a heading left out before ' + e.textContent); level = +e.tagName[1]; }
	want(all('script, img, iframe, object, [style], [onerror], [onclick]').length === 0, 'what no page of ours has');
	want(document.documentElement.scrollWidth <= innerWidth, 'wider than the window: ' + all('main *').filter(e => !e.closest('.scroll *') && e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 80)));
	return bad;
})()`

// TestBrowser looks at every page in a real browser, wide and narrow, light and dark. The mail means harm.
func TestBrowser(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	w.fill(2)
	with, _ := w.serve()
	b := startBrowser(t)
	for _, look := range []struct {
		scheme string
		width  int
		ground string // the style sheet's --page
	}{{"light", 1280, "rgb(246, 247, 248)"}, {"dark", 360, "rgb(18, 22, 26)"}} {
		b.scheme(look.scheme, look.width)
		for _, path := range everyPage(id) {
			if path == "/nothing" || strings.Contains(path, "unknown") || strings.Contains(path, "00000000") {
				continue // of which a browser says in its log that they are not there
			}
			b.load(with + strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E").Replace(path))
			var ground string
			b.eval("getComputedStyle(document.body).backgroundColor", &ground)
			if got := b.complaints(); len(got) > 0 {
				t.Errorf("%s, %s: the browser complains: %q", path, look.scheme, got)
			}
			if ground != look.ground {
				t.Errorf("%s, %s: the page's ground is %s", path, look.scheme, ground)
			}
			for name, find := range map[string]string{"contrast": contrasts, "structure": structure} {
				var bad []string
				if b.eval(find, &bad); len(bad) > 0 {
					t.Errorf("%s, %s, %s:\n%s", path, look.scheme, name, strings.Join(bad, "\n"))
				}
			}
		}
	}
}

// TestBrowserComplains shows that the tests above can fail: a page with our policy that does not keep to it.
func TestBrowserComplains(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!DOCTYPE html><link rel="icon" href="/icon.svg"><script>alert(1)</script><body><p style="color:#888">faint</p><input><svg></svg>`)
	}))
	defer s.Close()
	b := startBrowser(t)
	b.load(s.URL)
	b.eval("1", nil)
	if got := strings.Join(b.complaints(), "\n"); !strings.Contains(got, "script") || !strings.Contains(got, "style") || strings.Contains(got, "Dialog") {
		t.Errorf("the log has %s", got)
	}
	var bad []string
	if b.eval(structure, &bad); !slices.ContainsFunc(bad, func(s string) bool { return strings.HasPrefix(s, "no label") }) {
		t.Errorf("structure finds %q", bad)
	}
	b.eval(`document.querySelector('p').style.color = '#888'`, nil)
	if b.eval(contrasts, &bad); len(bad) != 1 || !strings.HasPrefix(bad[0], "P.null 3.5") {
		t.Errorf("contrast finds %q", bad)
	}
}

// TestBrowserKeyboard: the first step of the tab key shows a way past the navigation, and what has the focus can be seen.
func TestBrowserKeyboard(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	with, _ := w.serve()
	b := startBrowser(t)
	b.load(with + "/campaigns/" + id)
	var steps []string
	for range 40 {
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
		}
		var step struct {
			Text    string
			Outline string
			Left    float64
		}
		b.eval(`(e => ({Text: e.tagName + ' ' + (e.textContent || e.name || '').trim().slice(0, 30), Outline: getComputedStyle(e).outlineStyle, Left: e.getBoundingClientRect().left}))(document.activeElement)`, &step)
		if strings.HasPrefix(step.Text, "BODY") {
			break
		}
		if step.Left < 0 || step.Outline == "none" {
			t.Errorf("the focus cannot be seen: %+v", step)
		}
		steps = append(steps, step.Text)
	}
	for _, want := range []string{"A Skip to the content", "A Why flagged?", "INPUT label", "INPUT name", "BUTTON Save", "SUMMARY Forget this campaign"} {
		if !slices.Contains(steps, want) {
			t.Errorf("the tab key does not come to %q: %q", want, steps)
		}
	}
	if len(steps) == 0 || steps[0] != "A Skip to the content" {
		t.Errorf("the steps are %q", steps)
	}
}

// TestBrowserForms sends the forms as a person would, and then from a foreign page that even knows the password.
func TestBrowserForms(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	with, without := w.serve()
	b := startBrowser(t)
	b.load(with + "/campaigns/" + id)
	b.events = nil
	b.eval(`document.querySelector('input[value=ham]').click(); document.querySelector('button').click()`, nil)
	b.loaded()
	if d, err := w.store.Campaign(id); err != nil || d.Label != filter.Ham {
		t.Fatalf("after the form the label is %v, %v", d.Label, err)
	}
	b.load(without + "/why")
	b.events = nil
	b.eval(`document.querySelector('textarea').value = 'Subject: x\n\nToo short.'; [...document.querySelectorAll('button')].find(e => e.textContent === 'Explain').click()`, nil)
	b.loaded()
	var text string
	if b.eval("document.querySelector('main').innerText", &text); !strings.Contains(text, "abstain") {
		t.Errorf("the explanation is %s", text)
	}
	evil := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, _ *http.Request) {
		a.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(a, `<!DOCTYPE html><link rel="icon" href="data:,"><form method="post" action="%s/campaigns/%s/drop"><input name="sure" value="yes"></form>`, with, id)
	}))
	defer evil.Close()
	b.load(evil.URL)
	b.events = nil
	b.eval(`document.forms[0].submit()`, nil)
	b.loaded()
	if b.eval("document.body.innerText", &text); !strings.Contains(text, "was not sent by a page of this console") {
		t.Errorf("the foreign form is answered %q", text)
	}
	if _, err := w.store.Campaign(id); err != nil {
		t.Errorf("a foreign page dropped a campaign: %v", err)
	}
}
