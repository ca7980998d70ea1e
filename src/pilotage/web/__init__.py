"""The room of the web pages, the REST API and the MCP server; empty until they are built."""
