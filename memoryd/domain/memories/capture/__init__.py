"""Which of what somebody says is kept as memories: pure rules over a message."""
