"""What one agent may ask of its memory, whichever face asks."""
