package replica

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"
)

// The keys. What stands in braces makes a Redis Cluster keep them in one slot.
const (
	keyStream = "{spamsim}:ev"
	keyState  = "{spamsim}:st:" // and the bucket
	keyNodes  = "{spamsim}:nodes"
	fieldData = "b"
)

const (
	blockFor  = 500 * time.Millisecond // a read that waits: cancelling does not end it
	noBlock   = -1                     // a read that does not
	patience  = 3 * time.Second        // for an answer
	readCount = 8                      // batches
	scanCount = 2048
)

// emptyStream is what comes before all batches.
const emptyStream = "0-0"

// ErrURL is returned for an address of a broker that cannot be.
var ErrURL = errors.New("no address of a broker")

// A broker is a connection to Redis.
type broker struct{ c redis.UniversalClient }

// dial prepares a client; it connects when it is used. Beside redis://, rediss:// and unix:// it takes
// redis+cluster:// and redis+sentinel:// (rediss+cluster://, rediss+sentinel://), with further hosts as addr=host:port and
// Sentinel's name of the master as master_name=name behind a question mark. All other options are those of go-redis.
func dial(url string, roots *x509.CertPool) (*broker, error) {
	redis.SetLogger(silent{})
	scheme, rest, _ := strings.Cut(url, "://")
	base, kind, _ := strings.Cut(scheme, "+")
	plain := base + "://" + rest
	switch kind {
	case "":
		o, err := redis.ParseURL(url)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrURL, withoutSecrets(err))
		}
		trust(o.TLSConfig, roots)
		o.MaxRetries, o.DialerRetries = -1, 1 // run tries again, with a comparison first
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = patience, patience, patience, true
		return &broker{redis.NewClient(o)}, nil
	case "cluster":
		o, err := redis.ParseClusterURL(plain)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrURL, withoutSecrets(err))
		}
		trust(o.TLSConfig, roots)
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = patience, patience, patience, true
		return &broker{redis.NewClusterClient(o)}, nil
	case "sentinel":
		o, err := redis.ParseFailoverURL(plain)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrURL, withoutSecrets(err))
		}
		trust(o.TLSConfig, roots)
		o.MaxRetries = -1
		o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.ContextTimeoutEnabled = patience, patience, patience, true
		return &broker{redis.NewFailoverClient(o)}, nil
	}
	return nil, fmt.Errorf("%w: scheme %q", ErrURL, scheme)
}

// trust makes TLS, where it is spoken, hold to the certificates that were given.
func trust(c *tls.Config, roots *x509.CertPool) {
	if c != nil {
		c.RootCAs, c.MinVersion = roots, tls.VersionTLS12
	}
}

// silent is go-redis's own log: what goes wrong is returned too.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// withoutSecrets keeps the address, which may have a password, out of the log.
func withoutSecrets(err error) error {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); strings.Contains(text, "://") && i >= 0 {
		text = text[i+2:]
	}
	return errors.New(text)
}

func (b *broker) close() { b.c.Close() }

// newest is the id of the last batch, or what comes before all.
func (b *broker) newest(ctx context.Context) (string, error) {
	last, err := b.c.XRevRangeN(ctx, keyStream, "+", "-", 1).Result()
	if err != nil {
		return "", failed(err)
	}
	if len(last) == 0 {
		return emptyStream, nil
	}
	return last[0].ID, nil
}

// append tells a batch and notes its entries in the state, both or neither. Batches before oldest, an id, are let go.
func (b *broker) append(ctx context.Context, batch []byte, entries []sealed, oldest string) error {
	_, err := b.c.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: keyStream, MinID: oldest, Approx: true, Values: []any{fieldData, batch}})
		var fields [64][]any
		for _, e := range entries {
			at := bucketOf(e.key)
			fields[at] = append(fields[at], e.key, e.value)
		}
		for i, f := range fields {
			if f != nil {
				p.HSet(ctx, stateKey(i), f...)
			}
		}
		return nil
	})
	if err != nil {
		return failed(err)
	}
	return nil
}

// A message is one of the stream.
type message struct {
	id   string
	data []byte
}

// read returns the batches after an id, and none after a while in which there were none.
func (b *broker) read(ctx context.Context, after string, wait time.Duration) ([]message, error) {
	streams, err := b.c.XRead(ctx, &redis.XReadArgs{Streams: []string{keyStream, after}, Count: readCount, Block: wait}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(err)
	}
	var out []message
	for _, s := range streams {
		for _, m := range s.Messages {
			data, _ := m.Values[fieldData].(string)
			out = append(out, message{m.ID, octets(data)})
		}
	}
	return out, nil
}

// state calls do for every entry of a bucket, some of them twice.
func (b *broker) state(ctx context.Context, bucket int, do func(part []sealed)) error {
	for cursor := uint64(0); ; {
		fields, next, err := b.c.HScan(ctx, stateKey(bucket), cursor, "", scanCount).Result()
		if err != nil {
			return failed(err)
		}
		part := make([]sealed, 0, len(fields)/2)
		for i := 0; i+1 < len(fields); i += 2 {
			part = append(part, sealed{octets(fields[i]), octets(fields[i+1])})
		}
		do(part)
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// octets are those of a string, which nobody may write to: entries come by the gigabyte where a node joins.
func octets(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// forget removes entries of a bucket from the state.
func (b *broker) forget(ctx context.Context, bucket int, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	if err := b.c.HDel(ctx, stateKey(bucket), keys...).Err(); err != nil {
		return failed(err)
	}
	return nil
}

// size is how many entries the state has.
func (b *broker) size(ctx context.Context) (n int64, err error) {
	all, err := b.c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range 64 {
			p.HLen(ctx, stateKey(i))
		}
		return nil
	})
	if err != nil {
		return 0, failed(err)
	}
	for _, c := range all {
		n += c.(*redis.IntCmd).Val()
	}
	return n, nil
}

// beat tells what a node says of itself, and returns what all do; now is the broker's clock.
func (b *broker) beat(ctx context.Context, node uint32, about []byte) (all map[string]string, now time.Time, err error) {
	var nodes *redis.MapStringStringCmd
	var clock *redis.TimeCmd
	_, err = b.c.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, keyNodes, nodeField(node), about)
		nodes, clock = p.HGetAll(ctx, keyNodes), p.Time(ctx)
		return nil
	})
	if err != nil {
		return nil, time.Time{}, failed(err)
	}
	return nodes.Val(), clock.Val(), nil
}

// dismiss lets nodes be told of no more. One that is there after all tells of itself within a second.
func (b *broker) dismiss(ctx context.Context, fields []string) error {
	if len(fields) == 0 {
		return nil
	}
	if err := b.c.HDel(ctx, keyNodes, fields...).Err(); err != nil {
		return failed(err)
	}
	return nil
}

func stateKey(bucket int) string { return fmt.Sprint(keyState, bucket) }

func nodeField(node uint32) string { return fmt.Sprintf("%06x", node) }
