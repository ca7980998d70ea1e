module pilotage-corefile-parser

go 1.24

require github.com/coredns/caddy v1.1.4
