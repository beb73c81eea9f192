"""How memories are written, recalled, used and forgotten."""
