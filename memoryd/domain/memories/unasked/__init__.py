"""Recall beside a message without an explicit question: its form, the entities it means, and the evidence for items."""
