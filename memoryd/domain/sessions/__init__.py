"""Rules of conversations: turns, their keywords and topics, what is kept, and which sequence answers a message."""
