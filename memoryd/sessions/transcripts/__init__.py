"""Transcripts of agent programs on disk: finding them, and reading on where they were read last.

Transcripts as Markdown, for an engine that reads files: what is written, kept and taken back.
"""
