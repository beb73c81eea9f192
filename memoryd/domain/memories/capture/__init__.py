"""Capture of memories from messages, by pure rules."""
