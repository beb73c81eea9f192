"""Transcripts that agent programs write, one JSON object per line, and the messages in them."""
