"""What agent programs write down of a conversation, one JSON object a line, and what of it was said."""
