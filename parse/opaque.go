package parse

import "strings"

// isSigned reports whether a leaf may hold what was signed, or a signature alone (RFC 8551, section 3.2.1).
func isSigned(typ, name string) bool {
	switch typ {
	case "application/pkcs7-mime", "application/x-pkcs7-mime":
		return true
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".p7m") || strings.HasSuffix(name, ".p7s")
}

// isEntity reports whether what was signed is what RFC 8551, section 3.1 asks for: not a document, "invoice.xml.p7m".
func (p *parser) isEntity(content []byte, name string) bool {
	return name == "" || strings.EqualFold(name, "smime.p7m") || readHeader(content, p.limits.HeaderBytes).typ != ""
}

// opaque reads a message that stands in its signature, which is one more level of nesting.
func (p *parser) opaque(e entity, content []byte) reading {
	in := entity{body: content, where: e.where, depth: e.depth + 1}
	if e.depth >= p.limits.Depth {
		p.defect(e.where, defectDepth)
		return p.textLeaf(in, "text/plain")
	}
	in.content, in.body = p.partHeader(content, e.where)
	return p.entity(in)
}
