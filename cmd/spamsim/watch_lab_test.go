package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
)

const (
	alertRules    = "../../configs/prometheus/alerts.yml"
	dashboardFile = "../../configs/grafana/spamsim.json"
)

// A dashboard is what the tests want of one of Grafana's.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ RefID, Expr string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDashboardFits: no two panels have a number or a place in common, and none lies outside the 24 columns.
func TestDashboardFits(t *testing.T) {
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range readDashboard(t).Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W*p.GridPos.H == 0 {
			t.Errorf("panel %d, %q: %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, is := taken[at]; is {
					t.Fatalf("%q lies on %q", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
	}
	if len(ids) < 10 {
		t.Errorf("%d panels", len(ids))
	}
}

// TestWatchedNamesExist: each metric and each verdict that the dashboard and the alert rules name is there.
func TestWatchedNamesExist(t *testing.T) {
	var all strings.Builder
	for _, name := range []string{alertRules, dashboardFile} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	there := pageMetrics(t)
	for name := range scrapedNames(t) {
		there[name] = true
	}
	used := regexp.MustCompile(`\b(?:spamsim|process|go)_\w+`).FindAllString(all.String(), -1)
	for _, name := range used {
		if !there[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("%s is named and not there", name)
		}
	}
	for name := range pageMetrics(t) {
		if name != "spamsim_door_events_total" && !strings.Contains(all.String(), name) { // whose rows are many; stats shows them
			t.Errorf("%s is shown nowhere", name)
		}
	}
	var verdicts []string
	for kind := filter.Clean; kind <= filter.Error; kind++ {
		verdicts = append(verdicts, kind.String())
	}
	for _, m := range regexp.MustCompile(`verdict=~?\\?"([^"\\]+)`).FindAllStringSubmatch(all.String(), -1) {
		for word := range strings.SplitSeq(m[1], "|") {
			if !slices.Contains(verdicts, word) {
				t.Errorf("there is no verdict %q", word)
			}
		}
	}
}

// scrapedNames are the names of all metrics that a daemon tells, those of the runtime and the process too.
func scrapedNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	_, text := get(t, start(t, watchedConfig(t, "")), "/metrics")
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+)`).FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	return out
}

// TestPromtool: the rules are good, each alert fires at its trouble and at nothing else, the dashboard's expressions are
// PromQL, and what the daemon tells is what Prometheus advises.
func TestPromtool(t *testing.T) {
	promtool := lab.Unpacked(t, "prometheus", "usr/bin/promtool")
	ask := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.Command(promtool, args...)
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args[:2], " "), err, out)
		}
	}
	ask("", "check", "rules", alertRules)
	ask("", "test", "rules", "testdata/alerts_test.yml")
	ask("", "check", "rules", recorded(t))
	_, text := get(t, start(t, watchedConfig(t, "")), "/metrics")
	ask(text, "check", "metrics")
}

// recorded writes the dashboard's expressions as rules, with something in the place of Grafana's variables.
func recorded(t *testing.T) string {
	t.Helper()
	fill := strings.NewReplacer("$instance", ".*", "$__rate_interval", "5m")
	var b strings.Builder
	b.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			fmt.Fprintf(&b, "  - {record: panel%d:%s, expr: %q}\n", p.ID, target.RefID, fill.Replace(target.Expr))
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
