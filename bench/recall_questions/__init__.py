"""How well retained memories are recalled: the questions of `tests/data/memories`, put to the real daemon."""
