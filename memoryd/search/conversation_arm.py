"""The arm that answers from an agent's conversations: beside the notes, never in their way."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from memoryd.errors import MemorydError
from memoryd.search.backend import LEXICAL, VECTOR, Arm, ArmState, Found, Query, SearchBackend

NOTHING_TO_ASK: Final = Arm(
    ArmState.OFF,
    "no conversation is indexed: set memory.qa.enabled to true for questions and answers, and for transcripts "
    'memorySearch.experimental.sessionMemory to true with "sessions" in memorySearch.sources',
)
"""Of an agent whose conversations nobody keeps."""


class ConversationArm:
    """Asks the index of one agent's conversations; one that fails or is late costs its part, never the answer.

    `standing` tells how it is before it is asked: off, failed, or partial while there is more to read, and why.
    """

    def __init__(
        self, search: SearchBackend | None = None, standing: Callable[[], Arm] = lambda: Arm(ArmState.OK)
    ) -> None:
        self._search = search
        self._standing = standing

    async def found(self, query: Query) -> tuple[Arm, Found]:
        """Return how it took part within the deadline, and what it found."""
        standing = NOTHING_TO_ASK if self._search is None else self._standing()
        if self._search is None or not standing.took_part:
            return standing, _nothing(query, standing)
        try:
            async with asyncio.timeout(query.deadline):
                found = await self._search.search(query)
        except TimeoutError:
            late = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")
            return late, _nothing(query, late)
        except MemorydError as exc:
            failed = Arm(ArmState.FAILED, str(exc))
            return failed, _nothing(query, failed)
        arm = _joined(standing, found.arms)
        # what is not kept at all is worth a word where nothing was found
        return (Arm(ArmState.OK) if found.hits and arm.state is ArmState.OK else arm), found


def _nothing(query: Query, arm: Arm) -> Found:
    return Found((), (), {LEXICAL: arm, VECTOR: arm}, query.question.terms)


def _joined(standing: Arm, arms: Mapping[str, Arm]) -> Arm:
    """Return how the whole took part: as its arms did, and as far as everything was read."""
    if not any(arm.took_part for arm in arms.values()):
        return arms[LEXICAL]
    if standing.state is not ArmState.OK:
        return standing
    lacking = [(name, arm) for name, arm in arms.items() if not arm.is_as_configured]
    if not lacking:
        return standing
    return Arm(ArmState.PARTIAL, "; ".join(f"{name}: {arm.reason or arm.state}" for name, arm in lacking))
