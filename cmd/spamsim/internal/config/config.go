// Package config reads spamsim's settings: one strict TOML file over the embedded sample, which holds the defaults.
//
// A setting is declared once, as a field here with its toml name; its default and what it means are in
// configs/spamsim.toml, its range in check.go. An unknown key is an error with its place and the nearest right name.
// What a running daemon takes up by itself when it is told to reload is tagged reload:"yes", on a field or on its section.
package config

// Config is every setting, after the file was read over the defaults and the empty ones were filled in.
type Config struct {
	ID        string   `toml:"id"`                      // name in the header, never empty after Load
	Mode      string   `toml:"mode" reload:"yes"`       // "observe", "enforce"
	StateDir  string   `toml:"state_dir"`               // absolute after Load
	Sandbox   bool     `toml:"sandbox"`                 // the daemon reaches no files but its own
	DKIMHosts []string `toml:"dkim_hosts" reload:"yes"` // authserv-ids, RFC 8601 section 2.5

	CompatibilityFields bool `toml:"compatibility_fields" reload:"yes"`

	SMTP   SMTP   `toml:"smtp"`
	TLS    TLS    `toml:"tls" reload:"yes"`
	Milter Milter `toml:"milter"`
	Dccifd Dccifd `toml:"dccifd"`
	HTTP   HTTP   `toml:"http"`
	Store  Store  `toml:"store"`
	Peers  Peers  `toml:"peers"`
	Bulk   Bulk   `toml:"bulk" reload:"yes"`

	Actions Actions `toml:"actions" reload:"yes"`

	Limits Limits   `toml:"limits"`
	Log    Log      `toml:"log"`
	Exempt []Exempt `toml:"exempt" reload:"yes"`
}

// SMTP is the proxy.
type SMTP struct {
	Listen           []Address `toml:"listen"`
	LMTPListen       []Address `toml:"lmtp_listen"`
	NextHop          string    `toml:"next_hop"`      // a URL; a maildir's path is absolute after Load
	NextHopTLS       string    `toml:"next_hop_tls"`  // "off", "require"
	NextHopName      string    `toml:"next_hop_name"` // in its certificate
	NextHopCA        string    `toml:"next_hop_ca"`   // a file of PEM certificates
	XCLIENT          bool      `toml:"xclient"`
	NextHopProxy     string    `toml:"next_hop_proxy"` // "", "v1", "v2"
	Auth             bool      `toml:"auth"`
	Trusted          []Network `toml:"trusted"`
	RecipientDomains []string  `toml:"recipient_domains"`
	ProxyProtocol    []Network `toml:"proxy_protocol"` // load balancers
	Connections      int       `toml:"connections"`
	PerNetwork       int       `toml:"connections_per_network"`
	BareLF           string    `toml:"bare_lf"` // "normalize", "reject"
}

// TLS is what clients are offered by STARTTLS. Both are files in PEM; without them it is not offered.
type TLS struct {
	Certificate string `toml:"certificate"`
	Key         string `toml:"key"`
}

// Milter is the milter.
type Milter struct {
	Listen []Address `toml:"listen"`
}

// Dccifd is the socket for scanners.
type Dccifd struct {
	Listen []Address `toml:"listen"`
	Learn  bool      `toml:"learn"` // count what is asked about
}

// HTTP is the small server for those who watch over the daemon.
type HTTP struct {
	Listen []Address `toml:"listen"`
	Token  Secret    `toml:"token"` // for /metrics and the console; needed where an address is not of loopback
}

// Store is the file of clusters.
type Store struct {
	Path     string   `toml:"path"` // absolute after Load
	Window   Duration `toml:"window"`
	Clusters int      `toml:"clusters"`              // that are kept at most
	Subjects bool     `toml:"subjects" reload:"yes"` // keep those of clusters' first messages
}

// Peers are the other nodes of the site.
type Peers struct {
	URL     Secret `toml:"url"`      // of the broker, which may have a password in it; none: the node is alone
	KeyFile string `toml:"key_file"` // of the site
	CA      string `toml:"ca"`       // a file of PEM certificates
}

// Bulk is when copies make a campaign.
type Bulk struct {
	Threshold float64 `toml:"threshold"` // sigma
	Count     int     `toml:"count"`     // distinct copies
}

// Actions are what is done with bulk mail in mode "enforce": "tag", "quarantine", "redirect", "tempfail", and "reject" for Spam.
type Actions struct {
	Bulk        string `toml:"bulk"`
	Spam        string `toml:"spam"`         // bulk whose cluster people labelled spam
	BulkSubject string `toml:"bulk_subject"` // prefixes for the Subject, "" for none
	SpamSubject string `toml:"spam_subject"`
	RedirectTo  string `toml:"redirect_to"` // an address
}

// Limits bound what mail may cost.
type Limits struct {
	MaxJudgedSize Size     `toml:"max_judged_size"`
	Memory        Size     `toml:"memory"`
	Overload      string   `toml:"overload" reload:"yes"` // "pass", "tempfail"
	StopTime      Duration `toml:"stop_time" reload:"yes"`
}

// Log is how the daemon logs.
type Log struct {
	Level  string `toml:"level" reload:"yes"` // "debug", "info", "warn", "error"
	Format string `toml:"format"`             // "text", "json"
}

// An Exempt is a rule that lets bulk mail pass as exempt. Exactly one field beside Name is set.
type Exempt struct {
	Name       string   `toml:"name"`
	ListID     string   `toml:"list_id,omitempty"`
	Network    *Network `toml:"network,omitempty"`
	Sender     string   `toml:"sender,omitempty"`
	Recipient  string   `toml:"recipient,omitempty"`
	DKIMDomain string   `toml:"dkim_domain,omitempty"`
}
