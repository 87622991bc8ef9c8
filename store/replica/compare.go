package replica

import (
	"context"
	"sync"
	"time"

	"spamsim/store"
)

// forgottenAfter is how long an entry of a peer that lives must be missing in the state until it is let go here: its
// origin has let it go, unless the state itself was lost, which the origin mends within seconds.
const forgottenAfter = 15 * time.Second

// comparers is how many buckets are compared at a time: one waits for the broker while another reads.
const comparers = 2

func bucketOf(key []byte) int {
	k, _ := store.ReadKey(key) // what was sealed here can be read
	return k.Bucket()
}

// compare brings buckets of this node and of the state together, in both directions.
func (r *Replica) compare(ctx context.Context, b *broker, buckets []int) error {
	adopt := !r.wasCompared()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan int, len(buckets))
	for _, bucket := range buckets {
		todo <- bucket
	}
	close(todo)
	var working sync.WaitGroup
	for range comparers {
		working.Go(func() {
			news := newcomers{share: r.share, adopt: adopt}
			defer news.apply() // also what came before something went wrong
			for bucket := range todo {
				if err := r.compareOne(ctx, b, bucket, &news); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.count(func(s *Status) { s.Compared++; r.compared = true })
	return nil
}

// newcomers are entries that the state has and this node has not: taken in many at a time, they cost less.
type newcomers struct {
	share   *store.Share
	adopt   bool
	entries []store.Entry
}

// manyNew is how many are taken in at once: some 15 MB.
const manyNew = 1 << 14

func (n *newcomers) add(e store.Entry) {
	if n.entries = append(n.entries, e); len(n.entries) == manyNew {
		n.apply()
	}
}

func (n *newcomers) apply() {
	n.share.Apply(n.entries, n.adopt)
	n.entries = n.entries[:0]
}

func (r *Replica) compareOne(ctx context.Context, b *broker, bucket int, news *newcomers) error {
	r.mu.Lock()
	hour, later := r.hours()
	r.mu.Unlock()
	mine := r.share.Stamps(bucket, hour)
	lasting := mine // what others take in
	if later > hour {
		lasting = r.share.Stamps(bucket, later)
	}
	var ended []string
	var passed []store.Key // others', of which a later word has ended that was not heard here
	err := b.state(ctx, bucket, func(part []sealed) {
		var stray []store.Entry
		for _, s := range part {
			e, err := r.seal.open(s.key, s.value)
			if err != nil {
				r.refuse(err)
				continue
			}
			stamp, known := mine[e.Key]
			if known && stamp > e.Stamp {
				continue // it stays among those that the state has not
			}
			delete(mine, e.Key)
			switch {
			case e.Until <= hour:
				if e.Until+1 < hour { // clocks differ: nobody else holds it any more
					ended = append(ended, string(s.key))
				}
				if known {
					passed = append(passed, e.Key)
				}
			case known && stamp == e.Stamp:
			case e.Origin == r.share.Node() && !news.adopt:
				stray = append(stray, e)
			default:
				news.add(e)
			}
		}
		r.share.Insist(stray)
	})
	if err != nil {
		return err
	}
	r.share.Lost(passed)
	var own, foreign []store.Key // of which the state has none, or older ones
	for k := range mine {
		if _, lasts := lasting[k]; k.Origin != r.share.Node() {
			foreign = append(foreign, k)
		} else if lasts {
			own = append(own, k)
		}
	}
	r.share.Unsent(own)
	r.keep(bucket, foreign)
	return b.forget(ctx, bucket, ended)
}

// keep decides on others' entries that the state lacks, or has older ones of: those of a node that is gone are told again in
// its place; what a node that lives does not tell of any more is let go.
func (r *Replica) keep(bucket int, keys []store.Key) {
	now := time.Now()
	var lost []store.Key
	r.mu.Lock()
	here := make(map[store.Key]bool, len(keys))
	for _, k := range keys {
		here[k] = true
		since, known := r.missing[k]
		switch {
		case !r.lives(k.Origin, now):
			r.resend = append(r.resend, k)
		case !known:
			r.missing[k] = now
		case now.Sub(since) > forgottenAfter:
			lost = append(lost, k)
			delete(r.missing, k)
		}
	}
	for k := range r.missing {
		if k.Bucket() == bucket && !here[k] {
			delete(r.missing, k)
		}
	}
	r.mu.Unlock()
	r.share.Lost(lost)
}
