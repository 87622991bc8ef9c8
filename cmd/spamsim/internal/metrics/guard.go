package metrics

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// guard lets those in who bring the token. Where there is none, it lets those in who ask for a loopback name or come by a
// Unix socket: a page in a browser of this machine can be made to ask a name of its own that points here, and would read
// the answer (DNS rebinding).
func guard(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case token != "" && !bearer(r, token):
			w.Header().Set("WWW-Authenticate", `Bearer realm="spamsim"`)
			say(w, http.StatusUnauthorized, "bring the token of http.token: Authorization: Bearer TOKEN")
		case token == "" && !local(r):
			say(w, http.StatusForbidden, "ask by a loopback name, or set http.token")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// bearer tells whether a request brings the token. The digests are compared, lest the time tell the token's length.
func bearer(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// local tells whether a request names this machine by a loopback name, or came by a Unix socket.
func local(r *http.Request) bool {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && a.Network() == "unix" {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
