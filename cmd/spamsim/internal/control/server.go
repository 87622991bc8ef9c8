package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// A Server answers commands on the control socket.
type Server struct {
	http http.Server
}

// maxAtOnce is how many messages are held for commands at one time; more requests wait.
const maxAtOnce = 8

// NewServer returns a server over s that takes messages of up to limit octets.
func NewServer(s Service, limit int64, log *slog.Logger) *Server {
	h := newHandler(s, limit)
	out := &Server{http.Server{
		Handler:           h.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}}
	out.http.RegisterOnShutdown(h.stop)
	return out
}

// Serve answers on l until Shutdown or Close; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown takes no new requests and waits for those under way.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close cuts all requests.
func (s *Server) Close() error { return s.http.Close() }

// Handler serves the API of the package comment.
func Handler(s Service, limit int64) http.Handler { return newHandler(s, limit).routes() }

func newHandler(s Service, limit int64) *handler {
	h := &handler{Service: s, limit: limit, slots: make(chan struct{}, maxAtOnce)}
	h.running, h.stop = context.WithCancel(context.Background())
	return h
}

func (h *handler) routes() http.Handler {
	s, m := h.Service, http.NewServeMux()
	m.HandleFunc("POST /check", h.message(h.line))
	m.HandleFunc("POST /v1/check", h.message(func(r *http.Request, raw []byte) (any, error) { return h.check(r, raw) }))
	m.HandleFunc("POST /v1/explain", h.message(h.explain))
	m.HandleFunc("POST /v1/train", h.message(h.train))
	m.HandleFunc("POST /v1/forget", h.message(h.forget))
	m.HandleFunc("POST /v1/forget/person", h.forgetPerson)
	m.HandleFunc("POST /v1/sync", func(w http.ResponseWriter, r *http.Request) { answer(w, struct{}{}, s.Sync(r.Context())) })
	m.HandleFunc("GET /v1/stats", func(w http.ResponseWriter, r *http.Request) {
		stats, err := s.Stats(r.Context())
		answer(w, stats, err)
	})
	m.HandleFunc("GET /v1/settings", func(w http.ResponseWriter, r *http.Request) {
		settings, err := s.Settings(r.Context())
		answer(w, settings, err)
	})
	m.HandleFunc("GET /v1/backup", h.backup)
	m.HandleFunc("POST /v1/compact", h.compact)
	h.campaignRoutes(m)
	if d, ok := s.(Daemon); ok {
		h.daemonRoutes(m, d)
	}
	return m
}

type handler struct {
	Service
	limit   int64
	slots   chan struct{}
	running context.Context // ends with stop, when no new requests are taken: what takes long and can be given up goes by it
	stop    context.CancelFunc
}

// errRequest is a request that makes no sense.
type errRequest struct{ error }

// message reads the body as a message, within the limits, and answers with what do returns.
func (h *handler) message(do func(r *http.Request, raw []byte) (any, error)) http.HandlerFunc {
	return h.body(h.limit, do)
}

// body is message with a limit of its own.
func (h *handler) body(limit int64, do func(r *http.Request, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit {
			if r.Header.Get("Expect") == "" { // else the client waits to hear whether it should begin
				discard(r.Body, limit)
			}
			answer(w, nil, ErrTooLarge)
			return
		}
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-r.Context().Done():
			return
		}
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		if err != nil {
			answer(w, nil, bodyError(err))
			return
		}
		v, err := do(r, raw)
		answer(w, v, err)
	}
}

// discard reads what a client sends that will be refused, within reason. One that wants its connection closed is closed on while it
// writes otherwise, and on a Unix socket never sees the answer.
func discard(body io.Reader, limit int64) { _, _ = io.CopyN(io.Discard, body, 2*limit) }

// bodyError says why a body could not be read.
func bodyError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return ErrTooLarge
	}
	return errRequest{err}
}

func (h *handler) check(r *http.Request, raw []byte) (filter.Judgement, error) {
	ask, err := parseAsk(r.URL.RawQuery)
	if err != nil {
		return filter.Judgement{}, errRequest{err}
	}
	return h.Check(r.Context(), raw, ask)
}

// line is check for others, whose message has no name.
func (h *handler) line(r *http.Request, raw []byte) (any, error) {
	j, err := h.check(r, raw)
	return NewLine("-", j.Verdict), err
}

func (h *handler) explain(r *http.Request, raw []byte) (any, error) {
	ask, err := parseAsk(r.URL.RawQuery)
	if err != nil {
		return nil, errRequest{err}
	}
	return h.Explain(r.Context(), raw, ask)
}

func (h *handler) train(r *http.Request, raw []byte) (any, error) {
	switch r.URL.Query().Get("label") {
	case labels[filter.Spam]:
		return h.Train(r.Context(), raw, filter.Spam)
	case labels[filter.Ham]:
		return h.Train(r.Context(), raw, filter.Ham)
	}
	return nil, errRequest{errors.New("label is spam or ham")}
}

var labels = map[filter.Label]string{filter.Spam: "spam", filter.Ham: "ham"}

func (h *handler) forget(r *http.Request, raw []byte) (any, error) { return h.Forget(r.Context(), raw) }

// failure is the body of an answer that is none.
type failure struct {
	Error string `json:"error"`
}

// answer writes v, or the error.
func answer(w http.ResponseWriter, v any, err error) {
	code := http.StatusOK
	var wrong errRequest
	switch {
	case err == nil:
	case errors.Is(err, ErrTooLarge):
		code = http.StatusRequestEntityTooLarge
	case errors.Is(err, store.ErrNoCluster):
		code = http.StatusNotFound
	case errors.As(err, &wrong):
		code = http.StatusBadRequest
	case errors.Is(err, context.Canceled):
		return // the client is gone
	case Temporary(err):
		code = http.StatusServiceUnavailable
	default:
		code = http.StatusInternalServerError
	}
	if err != nil {
		v = failure{err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // fails only where the client is gone
}
