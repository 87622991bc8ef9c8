package store

import (
	"bytes"
	"strings"
)

// content is what of a file was written for it: not what a program puts into all files that it makes. Letters of two people who
// use the same program share most of a document of a few pages else.
func content(data []byte) []byte {
	out := data
	switch {
	case bytes.HasPrefix(data, zipMember):
		out = written(data)
	case bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte("<?xml")):
		out = unmarked(data)
	}
	if len(out) < minAttachment {
		return data
	}
	return out
}

// zipMember begins each file in an archive (APPNOTE 6.3.10, 4.3.7); its name stands at an offset of 30.
var zipMember = []byte("PK\x03\x04")

const (
	zipNameLen = 26
	zipName    = 30
)

// written is an archive without the files that office programs put into their documents for themselves.
func written(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		end := bytes.Index(data[1:], zipMember) + 1
		if end == 0 {
			end = len(data)
			if i := bytes.Index(data, []byte("PK\x01\x02")); i > 0 { // the list of all files
				end = i
			}
		}
		if m := data[:end]; !forItself(memberName(m)) {
			out = append(out, m...)
		}
		if data = data[end:]; !bytes.HasPrefix(data, zipMember) {
			break
		}
	}
	return out
}

// memberName is the name of a file in an archive.
func memberName(m []byte) string {
	if len(m) < zipName {
		return ""
	}
	n := int(m[zipNameLen]) | int(m[zipNameLen+1])<<8
	return string(m[zipName:min(len(m), zipName+n)])
}

// forItself says whether office programs keep nothing in a file of that name that somebody wrote: ECMA-376, part 1, section 11 to
// 15, and OpenDocument 1.3, part 2, section 3.1.
func forItself(name string) bool {
	dir, file := name[:strings.LastIndexByte(name, '/')+1], name[strings.LastIndexByte(name, '/')+1:]
	switch file {
	case "[Content_Types].xml", "styles.xml", "stylesWithEffects.xml", "settings.xml", "webSettings.xml", "fontTable.xml",
		"numbering.xml", "tableStyles.xml", "presProps.xml", "viewProps.xml", "meta.xml", "manifest.xml", "manifest.rdf":
		return true
	}
	for _, d := range [...]string{"_rels/", "theme/", "docProps/", "customXml/", "slideLayouts/", "slideMasters/",
		"Thumbnails/", "Configurations2/"} {
		if strings.HasPrefix(dir, d) || strings.Contains(dir, "/"+d) {
			return true
		}
	}
	return false
}

// unmarked is XML without its tags.
func unmarked(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		i := bytes.IndexByte(data, '<')
		if i < 0 {
			return append(out, data...)
		}
		out, data = append(out, data[:i]...), data[i:]
		i = bytes.IndexByte(data, '>')
		if i < 0 {
			return out
		}
		data = data[i+1:]
	}
	return out
}
