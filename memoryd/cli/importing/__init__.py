"""Reads what other programs keep, for an import: a table of sources, and what all of them become."""
