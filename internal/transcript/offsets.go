package transcript

import "unicode/utf8"

// runeIndex converts byte offsets into a text to offsets in code points. It
// keeps a mark every stride bytes, so that a conversion reads at most that
// much.
type runeIndex struct {
	text  string
	marks []int // code points before byte i*stride, rounded down to a boundary
	ascii bool
}

const stride = 512

func newRuneIndex(text string) *runeIndex {
	x := &runeIndex{text: text, ascii: true}
	count := 0
	for i := 0; i < len(text); i++ {
		if i%stride == 0 {
			x.marks = append(x.marks, count)
		}
		if utf8.RuneStart(text[i]) {
			count++
		}
		if text[i] >= utf8.RuneSelf {
			x.ascii = false
		}
	}
	return x
}

// at returns how many code points start before the byte offset.
func (x *runeIndex) at(offset int) int {
	if x.ascii || offset == 0 {
		return offset
	}
	block := offset / stride
	if block >= len(x.marks) {
		block = len(x.marks) - 1
	}
	count := x.marks[block]
	for i := block * stride; i < offset; i++ {
		if utf8.RuneStart(x.text[i]) {
			count++
		}
	}
	return count
}
