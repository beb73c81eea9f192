"""A note taken apart: structure, chunks, words, dates; and what may be shown of it."""
