"""What is recalled beside a message that asks nothing: its form, whom it means, and what its evidence earns a place."""
