"""Edits of a note as values: diffs, undoing, and what forgetting takes out."""
