package telemetry

import "strings"

const (
	placeholder = "{id}"

	uuidLen = 36

	// A whole word of hexadecimal digits is an id from this length on when a
	// decimal digit is among them ("1f9ab3c0"); without one it could be a word
	// of a language, so it has to be longer than any of those.
	shortHexLen = 8
	longHexLen  = 16
)

// Template returns name with the parts that look generated replaced by {id}:
// UUIDs, whole words that are long hexadecimal numbers, and runs of decimal
// digits. "order:42" and "order:43" both become "order:{id}", so span names stay
// few however many locks there are. A part is taken for an identifier by its
// shape only; a name without any is returned as it is, without an allocation.
//
// The result is as valid as UTF-8 as name is. Safe for concurrent use.
func Template(name string) string {
	start, end := nextID(name, 0)
	if start < 0 {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + len(placeholder))
	from := 0
	for start >= 0 {
		b.WriteString(name[from:start])
		b.WriteString(placeholder)
		from = end
		start, end = nextID(name, from)
	}
	b.WriteString(name[from:])
	return b.String()
}

// nextID returns the bounds of the first identifier of s at or after from, or -1.
func nextID(s string, from int) (start, end int) {
	for i := from; i < len(s); i++ {
		if !isHex(s[i]) {
			continue
		}
		if i == 0 || !isWord(s[i-1]) {
			if isUUID(s, i) {
				return i, i + uuidLen
			}
			if n := hexWord(s, i); n > 0 {
				return i, i + n
			}
		}
		if isDigit(s[i]) {
			end = i + 1
			for end < len(s) && isDigit(s[end]) {
				end++
			}
			return i, end
		}
	}
	return -1, -1
}

// isUUID reports whether the 8-4-4-4-12 form, and nothing longer, is at i.
func isUUID(s string, i int) bool {
	if len(s)-i < uuidLen {
		return false
	}
	for k := range uuidLen {
		c := s[i+k]
		switch k {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return i+uuidLen == len(s) || !isWord(s[i+uuidLen])
}

// hexWord returns the length of the word that begins at i if the whole word is
// a number in hexadecimal that is long enough to be an id, else 0.
func hexWord(s string, i int) int {
	n, digits := 0, 0
	for ; i+n < len(s) && isWord(s[i+n]); n++ {
		if !isHex(s[i+n]) {
			return 0
		}
		if isDigit(s[i+n]) {
			digits++
		}
	}
	if n >= longHexLen || n >= shortHexLen && digits > 0 {
		return n
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isWord(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
