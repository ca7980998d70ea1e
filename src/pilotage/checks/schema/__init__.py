"""What fields an object may have: the published definitions of Kubernetes, and those of custom resources."""
