package parse

import (
	"strconv"
	"strings"
)

// colour reads a colour as 1<<24 | RGB, 0 where it is none that is known.
func colour(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	if c, ok := colours[s]; ok {
		return 1<<24 | c
	}
	if strings.HasPrefix(s, "rgb(") {
		return rgb(s[4:])
	}
	s = strings.TrimPrefix(s, "#")
	n, err := strconv.ParseUint(s, 16, 32)
	switch {
	case err != nil:
		return 0
	case len(s) == 3:
		return 1<<24 | int(n>>8*0x110000|n>>4&15*0x1100|n&15*0x11)
	case len(s) == 6:
		return 1<<24 | int(n)
	}
	return 0
}

func rgb(s string) int {
	s, _, _ = strings.Cut(s, ")")
	c := 1
	for _, f := range strings.SplitN(s, ",", 3) {
		n, err := strconv.ParseUint(strings.TrimSpace(f), 10, 8)
		if err != nil {
			return 0
		}
		c = c<<8 | int(n)
	}
	if c>>24 != 1 {
		return 0
	}
	return c
}

var colours = map[string]int{
	"white": 0xffffff, "black": 0, "red": 0xff0000, "blue": 0xff, "yellow": 0xffff00, "silver": 0xc0c0c0,
	"gray": 0x808080, "grey": 0x808080, "green": 0x8000, "navy": 0x80, "snow": 0xfffafa, "ivory": 0xfffff0,
	"whitesmoke": 0xf5f5f5, "ghostwhite": 0xf8f8ff,
}

// near tells whether two colours differ by less than an eye sees: at most 8 of 255 in each part.
func near(a, b int) bool {
	if a == 0 || b == 0 {
		return false
	}
	for s := 0; s < 24; s += 8 {
		if d := a>>s&255 - b>>s&255; d > 8 || d < -8 {
			return false
		}
	}
	return true
}
