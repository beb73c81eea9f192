"""The conversations of an agent: listed, shown, searched and forgotten."""
