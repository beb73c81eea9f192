"""A turn of a conversation as an agent program sends it: command, context, capture."""
