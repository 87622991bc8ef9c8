// Package console is the daemon's web page for those who run it: what came and what was said of it, the campaigns, what
// sigma means on this site's mail, why a message was judged as it was, and whether doors and store are well.
//
//	GET  /                          traffic and verdicts of a day, the liveliest campaigns
//	GET  /campaigns?view=VIEW       a list: live, size, newest or labelled
//	GET  /campaigns/ID              one campaign, with its timeline and what varies in its copies
//	POST /campaigns/ID/label        label=spam|ham|none, name=NAME
//	POST /campaigns/ID/drop         sure=yes
//	GET  /sigma                     recent mail beside the null distribution
//	GET  /why?id=MESSAGE-ID         what is known of a message
//	POST /why                       a message, pasted or as a file: why it is judged as it is
//	GET  /health                    doors, store, exempt rules
//
// The pages are made here, without scripts; pictures are SVG with their numbers in a table beside them. Whatever is not a
// number passes through html/template, and what comes out of mail through visible besides.
//
// Who may do what: guard.go. Without a token nothing that comes out of mail is shown, and nothing can be changed.
package console

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

// Options of a console. All but Token must be set.
type Options struct {
	Token     string                               // that those who ask must bring; "" is none
	Hosts     func() []string                      // names of this host beside its addresses and localhost
	Limit     int64                                // octets of a message that is explained
	Threshold func() (sigma float64, copies int)   // from which on mail is bulk
	Ready     func() error                         // why no mail is taken, nil where it is
	Change    func(e *filter.Explanation) []string // what would make another verdict
	Recent    *Recent                              // what was judged of late
	Unrelated func() []float64                     // sigmas of recent mail that was no copy: Store.RecentSigmas
	Now       func() time.Time                     // the clock
	Log       *slog.Logger                         // told of every change
}

type console struct {
	Options
	svc   control.Service
	pages map[string]*template.Template
	slots chan struct{} // for messages that are explained
}

//go:embed pages
var files embed.FS

// explainsAtOnce bounds the messages that are held to be explained.
const explainsAtOnce = 2

// New returns the console over a service.
func New(svc control.Service, o Options) http.Handler {
	c := &console{Options: o, svc: svc, pages: map[string]*template.Template{}, slots: make(chan struct{}, explainsAtOnce)}
	for _, name := range []string{"overview", "campaigns", "campaign", "sigma", "why", "health", "error"} {
		t := template.New("").Funcs(functions)
		c.pages[name] = template.Must(t.ParseFS(files, "pages/layout.html", "pages/parts.html", "pages/"+name+".html"))
	}
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", c.overview)
	m.HandleFunc("GET /campaigns", c.campaigns)
	m.HandleFunc("GET /campaigns/{id}", c.campaign)
	m.HandleFunc("POST /campaigns/{id}/label", c.label)
	m.HandleFunc("POST /campaigns/{id}/drop", c.drop)
	m.HandleFunc("GET /sigma", c.sigma)
	m.HandleFunc("GET /why", c.known)
	m.HandleFunc("POST /why", c.explain)
	m.HandleFunc("GET /health", c.health)
	m.HandleFunc("GET /style.css", static("text/css; charset=utf-8", "pages/style.css"))
	m.HandleFunc("GET /icon.svg", static("image/svg+xml", "pages/icon.svg"))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	return c.guard(m)
}

// static serves an embedded file.
func static(kind, name string) http.HandlerFunc {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // fails only where the client is gone
	}
}

// A page is what the layout knows of one.
type page struct {
	Title string
	Path  string // of the section, for the navigation
	Texts bool   // what comes out of mail may be shown
	At    time.Time
	Body  any
}

// show answers with a page. It is made whole before the first octet goes out, so that a page is there or an error.
func (c *console) show(w http.ResponseWriter, code int, name, path, title string, body any) {
	var b bytes.Buffer
	p := page{Title: title, Path: path, Texts: c.Token != "", At: c.Now().UTC(), Body: body}
	if err := c.pages[name].ExecuteTemplate(&b, "layout.html", p); err != nil {
		c.Log.Error("a page of the console cannot be made", "page", name, "err", err)
		http.Error(w, "this page cannot be made; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // fails only where the client is gone
}

// fail answers with a page that says what is wrong.
func (c *console) fail(w http.ResponseWriter, _ *http.Request, code int, what string) {
	c.show(w, code, "error", "", http.StatusText(code), what)
}

// failed answers what an error of the service means.
func (c *console) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, store.ErrNoCluster):
		c.fail(w, r, http.StatusNotFound, "There is no such campaign: it has expired, was dropped, or never was.")
	case errors.Is(err, control.ErrTooLarge):
		c.fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("The message is larger than what is judged (limits.max_judged_size, %s).", octets(c.Limit)))
	default:
		c.Log.Error("the console was answered with an error", "path", r.URL.Path, "err", err)
		c.fail(w, r, http.StatusInternalServerError, "That did not work; the log says why.")
	}
}
