package smtpproxy

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPaceOfContent sends content in pieces, ten seconds apart: whoever sends 100 octets a second is waited for to the end, whoever
// sends less is not; and how late it is against 500 is what it is sent away for when others want to come in.
func TestPaceOfContent(t *testing.T) {
	const every, pieces = 10 * time.Second, 60
	for _, c := range []struct {
		octets int // in each piece
		taken  bool
		late   time.Duration // after all pieces
	}{
		{10 * minRate, true, pieces * every * 8 / 10},
		{10*minRate - 500, false, 0},
		{10 * busyRate, true, 0},
		{100 * busyRate, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			defer there.Close()
			s := &Server{cfg: Config{}}
			s.cfg.fill()
			s.budget.limit = s.cfg.MemoryBudget
			client := newClient(s, here, netip.Addr{})
			in := &incoming{server: s, msg: s.hold(netip.Prefix{}), transaction: &transaction{session: client.session}}
			taken := make(chan bool, 1)
			go func() {
				taken <- in.receive()
				here.Close()
			}()
			for range pieces {
				time.Sleep(every)
				if _, err := there.Write([]byte(strings.Repeat("x", c.octets))); err != nil {
					break
				}
			}
			synctest.Wait()
			if late := client.silentFor(time.Now()); late != c.late {
				t.Errorf("%d octets every %v: %v late, want %v", c.octets, every, late, c.late)
			}
			_, _ = there.Write([]byte("\r\n.\r\n"))
			if got := <-taken; got != c.taken {
				t.Errorf("%d octets every %v: taken is %v", c.octets, every, got)
			}
			if late := client.silentFor(time.Now().Add(time.Hour)); late != 0 {
				t.Errorf("%v late when the content is there", late)
			}
		})
	}
}

// A patient is a next hop that takes its time.
type patient struct {
	delivery
	writes int
	wait   time.Duration
}

func (p *patient) Write(b []byte) (int, error) {
	p.writes++
	time.Sleep(p.wait)
	return len(b), nil
}

// TestPaceOfNextHop: content waits for a next hop that is slow, and whoever sends it is not late for that.
func TestPaceOfNextHop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		s := &Server{cfg: Config{}}
		s.cfg.fill()
		client := newClient(s, here, netip.Addr{})
		hop := &patient{wait: 2 * s.cfg.Timeouts.Data}
		in := &incoming{server: s, stream: true, transaction: &transaction{session: client.session, out: hop}}
		taken := make(chan bool, 1)
		go func() {
			taken <- in.receive()
			here.Close()
		}()
		for range 3 {
			if _, err := there.Write([]byte("a line\r\n")); err != nil {
				break
			}
			time.Sleep(hop.wait / 2)
			if late := client.silentFor(time.Now()); late != 0 {
				t.Errorf("%v late while the next hop is waited for", late)
			}
			time.Sleep(hop.wait/2 + time.Second)
		}
		synctest.Wait()
		// Of the first piece, which came at once, nothing is paid ahead.
		if late, want := client.silentFor(time.Now()), 3*time.Second-2*8*time.Second/busyRate; late != want {
			t.Errorf("%v late, want %v", late, want)
		}
		_, _ = there.Write([]byte(".\r\n"))
		if got := <-taken; !got || hop.writes < 3 {
			t.Errorf("taken is %v after %d pieces", got, hop.writes)
		}
	})
}
