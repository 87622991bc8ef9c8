package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
)

// A browser is a headless Chromium with one page, told what to do by the DevTools protocol over two pipes: each message is
// JSON with a NUL behind it (chromium: content/browser/devtools/devtools_pipe_handler.cc).
type browser struct {
	t       testing.TB
	to      *os.File
	from    *bufio.Reader
	session string
	id      int
	events  []event // since they were last taken
}

// An event is what the page tells by itself.
type event struct {
	Method string
	Params json.RawMessage
}

// startBrowser starts one that ends with the test. It needs Debian's chromium-headless-shell.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	lab.Need(t, "chromium-headless-shell")
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command("chromium-headless-shell", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+dir, "--window-size=1280,900", "about:blank")
	cmd.ExtraFiles = []*os.File{inRead, outWrite} // descriptors 3 and 4
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	watchdog := time.AfterFunc(8*lab.Patience, func() { _ = cmd.Process.Kill() })
	b := &browser{t: t, to: inWrite, from: bufio.NewReader(outRead)}
	t.Cleanup(func() {
		inWrite.Close() // it ends when it is told no more
		_ = cmd.Wait()
		watchdog.Stop()
		outRead.Close()
		if t.Failed() {
			t.Logf("chromium:\n%s", log.String())
		}
	})
	b.open()
	return b
}

// open makes the page and has it tell of everything.
func (b *browser) open() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
}

// call asks for something and waits for the answer.
func (b *browser) call(method string, params map[string]any, out any) {
	b.t.Helper()
	b.id++
	request := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		request["params"] = map[string]any{}
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err == nil {
		_, err = b.to.Write(append(data, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		id, result := b.read()
		if id == b.id {
			if out != nil {
				if err := json.Unmarshal(result, out); err != nil {
					b.t.Fatalf("%s: %v in %s", method, err, result)
				}
			}
			return
		}
	}
}

// read takes one message; an event is kept, and its id is 0.
func (b *browser) read() (id int, result json.RawMessage) {
	b.t.Helper()
	data, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium says nothing more: %v", err)
	}
	var m struct {
		ID     int
		Method string
		Params json.RawMessage
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m); err != nil {
		b.t.Fatalf("chromium: %v in %s", err, data)
	}
	if m.Error != nil {
		b.t.Fatalf("chromium: %s", m.Error.Message)
	}
	if m.ID == 0 {
		b.events = append(b.events, event{m.Method, m.Params})
	}
	return m.ID, m.Result
}

// load goes to an address and waits until the page is there.
func (b *browser) load(url string) {
	b.t.Helper()
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.loaded()
}

// loaded waits for a page that is on its way: the one to which the browser goes after this, not the empty one it began with,
// of whose end it may hear late.
func (b *browser) loaded() {
	b.t.Helper()
	gone := false
	for from := 0; ; {
		for ; from < len(b.events); from++ {
			switch e := b.events[from]; e.Method {
			case "Page.frameNavigated":
				gone = gone || !bytes.Contains(e.Params, []byte(`"url":"about:blank"`))
			case "Page.loadEventFired":
				if gone {
					return
				}
			}
		}
		b.read()
	}
}

// eval works out an expression of JavaScript in the page, which the page's own policy does not keep from the protocol.
func (b *browser) eval(expression string, out any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s\nin %s", answer.ExceptionDetails.Exception.Description, expression)
	}
	if out != nil {
		if err := json.Unmarshal(answer.Result.Value, out); err != nil {
			b.t.Fatalf("%v in %s", err, answer.Result.Value)
		}
	}
}

// complaints are what the browser has against the page: the log (in which is what a policy forbids), the console, what was
// thrown, what could not be fetched, and boxes that scripts open.
func (b *browser) complaints() (out []string) {
	for _, e := range b.events {
		if bytes.Contains(e.Params, []byte(`"canceled":true`)) { // the icon of the page before
			continue
		}
		switch e.Method {
		case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.loadingFailed", "Page.javascriptDialogOpening":
			out = append(out, fmt.Sprintf("%s %s", e.Method, e.Params))
		}
	}
	return out
}

// scheme has the page take light or dark to be wished for, in a window of a width.
func (b *browser) scheme(scheme string, width int) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}
