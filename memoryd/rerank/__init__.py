"""Order texts by relevance to a question, with a cross-encoder in a worker process."""
