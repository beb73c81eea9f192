"""From a question to memories, current first, verified in their files."""
