"""Transcripts of agent programs on disk: find, read and follow them, and export them as Markdown."""
