"""The MCP server: the catalogue as tools, resources and prompts for coding agents."""
