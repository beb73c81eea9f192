"""Child processes: their life cycle, and the leash that ends a child with its parent."""
