"""Rules of conversations: turns with keywords and topics, retention of answers, and choosing turns for a message."""
