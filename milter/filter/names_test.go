package filter

import "testing"

// TestNetwork: one sender's part of the addresses, and an IPv4 address is one however it is written.
func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.9": "192.0.2.0/24", "::ffff:192.0.2.9": "192.0.2.0/24", "2001:db8:1:2::3": "2001:db8:1::/48", "fe80::1%eth0": "fe80::/48",
		"": "", "host.example": "",
	} {
		if got := network(addr); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}

// TestFieldName: what is no header field must not be taken for one, else our field comes into the body, or a forged one stays.
func TestFieldName(t *testing.T) {
	for line, want := range map[string]string{
		"Subject: x": "Subject", "X-Spamsim : y": "X-Spamsim", "X-Spamsim\t:y": "X-Spamsim", "a:": "a",
		"Dear Bob: hi": "", ": x": "", "no colon": "", "Sub\x7fject: x": "", "Sub\x00ject: x": "", "Ünder: x": "",
	} {
		if got := fieldName([]byte(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
