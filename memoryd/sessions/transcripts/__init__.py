"""Transcripts of agent programs on disk: finding, reading and following them, and exporting them as Markdown."""
