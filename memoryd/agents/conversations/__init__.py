"""The conversations of an agent: listing, showing, searching and forgetting them."""
