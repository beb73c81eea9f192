"""memoryctl: the table of its commands, and what they share."""
