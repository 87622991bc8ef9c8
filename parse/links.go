package parse

import "strings"

// plainLinks returns the http and https addresses that stand in a text.
func plainLinks(s string) (links []string) {
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			return links
		}
		start := schemeStart(s[:i])
		s2 := s[i+3:]
		n := strings.IndexAny(s2, " \t\n\"<>")
		if n < 0 {
			n = len(s2)
		}
		host := strings.TrimRight(s2[:n], ".,;:!?)]}'*_")
		if start >= 0 && host != "" {
			links = append(links, s[start:i+3+len(host)])
		}
		s = s2[n:]
	}
}

// schemeStart returns where "http" or "https" begins at the end of s, -1 where neither does.
func schemeStart(s string) int {
	for _, scheme := range []string{"https", "http"} {
		if n := len(s) - len(scheme); n >= 0 && strings.EqualFold(s[n:], scheme) {
			return n
		}
	}
	return -1
}
