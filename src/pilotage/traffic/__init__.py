"""The room of the traffic control plane; empty until it is built."""
