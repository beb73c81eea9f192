"""Transcripts as Markdown, for an engine that reads files: what is written, kept and taken back."""
