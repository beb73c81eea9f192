"""Conversations on disk: the files of the question-and-answer store."""
