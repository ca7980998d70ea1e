"""The room of the snapshot: content-hashed desired state."""
