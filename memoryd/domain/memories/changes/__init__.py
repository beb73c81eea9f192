"""Changes of notes as values: diffs, undo, replacement, and forgetting."""
