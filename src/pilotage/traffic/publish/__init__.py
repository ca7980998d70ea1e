"""The room of leader, canary and rollout."""
