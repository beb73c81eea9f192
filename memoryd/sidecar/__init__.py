"""Any child process: its life cycle, and the leash that ends it with its parent."""
