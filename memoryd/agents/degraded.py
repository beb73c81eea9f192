"""What does less than the configuration asks for, and since when."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from memoryd.agents.states import AgentState, EmbeddingState
from memoryd.agents.workspace_path import ELSEWHERE
from memoryd.domain.media import MODELS
from memoryd.embed.current import EmbedderPhase
from memoryd.files.scanner import RootState
from memoryd.index.state import Publish
from memoryd.llm.protocol import TextModelPhase
from memoryd.qmd.sidecar import QmdState
from memoryd.rerank.reranking import RerankerPhase
from memoryd.wire import Event

NEW_PARTS_SECONDS: Final = 10.0
"""How long parts that were just made may take to find out what does not work."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A part that does less than it should."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Degradation:
    """A shortfall, and since when."""

    part: str
    reason: str
    since: datetime


def shortfalls(state: AgentState) -> Iterator[Shortfall]:
    """Yield everything that does less than the configuration asks for, the index itself first."""
    index, wanted = state.index, state.wanted
    if trouble := index.trouble or index.sync.trouble:
        yield Shortfall("index", trouble)
    if doubt := _doubt_about_privacy(state):
        yield Shortfall("privacy", doubt)
    yield from _embedding_shortfalls(state.embedding)
    if state.reranker is not None and state.reranker.phase in (RerankerPhase.DOWNLOADING, RerankerPhase.FAILED):
        yield Shortfall("reranker", state.reranker.reason)
    if state.text is not None and state.text.phase in (TextModelPhase.DOWNLOADING, TextModelPhase.FAILED):
        yield Shortfall("text model", state.text.reason)
    if index.lane_trouble:
        yield Shortfall("embedding", index.lane_trouble)
    if wanted.embeds_media and not state.embedding.takes_media:
        left_out = f"pictures and sounds are left out, only {MODELS[0]} takes them"
        yield Shortfall("multimodal", f"{left_out}; {state.embedding.choice.rule}")
    if not index.watcher.is_ok and index.watcher.reason:
        yield Shortfall("watcher", index.watcher.reason)
    if index.vector_trouble and wanted.loads_extension:
        yield Shortfall("sqlite-vec", index.vector_trouble)
    if state.qmd is not None:
        yield from _qmd_shortfalls(state.qmd)
    yield from (Shortfall(part, reason) for part, reason in _of_kept(state) if reason)
    yield from _folder_shortfalls(state)


def _of_kept(state: AgentState) -> Iterator[tuple[str, str | None]]:
    yield "ledger", state.ledger.trouble
    yield "qa", state.qa_trouble
    yield "sessions", state.conversations_trouble
    yield "memories", state.memories_trouble


def _doubt_about_privacy(state: AgentState) -> str:
    hold = state.index.sync.hold
    # one that ends by itself is no trouble, and without a workspace there is a plainer reason
    is_lasting = hold is not None and hold.ends_in is None and state.has_workspace
    return hold.reason if hold is not None and is_lasting else state.index.sync.notice


def _embedding_shortfalls(state: EmbeddingState) -> Iterator[Shortfall]:
    embedder, out = state.embedder, state.stand_in
    if embedder.phase not in (EmbedderPhase.READY, EmbedderPhase.OFF):
        yield Shortfall("embedder", embedder.reason or embedder.phase.value)
    if out is not None:
        yield Shortfall("provider", f"{out.right} stands in for {out.left}: {out.reason}")


def _qmd_shortfalls(state: QmdState) -> Iterator[Shortfall]:
    upkeep = state.upkeep
    if reason := upkeep.trouble or (state.fallback and state.fallback.reason):
        yield Shortfall("qmd", f"{reason}; {upkeep.hint}" if upkeep.hint else reason)
    if upkeep.vector_trouble:
        yield Shortfall("qmd vectors", upkeep.vector_trouble)
    if state.export_trouble:
        yield Shortfall("qmd exports", state.export_trouble)


def _folder_shortfalls(state: AgentState) -> Iterator[Shortfall]:
    for root in state.index.roots:
        if root.state is not RootState.OK:
            yield Shortfall(f"root {root.root.path}", root.reason)
    if state.index.sync.last_scan_at and not state.has_workspace:
        yield Shortfall("workspace", f"there is no folder {state.workspace}")
    elif state.leads_elsewhere:
        yield Shortfall("workspace", f"{state.workspace}: {ELSEWHERE}")


class Degradations:
    """Remembers since when each part has been degraded, and publishes each beginning and end.

    `clock` is monotonic, in seconds.
    """

    def __init__(self, publish: Publish, clock: Callable[[], float] = time.monotonic) -> None:
        self._since: dict[tuple[str, str], datetime] = {}
        self._publish = publish
        self._clock = clock
        self._no_end_before = 0.0

    def go_on(self, agents: Collection[str]) -> None:
        """Go on with these agents, whose parts are made anew: what they do not tell for a while is not over."""
        self._no_end_before = self._clock() + NEW_PARTS_SECONDS
        self._since = {key: since for key, since in self._since.items() if key[0] in agents}

    def of(self, agent: str, found: Sequence[Shortfall]) -> list[Degradation]:
        """Return what an agent's memory falls short of now, each with the time it began."""
        # without an await: the loop that looks and everybody who asks for the status come by here, and each beginning
        # and end is to be published once
        now = datetime.now(UTC)
        present = {(agent, one.part): one.reason for one in found}
        is_over = self._clock() >= self._no_end_before
        for key in [key for key in self._since if is_over and key[0] == agent and key not in present]:
            since = self._since.pop(key)
            self._publish(Event.RECOVERED, {"agent": agent, "part": key[1], "since": since.isoformat()})
        for key, reason in present.items():
            if key not in self._since:
                self._since[key] = now
                self._publish(Event.DEGRADED, {"agent": agent, "part": key[1], "reason": reason})
        return [Degradation(one.part, one.reason, self._since[agent, one.part]) for one in found]
