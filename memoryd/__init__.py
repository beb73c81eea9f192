"""A background daemon that gives AI agents a long-term memory made of plain Markdown."""

__version__ = "0.2.0"
