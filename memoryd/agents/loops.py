"""What runs beside the questions, named; whoever owns the event loop makes tasks of it."""

from collections.abc import Callable, Coroutine

NamedLoop = tuple[str, Callable[[], Coroutine[object, object, None]]]
"""What a loop is called, and what starts it: it runs until cancelled, or returns when there is nothing to do."""
