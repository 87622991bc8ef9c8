package bench

import "testing"

func TestMarkdown(t *testing.T) {
	const want = "| measured by `spamsim bench --markdown` | figure | beside it |\n" +
		"| --- | --- | --- |\n" +
		"| Nilsimsa code of 16 KB, a core | 200 MB/s | 2.0 times the plain loop |\n" +
		"| scan of 1,000 codes | 2.00 ns a code | 50 % of the speed of reading; 0.25 ns each with 16 searches in a pass |\n" +
		"| judging against 1,000 remembered | 10,000 a second and core | 2000 octets of memory each; 100.00 % the verdict of a scan |\n" +
		"| judging against 100,000 remembered | 5,000 a second and core | 1000 octets of memory each; 99.95 % the verdict of a scan |\n" +
		"| SMTP proxy, judging against 100,000, 10 kept connections | 3,000 messages a second | 60 % of judging off; 0.15 ms of processor time above it |\n" +
		"| SMTP proxy, judging off | 5,000 messages a second | 25 % of smtp-source straight to smtp-sink |\n"
	r := report()
	if got := r.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
