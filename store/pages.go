package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
)

// bbolt reads its pages where the file is mapped: one that points nowhere may end the process, where nobody can catch it, and so
// may its own Tx.Check. pages looks through a file by reading it. The format is that of bbolt 1.5.0, internal/common,
// in the byte order of the machine, which is little endian where we run:
//
//	page     id u64, flags u16, count u16, overflow u32 (pages that follow and belong to it), then its elements
//	branch   each element pos u32 (of its key, from the element), ksize u32, page u64
//	leaf     each element flags u32 (1: the value is a bucket), pos u32, ksize u32, vsize u32; the value is behind the key
//	bucket   root page u64, sequence u64; with root 0 a page follows, whose id counts for nothing
//	meta     pages 0 and 1: magic u32, version u32, page size u32, flags u32, the root bucket, freelist page u64, pages in
//	         all u64, transaction u64, FNV-1a of all before it u64
type pages struct {
	file  io.ReaderAt
	size  int64 // octets of a page
	count uint64
	seen  []uint64 // a bit for each page
	rooms []room   // of the page at hand at each depth
}

// A room holds a page while it is looked at, and what it leads to: its neighbours have it after it.
type room struct {
	data  []byte
	items []pageItem
}

const (
	pageHead    = 16
	pageElement = 16
	bucketHead  = 16
	metaSize    = 64 // octets, of which the last 8 are the sum
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	branchPage  = 1
	leafPage    = 2
	bucketFlag  = 1
	deepestPage = 64 // from the root
	maxPageSize = 1 << 16
	lowPageSize = 1 << 10
	noFreelist  = math.MaxUint64
)

var errPage = errors.New("damaged page")

// checkPages says what is wrong with a bbolt file of so many octets; nil is nothing.
func checkPages(file io.ReaderAt, octets int64) error {
	meta, err := newestMeta(file)
	if err != nil {
		return err
	}
	p, err := pagesOf(file, meta, octets)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	p.seen = make([]uint64, p.count/64+1)
	p.take(0, 2)
	if freelist := le.Uint64(meta[32:]); freelist != noFreelist && freelist >= p.count {
		return fmt.Errorf("%w: the freelist is page %d", errPage, freelist)
	}
	return p.page(le.Uint64(meta[16:]), nil, nil, 0)
}

// checkLength says whether a file has all pages that its meta page tells of. Of one without a meta page it says nothing.
func checkLength(file io.ReaderAt, octets int64) error {
	meta, err := newestMeta(file)
	if err != nil {
		return nil // bbolt says so too, and whose file it is
	}
	_, err = pagesOf(file, meta, octets)
	return err
}

// pagesOf are the pages that a meta page tells of, which must be in the file.
func pagesOf(file io.ReaderAt, meta []byte, octets int64) (*pages, error) {
	le := binary.LittleEndian
	p := &pages{file: file, size: int64(le.Uint32(meta[8:])), count: le.Uint64(meta[40:])}
	if p.count < 3 || p.count > uint64(octets/p.size) {
		return nil, fmt.Errorf("%w: %d pages of %d octets in %d", errPage, p.count, p.size, octets)
	}
	return p, nil
}

// newestMeta returns the meta page that bbolt would go by.
func newestMeta(file io.ReaderAt) (newest []byte, err error) {
	le := binary.LittleEndian
	for size := int64(0); size <= maxPageSize; size = max(lowPageSize, 2*size) { // the second is where the first page ends
		m := make([]byte, metaSize)
		if _, err := file.ReadAt(m, size+pageHead); err != nil {
			break
		}
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		if le.Uint32(m) != boltMagic || le.Uint32(m[4:]) != boltVersion || sum.Sum64() != le.Uint64(m[metaSize-8:]) {
			continue
		}
		if n := le.Uint32(m[8:]); n < lowPageSize || n > maxPageSize || n&(n-1) != 0 || size != 0 && int64(n) != size {
			continue
		}
		if newest == nil || le.Uint64(m[48:]) > le.Uint64(newest[48:]) {
			newest = m
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("%w: neither meta page is whole", errPage)
	}
	return newest, nil
}

// take notes that pages are in use, and says whether they were free and are in the file.
func (p *pages) take(id, n uint64) bool {
	if id >= p.count || n > p.count-id {
		return false
	}
	for ; n > 0; id, n = id+1, n-1 {
		if p.seen[id/64]>>(id%64)&1 != 0 {
			return false
		}
		p.seen[id/64] |= 1 << (id % 64)
	}
	return true
}

// page checks a page of the file and what it leads to. Its keys are from low on and below high; nil is no bound.
func (p *pages) page(id uint64, low, high []byte, depth int) error {
	data := p.room(depth).data[:p.size]
	if _, err := p.file.ReadAt(data, int64(min(id, p.count))*p.size); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	overflow := uint64(binary.LittleEndian.Uint32(data[12:]))
	if depth > deepestPage || binary.LittleEndian.Uint64(data) != id || !p.take(id, overflow+1) {
		return fmt.Errorf("%w %d", errPage, id)
	}
	if overflow > 0 {
		data = slices.Grow(data, int(overflow)*int(p.size))[:(int64(overflow)+1)*p.size]
		p.room(depth).data = data
		if _, err := p.file.ReadAt(data[p.size:], (int64(id)+1)*p.size); err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
	}
	if err := p.elements(data, low, high, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// room is that of a depth, valid until another is asked for.
func (p *pages) room(depth int) *room {
	for len(p.rooms) <= depth {
		p.rooms = append(p.rooms, room{data: make([]byte, p.size)})
	}
	return &p.rooms[depth]
}

// A pageItem is an element of a page: of a branch the page it leads to, of a leaf the value, which may be a bucket.
type pageItem struct {
	key, value []byte
	child      uint64
	bucket     bool
}

// elements checks those of a page, and what they lead to.
func (p *pages) elements(data, low, high []byte, depth int) error {
	items, leaf, err := itemsOf(p.room(depth).items[:0], data)
	if err != nil {
		return err
	}
	p.room(depth).items = items
	for i, item := range items {
		if i > 0 && bytes.Compare(items[i-1].key, item.key) >= 0 || bytes.Compare(item.key, low) < 0 || high != nil && bytes.Compare(item.key, high) >= 0 {
			return fmt.Errorf("%w: keys are out of order", errPage)
		}
		next := high
		if i+1 < len(items) {
			next = items[i+1].key
		}
		if !leaf {
			err = p.page(item.child, item.key, next, depth+1)
		} else if item.bucket {
			err = p.bucket(item.value, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// itemsOf reads the elements of a page, and appends them to items.
func itemsOf(items []pageItem, data []byte) (_ []pageItem, leaf bool, err error) {
	if len(data) < pageHead {
		return nil, false, errPage
	}
	le := binary.LittleEndian
	flags, count := le.Uint16(data[8:]), int(le.Uint16(data[10:]))
	if leaf = flags == leafPage; !leaf && (flags != branchPage || count == 0) || pageHead+count*pageElement > len(data) {
		return nil, false, errPage
	}
	for i := range count {
		e := data[pageHead+i*pageElement:]
		pos, ksize, vsize := uint64(le.Uint32(e)), uint64(le.Uint32(e[4:])), uint64(0)
		if leaf {
			pos, ksize, vsize = ksize, uint64(le.Uint32(e[8:])), uint64(le.Uint32(e[12:]))
		}
		if pos+ksize+vsize > uint64(len(e)) {
			return nil, false, fmt.Errorf("%w: an element ends behind it", errPage)
		}
		item := pageItem{key: e[pos : pos+ksize], value: e[pos+ksize : pos+ksize+vsize], bucket: leaf && le.Uint32(e)&bucketFlag != 0}
		if !leaf {
			item.child = le.Uint64(e[8:])
		}
		items = append(items, item)
	}
	return items, leaf, nil
}

func (p *pages) bucket(value []byte, depth int) error {
	if len(value) < bucketHead || depth > deepestPage {
		return fmt.Errorf("%w: a bucket is cut", errPage)
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return p.page(root, nil, nil, depth+1)
	}
	return p.elements(value[bucketHead:], nil, nil, depth+1)
}
