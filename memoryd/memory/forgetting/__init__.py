"""Take a memory out of everything, and keep it from being learned again."""
