package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A Duration is a span of time, written as in Go ("90s", "1h30m") or in whole or broken days ("7d", "0.5d").
// It is a struct lest a bare number in the file be taken for nanoseconds.
type Duration struct{ time.Duration }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || math.IsNaN(n) || math.Abs(n) > 36500 {
			return fmt.Errorf("%q is no number of days: write \"7d\"", s)
		}
		d.Duration = time.Duration(n * float64(day))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is no time: write \"30s\", \"12h\" or \"7d\"", s)
	}
	d.Duration = v
	return nil
}

const day = 24 * time.Hour

// MarshalText writes whole days as "7d", anything else as Go does, without its zero parts.
func (d Duration) MarshalText() ([]byte, error) {
	if d.Duration != 0 && d.Duration%day == 0 {
		return fmt.Appendf(nil, "%dd", d.Duration/day), nil
	}
	s := d.Duration.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return []byte(s), nil
}

// String returns the time as the configuration writes it.
func (d Duration) String() string {
	b, _ := d.MarshalText() // cannot fail
	return string(b)
}

// A Size is a number of octets, written plainly or with KB, MB or GB, which are powers of 1024.
type Size int64

// units from the largest down, so that MarshalText finds the shortest form first.
var units = []struct {
	name string
	size int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}}

// UnmarshalText reads a size.
func (z *Size) UnmarshalText(text []byte) error {
	s := string(text)
	digits, factor := s, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(strings.ToUpper(s), u.name); ok {
			digits, factor = strings.TrimSpace(rest), u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("%q is no size: write \"64KB\", \"10MB\" or \"1GB\"", s)
	}
	*z = Size(n * factor)
	return nil
}

// MarshalText writes a size in the largest unit that divides it.
func (z Size) MarshalText() ([]byte, error) {
	for _, u := range units {
		if z != 0 && int64(z)%u.size == 0 {
			return fmt.Appendf(nil, "%d%s", int64(z)/u.size, u.name), nil
		}
	}
	return strconv.AppendInt(nil, int64(z), 10), nil
}

// String returns the size as the configuration writes it.
func (z Size) String() string {
	b, _ := z.MarshalText() // cannot fail
	return string(b)
}

// A Secret is text that is not shown: printed it reads "hidden", which is too short to be taken for one again. The zero value
// is none.
type Secret struct{ text string }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// UnmarshalText takes any text.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = string(text)
	return nil
}

// String returns what is shown in its place.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "hidden"
}

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// mark tells one secret from another, but for one pair in 65,536, and leaves what it is to be guessed.
func (s Secret) mark() string {
	if s.text == "" {
		return nothing
	}
	sum := sha256.Sum256([]byte(s.text))
	return fmt.Sprintf("hidden, mark %x", sum[:2])
}

// A Network is an address range; a single address is a range of one.
type Network struct{ netip.Prefix }

// UnmarshalText reads "192.0.2.0/24", "192.0.2.1" or their IPv6 likes.
func (n *Network) UnmarshalText(text []byte) error {
	s := string(text)
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		n.Prefix = netip.PrefixFrom(a, a.BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return fmt.Errorf("%q is no address and no network: write \"192.0.2.1\" or \"2001:db8::/32\"", s)
	}
	if p != p.Masked() {
		return fmt.Errorf("%q has bits beyond its length: did you mean %q?", s, p.Masked())
	}
	n.Prefix = p
	return nil
}

// MarshalText writes a single address without its length.
func (n Network) MarshalText() ([]byte, error) {
	if n.IsSingleIP() {
		return n.Addr().MarshalText()
	}
	return n.Prefix.MarshalText()
}

// An Address is where to listen: the network ("tcp" or "unix") and the address for net.Listen.
type Address struct{ Network, Addr string }

// errAddress is what is said of an address that cannot be listened on.
var errAddress = errors.New("is no address to listen on: write \"127.0.0.1:10025\" or \"unix:/path\"")

// UnmarshalText reads "host:port" or "unix:/path".
func (a *Address) UnmarshalText(text []byte) error {
	s := string(text)
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if !strings.HasPrefix(path, "/") {
			return fmt.Errorf("%q %w", s, errAddress)
		}
		*a = Address{Network: "unix", Addr: path}
		return nil
	}
	host, number, err := net.SplitHostPort(s)
	if err != nil || host != "" && !validHost(host) {
		return fmt.Errorf("%q %w", s, errAddress)
	}
	if port, err := strconv.ParseUint(number, 10, 16); err != nil || strconv.Itoa(int(port)) != number {
		return fmt.Errorf("%q has no port between 0 and 65535", s)
	}
	*a = Address{Network: "tcp", Addr: s}
	return nil
}

// validHost tells whether a host is an IP address or may be a name.
func validHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || domain.MatchString(host) && host[0] != '.'
}

// MarshalText is the inverse of UnmarshalText.
func (a Address) MarshalText() ([]byte, error) {
	if a.Network == "unix" {
		return []byte("unix:" + a.Addr), nil
	}
	return []byte(a.Addr), nil
}

// String returns the address as the configuration writes it.
func (a Address) String() string {
	b, _ := a.MarshalText() // cannot fail
	return string(b)
}

// local tells whether only this machine can reach it: a Unix socket, or an address of loopback.
func (a Address) local() bool {
	host, _, err := net.SplitHostPort(a.Addr)
	ip := net.ParseIP(host)
	return a.Network == "unix" || err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
