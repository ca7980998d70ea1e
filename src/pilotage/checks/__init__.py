"""The room of the checks: a read-only audit of clusters, manifests and proxies; empty until it is built."""
