"""The room of rendering and applying HAProxy configuration."""
