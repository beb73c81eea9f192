"""How long each arm took over its part of an answer, and how it went: kept where the work is done, for metrics."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from memoryd.domain.counters import Durations
from memoryd.errors import EmbeddingError, StoreError
from memoryd.search.backend import Arm, ArmState

EMBEDDING, RECALL = "embedding", "recall"
"""What takes its time beside the arms that an answer names: making the vector of a question, and a recall."""
_WORKED: Final = frozenset({ArmState.OK, ArmState.PARTIAL, ArmState.FAILED, ArmState.TIMEOUT})
"""An arm in another state was not asked."""

Matches = TypeVar("Matches")


class ArmTimes:
    """Counts since it was made; all in one event loop."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, Durations] = defaultdict(Durations)
        """By arm."""
        self.states: Counter[tuple[str, str]] = Counter()
        """By arm and how it took part."""

    def note(self, arm: str, begun: float, state: ArmState = ArmState.OK) -> None:
        """Count what began at a moment (monotonic clock) and is over now."""
        self.states[arm, state.value] += 1
        if state in _WORKED:
            self.seconds[arm].add(time.monotonic() - begun)

    async def guarded(
        self, name: str, ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float
    ) -> tuple[Arm, Matches | None]:
        """Ask an arm as `guarded` does, and count it by that name."""
        begun = time.monotonic()
        found = await guarded(ask, end)
        self.note(name, begun, found[0].state)
        return found


async def guarded(ask: Callable[[], Awaitable[tuple[Arm, Matches]]], end: float) -> tuple[Arm, Matches | None]:
    """Ask an arm until `end` (monotonic clock); one that fails or is late costs its part, never the answer."""
    try:
        async with asyncio.timeout(max(0.0, end - time.monotonic())):
            # begun here, not by the caller: of two side by side one may be cancelled before it begins
            return await ask()
    except TimeoutError:
        return Arm(ArmState.TIMEOUT, "it did not answer before the deadline"), None
    except (EmbeddingError, StoreError) as exc:
        return Arm(ArmState.FAILED, str(exc)), None
