// Prints how CoreDNS itself divides Corefiles: one line of JSON for each file that is named.
package main

import (
	"encoding/json"
	"os"

	"github.com/coredns/caddy/caddyfile"
)

type word struct {
	Text string `json:"text"`
	Line int    `json:"line"`
}

type block struct {
	Keys    []string          `json:"keys"`
	Plugins map[string][]word `json:"plugins"`
}

type answer struct {
	Error  string  `json:"error"`
	Blocks []block `json:"blocks"`
}

func read(name string) answer {
	file, err := os.Open(name)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer file.Close()
	parsed, err := caddyfile.Parse(name, file, nil)
	if err != nil {
		return answer{Error: err.Error()}
	}
	found := answer{}
	for _, one := range parsed {
		plugins := map[string][]word{}
		for name, tokens := range one.Tokens {
			for _, token := range tokens {
				plugins[name] = append(plugins[name], word{token.Text, token.Line})
			}
		}
		found.Blocks = append(found.Blocks, block{one.Keys, plugins})
	}
	return found
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, name := range os.Args[1:] {
		if err := out.Encode(read(name)); err != nil {
			os.Exit(1)
		}
	}
}
