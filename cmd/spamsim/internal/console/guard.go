package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// policy is the Content-Security-Policy of every answer: pages of text, one style sheet and one icon, both from here.
// There are no scripts.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard lets a request in that may come in, and says of every answer how it is to be taken.
func (c *console) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // not "no-referrer", with which a form's Origin would be "null"
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case !c.named(r):
			http.Error(w, "this console does not go by that name: ask by an IP address, localhost, or the name in the configuration (id)", http.StatusForbidden)
		case c.Token != "" && !c.brings(r):
			h.Set("WWW-Authenticate", `Basic realm="spamsim console: the password is http.token", charset="UTF-8"`)
			http.Error(w, "the password is the token of the configuration (http.token); the user's name is free", http.StatusUnauthorized)
		case !reads && c.Token == "":
			http.Error(w, "this console shows and changes nothing: set http.token", http.StatusForbidden)
		case !reads && !sameOrigin(r):
			http.Error(w, "that form was not sent by a page of this console", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// named says whether a request asks for a name of this host. A page of somebody's in a browser near here can make a name of
// his point here, and would then be of the same origin as the answer (DNS rebinding). An address cannot be made to do so.
func (c *console) named(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if net.ParseIP(strings.Trim(host, "[]")) != nil || host == "localhost" {
		return true
	}
	return host != "" && slices.ContainsFunc(c.Hosts(), func(name string) bool { return strings.EqualFold(name, host) })
}

// brings says whether a request brings the token: as the password of Basic authentication (RFC 7617), which browsers ask
// for by themselves and keep for this origin alone, or as a bearer's (RFC 6750 section 2.1), as /metrics wants it. A cookie
// would go to every port of the host, whoever listens there (RFC 6265 section 8.5). The digests are compared, lest the
// time tell the token's length.
func (c *console) brings(r *http.Request) bool {
	_, given, ok := r.BasicAuth()
	if !ok {
		var scheme string
		scheme, given, _ = strings.Cut(r.Header.Get("Authorization"), " ")
		ok = strings.EqualFold(scheme, "Bearer")
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(c.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && ok
}

// sameOrigin says whether a request was sent by a page of the origin that it goes to. Browsers bring passwords along with
// whatever a foreign page sends; what they say of where it comes from no page can change: Origin with every form, and the
// newer Sec-Fetch-Site. Where a proxy ends TLS the page's scheme is https and what comes here is plain: then the browser,
// which knows how it asked the proxy, has to say in so many words that the origin is the same.
func sameOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "" && site != "same-origin" {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || r.Host == "" || !strings.EqualFold(origin.Host, r.Host) {
		return false
	}
	switch origin.Scheme {
	case "https":
		return r.TLS != nil || site == "same-origin"
	case "http":
		return r.TLS == nil
	}
	return false
}
