// Package configs holds the sample configuration, which is the default one: what the file says is what
// spamsim does where a site's own file says nothing else.
package configs

import _ "embed"

// Sample is configs/spamsim.toml.
//
//go:embed spamsim.toml
var Sample []byte
