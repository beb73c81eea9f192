"""The embedder that a workspace uses now, or why there is none: providers change it, indexing and search read it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.vector import Vector
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.protocol import Embedder
from memoryd.models.fetching import Progress


class ModelPhase(StrEnum):
    """What stands between the user and what a model gives."""

    OFF = "off"
    DOWNLOADING = "downloading"
    WARMING = "warming"
    """It was not looked at yet."""
    READY = "ready"
    FAILED = "failed"


class PhaseRecord(Struct, frozen=True):
    """The phase, why, since when, and how far a download is."""

    phase: ModelPhase
    reason: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress | None = None

    def enter(self, phase: ModelPhase, reason: str = "") -> "PhaseRecord":
        """Return the record of a phase, which begins now unless it is the same one."""
        return PhaseRecord(phase, reason, self.since if phase is self.phase else datetime.now(UTC))

    @property
    def is_unreachable(self) -> bool:
        """Whether a download fails that has not brought a byte yet."""
        return self.progress is not None and bool(self.progress.trouble) and not self.progress.done_bytes


class ProviderFallback(Struct, frozen=True):
    """Why another provider (`substitute`) than the configured one (`failed`) embeds, and since when."""

    failed: str
    substitute: str
    reason: str
    since: datetime


class CurrentEmbedder:
    """Holds the embedder of some agents; changed by the part that chooses it, read by indexing and search."""

    def __init__(self, on_change: Callable[[PhaseRecord], None], strangers: UnrelatedTexts | None = None) -> None:
        self.state = PhaseRecord(ModelPhase.WARMING, "starting")
        self.embedder: Embedder | None = None
        self.fallback_in_use: ProviderFallback | None = None
        self._questions: dict[tuple[str, str], asyncio.Future[Vector | None]] = {}
        """Those that are being embedded."""
        self.strangers = strangers
        """What the embedders make of notes that answer nothing, where somebody wants to know."""
        self._listeners: list[Callable[[], None]] = []
        self._on_change = on_change

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of the embedder or its phase."""
        self._listeners.append(listener)

    def dismiss(self) -> None:
        """Call no listener any more: those who listened are gone."""
        self._listeners.clear()

    async def become(
        self,
        phase: ModelPhase,
        reason: str = "",
        *,
        embedder: Embedder | None = None,
        fallback_in_use: ProviderFallback | None = None,
    ) -> None:
        """Enter a phase; `embedder` is what is offered, if anything. FAILED may go on offering one that is tried."""
        self.embedder = embedder
        self.fallback_in_use = fallback_in_use
        self.state = self.state.enter(phase, reason)
        self._on_change(self.state)
        for listener in self._listeners:
            listener()

    def note_progress(self, progress: Progress, reason: str = "") -> None:
        """Say how far the present phase is, and with a `reason` why it is no further."""
        self.state = replace(self.state, progress=progress, reason=reason or self.state.reason)
        self._on_change(self.state)

    async def embed_question(self, embedder: Embedder, text: str) -> Vector:
        """Return the vector of a question, embedded once while several wait for it; raises EmbeddingError."""
        key = embedder.identity.fingerprint, text
        while (others := self._questions.get(key)) is not None:
            # shielded: who gives up must not take it from the others
            vector = await asyncio.shield(others)
            if vector is not None:
                return vector
            # whoever asked had no more time, or no luck
        mine: asyncio.Future[Vector | None] = asyncio.get_running_loop().create_future()
        self._questions[key] = mine
        vector = None
        try:
            vector = await embedder.embed_query(text)
            return vector
        finally:
            del self._questions[key]
            mine.set_result(vector)


class EmbedderSource(Protocol):
    """Keeps its slot truthful while `run` runs."""

    @property
    def slot(self) -> CurrentEmbedder: ...

    async def run(self) -> None:
        """Loop until cancelled; goes on trying by itself after a failure."""

    def trouble(self) -> str | None:
        """Return why it has been given up for now, None while it works or is still on its way."""
