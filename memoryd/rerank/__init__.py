"""A question and texts into an order, by a cross-encoder in a worker."""
