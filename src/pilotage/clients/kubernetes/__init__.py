"""A Kubernetes API server, read only: the client has no verb but get and list."""
