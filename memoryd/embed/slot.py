"""Where a workspace finds its embedder: the one in use now, or why there is none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from memoryd.embed.progress import Progress
from memoryd.embed.protocol import Embedder


class EmbedderPhase(StrEnum):
    """What stands between the user and vectors."""

    OFF = "off"
    DOWNLOADING = "downloading"
    WARMING = "warming"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The phase, why, since when, and how far a download is."""

    phase: EmbedderPhase
    reason: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress | None = None


class EmbedderSlot:
    """Holds the embedder of some agents; changed by the part that chooses it, read by indexing and search."""

    def __init__(self, on_change: Callable[[EmbedderState], None]) -> None:
        self.state = EmbedderState(EmbedderPhase.OFF, "starting")
        self.embedder: Embedder | None = None
        self._on_change = on_change
        self._changed = asyncio.Condition()

    async def become(self, phase: EmbedderPhase, reason: str = "", *, embedder: Embedder | None = None) -> None:
        """Enter a phase; `embedder` is what READY and WARMING offer."""
        self.embedder = embedder
        self.state = EmbedderState(phase, reason)
        self._on_change(self.state)
        async with self._changed:
            self._changed.notify_all()

    def note_progress(self, progress: Progress) -> None:
        """Say how far the present phase is."""
        self.state = replace(self.state, progress=progress)
        self._on_change(self.state)

    async def available(self) -> Embedder:
        """Wait for an embedder and return it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.embedder is not None)
        assert self.embedder is not None
        return self.embedder
