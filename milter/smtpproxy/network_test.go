package smtpproxy

import (
	"net/netip"
	"testing"
)

// TestNetwork: connections are limited by what one client can have addresses of.
func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{"192.0.2.9": "192.0.2.0/24", "2001:db8:1:2:3::4": "2001:db8:1:2::/64"} {
		if got := network(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
}
