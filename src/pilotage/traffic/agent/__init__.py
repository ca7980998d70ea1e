"""The room of the agent beside each proxy."""
