"""Memories: what a bullet states, how it is read and named, when it was so, and which of several is the newest."""
