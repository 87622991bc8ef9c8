package store

import "math"

// logTable has, for the middle c of each of equal parts of [1, 2), 1/c and log c.
var logTable = func() (t [1 << logBits]struct{ inverse, log float64 }) {
	for i := range t {
		c := 1 + (float64(i)+0.5)/(1<<logBits)
		t[i].inverse, t[i].log = 1/c, math.Log(c)
	}
	return t
}()

const logBits = 8

// logarithm is the natural logarithm of a positive normal number to 13 digits behind the point: by its exponent, the table,
// and four terms of the series of log(1+r), r < 2^-9 (Tang 1990). Ranks take hundreds of logarithms for each message, and
// math.Log three times as long.
func logarithm(x float64) float64 {
	const mantissa = 52
	bits := math.Float64bits(x)
	at := &logTable[bits>>(mantissa-logBits)&(1<<logBits-1)]
	r := math.Float64frombits(bits&(1<<mantissa-1)|1023<<mantissa)*at.inverse - 1
	return float64(int(bits>>mantissa)-1023)*math.Ln2 + at.log + r*(1-r*(1./2-r*(1./3-r*(1./4))))
}
