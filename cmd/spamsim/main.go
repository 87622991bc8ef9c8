// Command spamsim finds bulk mail by similarity: it remembers the codes of recent mail and says of each new message
// whether it is one of many near-copies.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
