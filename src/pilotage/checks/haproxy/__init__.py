"""HAProxy configuration: words, statements, sections, and what holds for each proxy in the end."""
