"""A bar on stderr while a backup is written or read; nothing where stderr is no terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memoryd.cli.terminal import is_terminal


@contextmanager
def told_progress(name: str, total: int | None) -> Iterator[Callable[[str, int], None]]:
    """Give what is to be told of how many bytes are done; without a total each file counts by itself."""
    if not is_terminal(sys.stderr):
        yield lambda _what, _done: None
        return
    # rich takes 50 ms to import and is needed for a bar only
    from memoryd.cli.bars import Bars

    with Bars() as bars:
        yield lambda _what, done: bars.show_transfer(name, done, total)


@contextmanager
def told_count(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Give what is to be told of how many memories are done, and of how many in all, None where nobody knows."""
    if not is_terminal(sys.stderr):
        yield lambda _done, _total: None
        return
    from memoryd.cli.bars import Bars

    with Bars() as bars:
        yield lambda done, total: bars.show(name, done, total, f"{done:,} memories")
