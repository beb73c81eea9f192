"""What is told of itself beside a message: whether it asks for anything, and which items its own evidence earns it."""
