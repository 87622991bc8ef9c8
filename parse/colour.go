package parse

import (
	"strconv"
	"strings"
)

// colour reads a colour as 1<<24 | RGB, else as what it does to the text: shows where it is none that is known.
func colour(s string) int32 {
	s = strings.ToLower(strings.TrimSpace(s))
	if c, ok := colours[s]; ok {
		return 1<<24 | c
	}
	switch {
	case s == "transparent":
		return hides
	case s == "inherit", s == "currentcolor", s == "unset":
		return inherits
	case strings.HasPrefix(s, "rgb"):
		return rgb(s)
	}
	s = strings.TrimPrefix(s, "#")
	n, err := strconv.ParseUint(s, 16, 32)
	switch {
	case err != nil:
		return shows
	case len(s) == 4 && n&15 == 0, len(s) == 8 && n&0xff < 13:
		return hides
	case len(s) == 4:
		n >>= 4
		fallthrough
	case len(s) == 3:
		return int32(1<<24 | n>>8*0x110000 | n>>4&15*0x1100 | n&15*0x11)
	case len(s) == 8:
		n >>= 8
		fallthrough
	case len(s) == 6:
		return int32(1<<24 | n)
	}
	return shows
}

// rgb reads "rgb(r, g, b)", "rgba(r, g, b, a)" and the same with spaces alone.
func rgb(s string) int32 {
	_, s, _ = strings.Cut(s, "(")
	s, _, _ = strings.Cut(s, ")")
	f := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(f) == 4 {
		if a, err := strconv.ParseFloat(f[3], 64); err == nil && a <= 0.05 {
			return hides
		}
		f = f[:3]
	}
	if len(f) != 3 {
		return shows
	}
	c := int32(1)
	for _, f := range f {
		n, err := strconv.ParseUint(f, 10, 8)
		if err != nil {
			return shows
		}
		c = c<<8 | int32(n)
	}
	return c
}

// white is what mail is shown on. Who shows it on black turns the colours of the letters, too.
const white = 1<<24 | 0xffffff

var colours = map[string]int32{
	"white": 0xffffff, "black": 0, "red": 0xff0000, "blue": 0xff, "yellow": 0xffff00, "silver": 0xc0c0c0,
	"gray": 0x808080, "grey": 0x808080, "green": 0x8000, "navy": 0x80, "snow": 0xfffafa, "ivory": 0xfffff0,
	"whitesmoke": 0xf5f5f5, "ghostwhite": 0xf8f8ff,
}

// near tells whether two colours differ by less than an eye sees: at most 8 of 255 in each part.
func near(a, b int32) bool {
	if a < 1<<24 || b < 1<<24 {
		return false
	}
	for s := 0; s < 24; s += 8 {
		if d := a>>s&255 - b>>s&255; d > 8 || d < -8 {
			return false
		}
	}
	return true
}
