"""Conversations on disk: the files of questions and answers, and the transcripts of agent programs."""
