"""The current embedder of a workspace, or why there is none. Providers set it; indexing and search read it."""

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
    """The state of a model."""

    OFF = "off"
    DOWNLOADING = "downloading"
    WARMING = "warming"
    """The model was not checked yet."""
    READY = "ready"
    FAILED = "failed"


class PhaseRecord(Struct, frozen=True):
    """The phase, its reason and start, and the progress of a download."""

    phase: ModelPhase
    reason: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress | None = None

    def enter(self, phase: ModelPhase, reason: str = "") -> "PhaseRecord":
        """Return the record of a new phase, which begins now; the same phase keeps its start."""
        return PhaseRecord(phase, reason, self.since if phase is self.phase else datetime.now(UTC))

    @property
    def is_unreachable(self) -> bool:
        """True if a download fails and has not received a byte yet."""
        return self.progress is not None and bool(self.progress.trouble) and not self.progress.done_bytes


class ProviderFallback(Struct, frozen=True):
    """The failed provider, the provider that is used instead, and since when and why."""

    failed: str
    substitute: str
    reason: str
    since: datetime


class CurrentEmbedder:
    """The embedder that some agents share; set by an EmbedderSource, read by indexing and search."""

    def __init__(self, on_change: Callable[[PhaseRecord], None], strangers: UnrelatedTexts | None = None) -> None:
        self.state = PhaseRecord(ModelPhase.WARMING, "starting")
        self.embedder: Embedder | None = None
        self.fallback_in_use: ProviderFallback | None = None
        self._questions: dict[tuple[str, str], asyncio.Future[Vector | None]] = {}
        """Results of the questions that are being embedded, by fingerprint and text."""
        self.strangers = strangers
        """The vectors of unrelated texts; None if they are not used."""
        self._listeners: list[Callable[[], None]] = []
        self._on_change = on_change

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of the embedder or its phase."""
        self._listeners.append(listener)

    def unsubscribe_all(self) -> None:
        """Remove all listeners."""
        self._listeners.clear()

    async def set(
        self,
        phase: ModelPhase,
        reason: str = "",
        *,
        embedder: Embedder | None = None,
        fallback_in_use: ProviderFallback | None = None,
    ) -> None:
        """Enter a phase with an embedder, if there is one; in FAILED the embedder may be one that is still tried."""
        self.embedder = embedder
        self.fallback_in_use = fallback_in_use
        self.state = self.state.enter(phase, reason)
        self._on_change(self.state)
        for listener in self._listeners:
            listener()

    def note_progress(self, progress: Progress, reason: str = "") -> None:
        """Update the progress of the current phase, and its reason if `reason` is not empty."""
        self.state = replace(self.state, progress=progress, reason=reason or self.state.reason)
        self._on_change(self.state)

    async def embed_question(self, embedder: Embedder, text: str) -> Vector:
        """Return the vector of a question; concurrent calls for one question share it. Raises EmbeddingError."""
        key = embedder.identity.fingerprint, text
        while (running := self._questions.get(key)) is not None:
            # shielded: a cancelled caller must not cancel the future of the other callers
            vector = await asyncio.shield(running)
            if vector is not None:
                return vector
            # the call that embedded it was cancelled or failed
        result: asyncio.Future[Vector | None] = asyncio.get_running_loop().create_future()
        self._questions[key] = result
        vector = None
        try:
            vector = await embedder.embed_query(text)
            return vector
        finally:
            del self._questions[key]
            result.set_result(vector)


class EmbedderSource(Protocol):
    """Runs an embedder and keeps its slot up to date while `run` runs."""

    @property
    def slot(self) -> CurrentEmbedder: ...

    async def run(self) -> None:
        """Loop until cancelled; tries again by itself after a failure."""

    def trouble(self) -> str | None:
        """Return why the embedder fails; None while it works or is being started."""
