"""Ranking of candidates for a question: fusion, thresholds, selection and snippets."""
