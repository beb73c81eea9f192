"""Memories: parsing and rendering of their lines, ids, times, versions, and the order of recall."""
