package store

import (
	"math"
	"strings"
	"sync"
)

// sender is the keyed hash of a sender's address, of which the upper half is that of the house: of all whose mail has the same
// domain or, where that is anybody's, of one address.
func (s *Store) sender(address string) uint64 {
	key, at := s.hash(address), strings.LastIndexByte(address, '@')
	if at < 0 || anybodys(address[at+1:]) {
		return key
	}
	return s.hash(address[at:])&^person32 | key&person32
}

// person32 are the bits of a sender's hash that tell him from others of his house.
const person32 = 1<<32 - 1

// anybodys says whether a domain gives addresses to all who ask: who writes from there has nothing to do with the others.
func anybodys(domain string) bool {
	all := providers()
	if all[domain] {
		return true
	}
	dot := strings.IndexByte(domain, '.') + 1
	return dot > 0 && strings.Count(domain[dot:], ".") < 2 && all[domain[:dot]]
}

// providers are who has mail for anybody: domains, and for those of many countries the first label with its dot.
var providers = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, p := range strings.Fields(`
		gmail.com googlemail.com yahoo. ymail.com rocketmail.com hotmail. outlook. live. msn.com aol. icloud.com me.com
		mac.com gmx. web.de t-online.de freenet.de arcor.de mail.com email.com usa.net lycos. excite. netscape.net juno.com
		comcast.net verizon.net att.net sbcglobal.net bellsouth.net earthlink.net mindspring.com cox.net charter.net
		btinternet.com ntlworld.com sky.com virginmedia.com orange.fr wanadoo.fr free.fr laposte.net sfr.fr caramail.com
		libero.it virgilio.it tiscali. alice.it tin.it terra. telefonica.net uol.com.br bol.com.br ig.com.br globo.com
		sapo.pt ziggo.nl kpnmail.nl xs4all.nl hetnet.nl planet.nl telenet.be skynet.be bluewin.ch seznam.cz centrum.cz wp.pl
		o2.pl onet.pl interia.pl mail.ru bk.ru list.ru inbox.ru yandex. ya.ru rambler.ru ukr.net abv.bg freemail.hu qq.com
		foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com tom.com 21cn.com naver.com daum.net hanmail.net
		rediffmail.com nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp proton.me protonmail.com tutanota.com fastmail.com
		zoho.com`) {
		all[p] = true
	}
	return all
})

// places are the parts that a text is divided into, to tell where in it a feature is.
const places = 64

// hits are the features of a message's text that a cluster shares, a bit each.
type hits [maxQuery / 64]uint64

func (h *hits) add(at int) {
	if at < maxQuery {
		h[at/64] |= 1 << (at % 64)
	}
}

func (h *hits) has(at int) bool { return h[at/64]>>(at%64)&1 != 0 }

// ofHouse says whether at least half of the copies are of senders of this sender's house.
func (c *cluster) ofHouse(sender uint64) bool {
	n := uint32(0)
	for _, s := range c.senders.seen {
		if (s.key^sender)&^person32 == 0 {
			n += s.n
		}
	}
	return n > 0 && 2*n >= c.copies
}

// What stands above a letterhead: at least so many words that are not personal, by weight, of which so much may be shared (a greeting), and so improbable in a
// copy of which any word may have been changed.
const (
	fewOwn     = 4.5
	greeting   = 0.1
	improbable = 12.0 // nats
	ofWord     = 6.0  // nats that the features of a word weigh at least
)

// letterhead says whether the message begins with words of its own and goes on with those that it shares: what people of one
// house write above one signature and notice are letters, and no copies. In a copy what differs may stand anywhere, so that a
// word is its own with one chance; in a letter nearly all are in front of some place. It is so where that explains the front
// so much better (a likelihood ratio, the largest over all places). What is personal is different in each copy as well, and stands
// in front of a campaign as of a letter: a letter has other words besides.
func (q *query) letterhead(h *hits, tau float32) bool {
	if q.t == nil {
		return false
	}
	var own, ordinary, shared [places]float64
	all, owned := 0.0, 0.0
	for i := range q.text {
		f := &q.features[i]
		if f.rank > tau {
			break
		}
		all += float64(f.w)
		if h.has(i) {
			shared[f.place%places] += float64(f.w)
		} else {
			if f.place&personal == 0 {
				ordinary[f.place%places] += float64(f.w)
			}
			own[f.place%places] += float64(f.w)
			owned += float64(f.w)
		}
	}
	if all == 0 {
		return false
	}
	part := max(owned/all, 0.02)
	word := max(all/float64(q.t.Tokens), ofWord)
	forOwn, forShared := math.Log((1-greeting)/part)/word, math.Log(greeting/max(1-part, 0.02))/word
	ratio, best, front, end := 0.0, 0.0, 0.0, 0.0
	for i := range places {
		front += ordinary[i]
		if ratio += forOwn*own[i] + forShared*shared[i]; ratio > best {
			best, end = ratio, front
		}
	}
	return best >= improbable*(1-part)*(1-part) && end >= fewOwn*word
}
