"""The room of the service that wires the traffic control plane together."""
