"""Retrieval quality: question sets run through the real daemon."""
