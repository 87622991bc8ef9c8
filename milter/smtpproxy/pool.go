package smtpproxy

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// maxIdle is how many connections to the next hop are kept unused. Each costs the next hop a process there if it is
// Postfix, which has 100 by default.
const maxIdle = 64

// A pool is a next hop that speaks SMTP or LMTP, with the connections that wait for a transaction. A connection goes
// back only after a transaction without a single error: servers count errors a connection, and answer slowly and then
// not at all, which would hit the next client's mail.
type pool struct {
	server           *Server
	network, address string
	lmtp             bool
	client           xforward // what XCLIENT tells; nil says nothing
	origin           origin   // what a PROXY header tells
	login            bool     // the one connection is authenticated: there is no other

	mu     sync.Mutex
	idle   []*remote // the longest unused first
	timer  *time.Timer
	closed bool
}

func newPool(s *Server, network, address string, lmtp bool) *pool {
	return &pool{server: s, network: network, address: address, lmtp: lmtp}
}

// host is the next hop's name, to be found in its certificate.
func (p *pool) host() string {
	host, _, err := net.SplitHostPort(p.address)
	if err != nil {
		return "localhost" // a Unix socket
	}
	return host
}

// features are those of a connection at hand, else of a new one, which then waits for a transaction.
func (p *pool) features() (features, error) {
	r := p.take()
	if r == nil {
		var err error
		if r, err = p.dial(); err != nil {
			return features{}, err
		}
	}
	offer := r.offer
	p.put(r)
	return offer, nil
}

// begin takes a connection at hand, else a new one.
func (p *pool) begin() (delivery, error) {
	r := p.take()
	if r == nil {
		var err error
		if r, err = p.dial(); err != nil {
			return nil, err
		}
	}
	if r.reused {
		p.server.counters.hopReused.Add(1)
	}
	return &exchange{pool: p, remote: r}, nil
}

// take returns the connection that was used last, nil where there is none. One on which the next hop has said something since is
// ended: its next answer would be taken for that to another command.
func (p *pool) take() *remote {
	for {
		r := p.last()
		if r == nil || silent(r.conn) {
			return r
		}
		r.quit()
	}
}

func (p *pool) last() *remote {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	r := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return r
}

// silent tells whether no octet waits to be read from a connection. Of one that is sealed it knows nothing: what lies there may be a
// session ticket. That it has ended is found when it is used.
func silent(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	n := 0
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		})
	}
	return err != nil || n <= 0
}

// put keeps a connection for the next transaction, or ends it.
func (p *pool) put(r *remote) {
	p.mu.Lock()
	keep := !p.closed && !r.astray && (p.login || !r.tainted && len(p.idle) < maxIdle) && r.r.Buffered() == 0
	if keep {
		r.since, r.reused = time.Now(), true
		p.idle = append(p.idle, r)
		if p.timer == nil && !p.login {
			p.timer = time.AfterFunc(p.server.cfg.Timeouts.Idle, p.expire)
		}
	}
	p.mu.Unlock()
	if !keep {
		r.quit()
	}
}

// expire ends the connections that were unused for too long, and comes back for the others.
func (p *pool) expire() {
	p.mu.Lock()
	if p.login { // since the timer was set
		p.mu.Unlock()
		return
	}
	idle := p.server.cfg.Timeouts.Idle
	n := 0
	for n < len(p.idle) && time.Since(p.idle[n].since) >= idle {
		n++
	}
	old := p.idle[:n:n]
	p.idle = append([]*remote(nil), p.idle[n:]...)
	p.timer = nil
	if len(p.idle) > 0 {
		p.timer = time.AfterFunc(idle-time.Since(p.idle[0].since), p.expire)
	}
	p.mu.Unlock()
	for _, r := range old {
		r.quit()
	}
}

// bind makes the pool that of one authenticated connection.
func (p *pool) bind() {
	p.mu.Lock()
	p.login = true
	p.mu.Unlock()
}

// close ends the connections that are unused and keeps none from now on.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	old := p.idle
	p.idle = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	for _, r := range old {
		r.quit()
	}
}
