package console

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// TestHeaders: whatever the answer is, it says how it is to be taken.
func TestHeaders(t *testing.T) {
	w := newWorld(t, token)
	for _, path := range []string{"/", "/style.css", "/icon.svg", "/nothing", "/campaigns/x"} {
		for _, password := range []string{token, "wrong"} {
			r := httptest.NewRequest("GET", "http://localhost"+path, nil)
			r.SetBasicAuth("", password)
			a := httptest.NewRecorder()
			w.handler.ServeHTTP(a, r)
			for name, want := range map[string]string{
				"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
				"Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := a.Result().Header.Get(name); got != want {
					t.Errorf("%s with password %q: %s is %q", path, password, name, got)
				}
			}
		}
	}
	for _, must := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, must) {
			t.Errorf("the policy lacks %s", must)
		}
	}
	for _, not := range []string{"unsafe", "script-src", "*", "http:", "data:"} {
		if strings.Contains(policy, not) {
			t.Errorf("the policy has %s", not)
		}
	}
}

// TestHost: names that are not ours may be somebody's who points them here.
func TestHost(t *testing.T) {
	w := newWorld(t, token)
	for host, want := range map[string]int{
		"127.0.0.1:9465": 200, "[::1]:9465": 200, "[::1]": 200, "localhost:1": 200, "LOCALHOST": 200, "mx.test": 200, "MX.test.:443": 200, "192.0.2.1:9465": 200,
		"evil.test:9465": 403, "mx.test.evil.test": 403, "localhost.evil.test": 403, "127.0.0.1.evil.test": 403, "": 403, "evil.test": 403,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.SetBasicAuth("", token)
		if code, _ := w.do(r); code != want {
			t.Errorf("Host %q: %d, want %d", host, code, want)
		}
	}
}

func TestToken(t *testing.T) {
	w := newWorld(t, token)
	w.fill(1)
	for _, c := range []struct {
		header string
		want   int
	}{
		{"", 401}, {"Basic", 401}, {"Basic !", 401}, {"Bearer", 401}, {"Bearer " + token, 200}, {"bearer " + token, 200}, {"Bearer " + token + "x", 401},
		{"Bearer " + token[:10], 401}, {"Digest " + token, 401}, {token, 401},
	} {
		r := httptest.NewRequest("GET", "http://localhost/campaigns", nil)
		r.Header.Set("Authorization", c.header)
		code, page := w.do(r)
		if code != c.want {
			t.Errorf("%q: %d, want %d", c.header, code, c.want)
		}
		if code == 401 && strings.Contains(page, "garden") {
			t.Errorf("%q reads what is out of mail", c.header)
		}
	}
	r := httptest.NewRequest("GET", "http://localhost/", nil)
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	if got := a.Result().Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Basic ") {
		t.Errorf("a browser is not asked for the password: %q", got)
	}
}

// TestWithoutToken: counts are shown, nothing out of mail is, and nothing can be changed.
func TestWithoutToken(t *testing.T) {
	w := newWorld(t, "")
	id := w.hostile()
	w.fill(1)
	for _, path := range append(everyPage(id), "/why?id=5%22%27%3E%3Cb%3E@x.test") {
		r := httptest.NewRequest("GET", "http://localhost"+path, nil)
		code, page := w.do(r)
		if code != 200 && code != 404 {
			t.Errorf("%s: %d", path, code)
		}
		for _, mail := range []string{"garden", "Invoice", "gnp.exe", "x.test", "zerowidth", "<form"} {
			if strings.Contains(page, mail) && !strings.Contains(path, mail) {
				t.Errorf("%s shows %q", path, mail)
			}
		}
	}
	if code, _ := w.do(postForm("/campaigns/"+id+"/label", "label=ham")); code != 403 {
		t.Errorf("a change without a token to bring: %d", code)
	}
	if len(w.recent.copies) != 0 || len(w.recent.find("5\"'><b>@x.test", 1)) != 0 {
		t.Error("what is out of mail is kept")
	}
}

// postForm is a form as a browser sends it from a page of the console, without a password.
func postForm(path, form string) *http.Request {
	r := httptest.NewRequest("POST", "http://127.0.0.1:9465"+path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://127.0.0.1:9465")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

// TestChangesAreGuarded: every change is refused where token, origin or Host is not right, and then nothing has changed.
func TestChangesAreGuarded(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	wrong := map[string]struct {
		spoil func(r *http.Request)
		want  int
	}{
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":  {func(r *http.Request) { r.SetBasicAuth("", token+"x") }, 401},
		"no origin":      {func(r *http.Request) { r.Header.Del("Origin") }, 403},
		"null origin":    {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"another site":   {func(r *http.Request) { r.Header.Set("Origin", "http://evil.test") }, 403},
		"another port":   {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:80") }, 403},
		"another scheme": {func(r *http.Request) { r.Header.Set("Origin", "ftp://127.0.0.1:9465") }, 403},
		"https, unconfirmed": {func(r *http.Request) {
			r.Header.Set("Origin", "https://127.0.0.1:9465")
			r.Header.Del("Sec-Fetch-Site")
		}, 403},
		"https, cross-site": {func(r *http.Request) {
			r.Header.Set("Origin", "https://127.0.0.1:9465")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403},
		"over TLS, from http": {func(r *http.Request) { r.TLS = &tls.ConnectionState{} }, 403},
		"cross-site":          {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"same-site":           {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"none":                {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 403},
		"another Host": {func(r *http.Request) {
			r.Host = "evil.test:9465"
			r.Header.Set("Origin", "http://evil.test:9465")
		}, 403},
	}
	forms := map[string]string{"/campaigns/" + id + "/label": "label=ham&name=mine", "/campaigns/" + id + "/drop": "sure=yes", "/why": "message=x"}
	for path, form := range forms {
		for name, c := range wrong {
			r := postForm(path, form)
			r.SetBasicAuth("", token)
			c.spoil(r)
			if code, _ := w.do(r); code != c.want {
				t.Errorf("%s with %s: %d, want %d", path, name, code, c.want)
			}
		}
	}
	if d, err := w.store.Campaign(id); err != nil || d.Label != filter.None || d.Name != "" {
		t.Errorf("changed: %+v, %v", d, err)
	}
}

// TestBehindProxy: a form reaches the console through a proxy that ends TLS, if the proxy passes Host as the browser sent it
// and the browser says that its page is of the proxy's origin.
func TestBehindProxy(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	console := httptest.NewServer(w.handler)
	defer console.Close()
	to, err := url.Parse(console.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, site string
		keepsHost  bool
		want       int
	}{
		{"Host as the browser sent it", "same-origin", true, 303},
		{"Host rewritten", "same-origin", false, 403},
		{"a page of another scheme or port of the host", "same-site", true, 403},
		{"a browser that does not say", "", true, 403},
	} {
		proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to) // which takes the console's address for Host
			if c.keepsHost {
				r.Out.Host = r.In.Host
			}
		}})
		r, err := http.NewRequest("POST", proxy.URL+"/campaigns/"+id+"/label", strings.NewReader("label=spam"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {proxy.URL}}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		r.SetBasicAuth("", token)
		answer, err := proxy.Client().Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		proxy.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, answer.StatusCode, c.want)
		}
	}
	if d, err := w.store.Campaign(id); err != nil || d.Label != filter.Spam {
		t.Errorf("after the form: %+v, %v", d, err)
	}
}

// TestChanges labels a campaign and drops it, as the pages' forms do.
func TestChanges(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	send := func(path string, form url.Values) (int, string) {
		r := postForm(path, form.Encode())
		r.SetBasicAuth("", token)
		return w.do(r)
	}
	for _, bad := range []url.Values{{}, {"label": {"good"}}, {"label": {""}}} {
		if code, _ := send("/campaigns/"+id+"/label", bad); code != 400 {
			t.Errorf("%v: %d", bad, code)
		}
	}
	if code, _ := send("/campaigns/"+id+"/label", url.Values{"label": {"spam"}, "name": {"<b>pills"}}); code != 303 {
		t.Errorf("label: %d", code)
	}
	if d, err := w.store.Campaign(id); err != nil || d.Label != filter.Spam || d.Name != "<b>pills" {
		t.Errorf("after label: %+v, %v", d, err)
	}
	if _, page := w.get("/campaigns?view=labelled"); !strings.Contains(page, "[<bdi>&lt;b&gt;pills</bdi>]") {
		t.Errorf("the name is not in the list:\n%s", page)
	}
	if code, _ := send("/campaigns/"+id+"/drop", url.Values{}); code != 400 {
		t.Errorf("drop without being sure: %d", code)
	}
	if code, _ := send("/campaigns/"+id+"/drop", url.Values{"sure": {"yes"}}); code != 303 {
		t.Errorf("drop: %d", code)
	}
	if code, _ := w.get("/campaigns/" + id); code != 404 {
		t.Errorf("a dropped campaign: %d", code)
	}
	if got := strings.Count(w.log.String(), "cluster="+id); got != 2 {
		t.Errorf("%d lines of the log tell of the changes:\n%s", got, w.log.String())
	}
}
