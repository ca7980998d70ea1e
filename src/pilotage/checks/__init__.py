"""The checks: a read-only audit, so far of Kubernetes manifests, that names the incident behind a finding."""
