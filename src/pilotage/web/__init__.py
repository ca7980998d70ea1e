"""The pages, the REST API and the MCP server: one ASGI app over one catalogue."""
