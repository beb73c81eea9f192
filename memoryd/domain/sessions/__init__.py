"""Rules of conversations: turns with keywords and topics, retention of answers, and the choice of turns for a message."""
