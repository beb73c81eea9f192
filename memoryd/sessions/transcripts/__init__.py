"""Transcripts of agent programs on disk: finding them, and reading on where they were read last."""
