"""The operations on one agent's memory, independent of the interface (API, MCP, CLI)."""
