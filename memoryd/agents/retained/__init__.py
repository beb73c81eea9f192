"""What is retained for an agent: retain, recall, reflect, and the undo of each."""
