package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/handover"
	"spamsim/cmd/spamsim/internal/systemd"
)

// sockets are those that others opened for this daemon. The zero value is none.
type sockets struct {
	passed map[string][]net.Listener        // by the service manager, by the names of the doors
	opened map[handover.Socket]net.Listener // by the predecessor
}

// take is a listener that the predecessor opened, which is then no more among them; nil is none.
func (s *sockets) take(is handover.Socket) net.Listener {
	l, ok := s.opened[is]
	if !ok {
		return nil
	}
	delete(s.opened, is)
	return l
}

// close closes those that are not served after all.
func (s *sockets) close() {
	systemd.Close(s.passed)
	for _, l := range s.opened {
		l.Close()
	}
}

// A spot is where a door is served.
type spot struct {
	handover.Socket
	net.Listener
}

// A place is where a door is to be served: on the sockets that the service manager opened for it, where there are any, else on
// the addresses of the configuration.
type place struct {
	door      string
	passed    []net.Listener
	addresses []config.Address
	sockets   *sockets
}

// open listens; what it had opened is closed again where it cannot.
func (p place) open() ([]spot, error) {
	var out []spot
	for _, l := range p.passed {
		out = append(out, spot{handover.Socket{Door: p.door}, l})
	}
	if out != nil {
		return out, nil
	}
	for _, a := range p.addresses {
		is := handover.Socket{Door: p.door, Address: a.String()}
		l := p.sockets.take(is)
		if l == nil {
			var err error
			if l, err = p.listen(a); err != nil {
				closeAll(out)
				return nil, err
			}
		}
		out = append(out, spot{is, l})
	}
	return out, nil
}

// listen listens on an address of the door. Who holds the store knows that nobody serves its control socket.
func (p place) listen(a config.Address) (net.Listener, error) {
	if p.door == "control" {
		return control.Listen(a.Addr)
	}
	return listen(a)
}

func closeAll(spots []spot) {
	for _, s := range spots {
		s.Close()
	}
}

// names are its addresses as the configuration writes them.
func (p place) names() []string {
	var out []string
	for _, l := range p.passed {
		out = append(out, l.Addr().String())
	}
	if out == nil {
		for _, a := range p.addresses {
			out = append(out, a.Addr)
		}
	}
	return out
}

// addresses are those of a door in the configuration.
func addresses(conf *config.Loaded, door string) []config.Address {
	return map[string][]config.Address{
		"smtp": conf.SMTP.Listen, "lmtp": conf.SMTP.LMTPListen, "milter": conf.Milter.Listen, "dccifd": conf.Dccifd.Listen, "http": conf.HTTP.Listen,
	}[door]
}

// place is where a door is to be served; none says that it is not.
func (e *entrance) place(door string) (_ place, none bool) {
	p := place{door, e.sockets.passed[door], addresses(e.conf, door), e.sockets}
	return p, len(p.passed) == 0 && len(p.addresses) == 0
}

// listen listens on an address. A Unix socket is for its owner and group; one that is left over is replaced if nobody
// answers there.
func listen(a config.Address) (net.Listener, error) {
	if a.Network == "unix" {
		if c, err := net.DialTimeout("unix", a.Addr, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("somebody serves %s: %w", a, syscall.EADDRINUSE)
		}
		return control.Listen(a.Addr)
	}
	l, err := net.Listen(a.Network, a.Addr)
	if errors.Is(err, syscall.EACCES) {
		err = fmt.Errorf("%w: ports below 1024 are for root, for who has CAP_NET_BIND_SERVICE, and for sockets that systemd opens", err)
	}
	return l, err
}
