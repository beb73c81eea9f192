"""Work that needs memoryd to lie still: it holds the lock of the daemon, so that none starts meanwhile."""

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from memoryd.errors import AlreadyRunning
from memoryd.moving.replacing import finish


@contextlib.contextmanager
def lying_still(
    lock: AbstractContextManager[object], state: Path, again: str, *, is_look: bool = False, finishes: bool = True
) -> Iterator[list[str]]:
    """Hold the lock of a daemon; what a kill left of a replacement is finished first, and told, if `finishes`.

    Who only looks may do so beside a daemon, and is told. Raises AlreadyRunning, with how to stop it and the command to
    give then.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except AlreadyRunning as exc:
            if is_look:
                yield ["memoryd is running: stop it before you do this without --dry-run: memoryctl service stop"]
                return
            how = "stop it first: memoryctl service stop (or end it where you started it)"
            raise AlreadyRunning(str(exc), hint=f"{how}; then: {again}") from exc
        finished = finish(state) if finishes else []
        yield [f"finished what was cut short before: {what}" for what in finished]
