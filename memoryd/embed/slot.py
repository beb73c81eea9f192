"""Where a workspace finds its embedder: the one in use now, or why there is none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from memoryd.embed.protocol import Embedder
from memoryd.embed.shared_questions import SharedQuestions
from memoryd.embed.strangers import Strangers
from memoryd.models.fetching import Progress


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

    @property
    def is_out_of_reach(self) -> bool:
        """Whether a download fails that has not brought a byte yet."""
        return self.progress is not None and bool(self.progress.trouble) and not self.progress.done_bytes


@dataclass(frozen=True, slots=True)
class StandIn:
    """Why another provider (`right`) than the configured one (`left`) embeds, and since when."""

    left: str
    right: str
    reason: str
    since: datetime


class EmbedderSlot:
    """Holds the embedder of some agents; changed by the part that chooses it, read by indexing and search."""

    def __init__(self, on_change: Callable[[EmbedderState], None], strangers: Strangers | None = None) -> None:
        self.state = EmbedderState(EmbedderPhase.WARMING, "starting")
        self.embedder: Embedder | None = None
        self.stand_in: StandIn | None = None
        self.questions = SharedQuestions()
        self.strangers = strangers
        """What the embedders make of notes that answer nothing, where somebody wants to know."""
        self._listeners: list[Callable[[], None]] = []
        self._on_change = on_change
        self._changed = asyncio.Condition()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of the embedder or its phase."""
        self._listeners.append(listener)

    def dismiss(self) -> None:
        """Call no listener any more: those who listened are gone."""
        self._listeners.clear()

    async def become(
        self,
        phase: EmbedderPhase,
        reason: str = "",
        *,
        embedder: Embedder | None = None,
        stand_in: StandIn | None = None,
    ) -> None:
        """Enter a phase; `embedder` is what is offered, if anything. FAILED may go on offering one that is tried."""
        self.embedder = embedder
        self.stand_in = stand_in
        since = self.state.since if phase == self.state.phase else datetime.now(UTC)
        self.state = EmbedderState(phase, reason, since)
        self._on_change(self.state)
        for listener in self._listeners:
            listener()
        async with self._changed:
            self._changed.notify_all()

    def note_progress(self, progress: Progress, reason: str = "") -> None:
        """Say how far the present phase is, and with a `reason` why it is no further."""
        self.state = replace(self.state, progress=progress, reason=reason or self.state.reason)
        self._on_change(self.state)

    async def available(self) -> Embedder:
        """Wait for an embedder and return it."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.embedder is not None)
        assert self.embedder is not None
        return self.embedder
