"""The room of the traffic model: frozen types, no effects."""
