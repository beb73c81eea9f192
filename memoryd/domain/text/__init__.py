"""Analysis of text: structure, chunks, words, dates, languages, privacy, and sanitizing."""
