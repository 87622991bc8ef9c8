package main

import (
	"fmt"
	"net"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
)

// A place is where a door is served: on the sockets that the service manager opened for it, where there are any, else on
// the addresses of the configuration.
type place struct {
	passed    []net.Listener
	addresses []config.Address
}

// open listens; what it had opened is closed again where it cannot.
func (p place) open() ([]net.Listener, error) {
	if len(p.passed) > 0 {
		return p.passed, nil
	}
	var out []net.Listener
	for _, a := range p.addresses {
		l, err := listen(a)
		if err != nil {
			for _, l := range out {
				l.Close()
			}
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
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

// place is where a door is to be served; none says that it is not.
func (e *entrance) place(name string, addresses []config.Address) (_ place, none bool) {
	passed := e.passed[name]
	return place{passed, addresses}, len(passed) == 0 && len(addresses) == 0
}

// listen listens on an address. A Unix socket is for its owner and group; one that is left over is replaced if nobody
// answers there.
func listen(a config.Address) (net.Listener, error) {
	if a.Network == "unix" {
		if c, err := net.DialTimeout("unix", a.Addr, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("somebody serves %s already", a)
		}
		return control.Listen(a.Addr)
	}
	return net.Listen(a.Network, a.Addr)
}
