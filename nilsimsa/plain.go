package nilsimsa

// plainHash is h(a,b,c,n), in whole integers and not yet reduced to the 256 buckets.
func plainHash(a, b, c, n int) int {
	return (int(tran[(a+n)&255]) ^ int(tran[b])*(2*n+1)) + int(tran[c^int(tran[n])])
}

// plainCounts returns the hits of each bucket for a text.
func plainCounts(text []byte) (acc [256]uint64) {
	var x1, x2, x3, x4 int
	for i, b := range text {
		x0 := int(b)
		if i >= 2 {
			acc[plainHash(x0, x1, x2, 0)&255]++
		}
		if i >= 3 {
			acc[plainHash(x0, x1, x3, 1)&255]++
			acc[plainHash(x0, x2, x3, 2)&255]++
		}
		if i >= 4 {
			acc[plainHash(x0, x1, x4, 3)&255]++
			acc[plainHash(x0, x2, x4, 4)&255]++
			acc[plainHash(x0, x3, x4, 5)&255]++
			acc[plainHash(x4, x1, x0, 6)&255]++
			acc[plainHash(x4, x3, x0, 7)&255]++
		}
		x4, x3, x2, x1 = x3, x2, x1, x0
	}
	return acc
}

// plainCode returns the code of counts.
func plainCode(acc [256]uint64) Code {
	var total uint64
	for _, hits := range acc {
		total += hits
	}
	var c Code
	for i, hits := range acc {
		if hits > total/256 {
			c[i/64] |= 1 << (i % 64)
		}
	}
	return c
}

// Plain returns what Sum returns, by the definition and one byte at a time: what Sum is held against, in result and in speed.
func Plain(text []byte) Code { return plainCode(plainCounts(text)) }
