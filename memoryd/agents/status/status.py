"""The status of an agent's memory: the states of its parts, its index, and what is degraded and since when."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from memoryd.agents.status.figures import Census, ConversationCensus, IndexStats, QaCensus
from memoryd.agents.status.states import (
    AgentState,
    EmbeddingState,
    LedgerState,
    RemoteState,
    embedding_state,
    index_state,
    remote_state,
)
from memoryd.agents.workspace.index import ELSEWHERE, WorkspaceIndex, WorkspacePath
from memoryd.agents.workspace.models import Writing
from memoryd.config.memory_search import MemorySearchSection
from memoryd.domain.documents import SkippedFile
from memoryd.domain.media import MODELS
from memoryd.embed.current import ModelPhase
from memoryd.embed.embedding import Embedding
from memoryd.embed.local.worker_process import WorkerState
from memoryd.files.scanner import RootState
from memoryd.index.state import Publish
from memoryd.qmd.agent import AgentQmd
from memoryd.qmd.sidecar import QmdState
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.status import ConversationsReply
from memoryd.rerank.reranking import Reranking
from memoryd.sessions.turn_taking import TurnTaking
from memoryd.store.ledger.ledger import Ledger, LedgerCount
from memoryd.wire import Event

NEW_PARTS_SECONDS: Final = 10.0
"""How long parts that were just made may take to find out what does not work."""
POLL_SECONDS: Final = 1.0


class Shortfall(Struct, frozen=True):
    """A part that does less than it should."""

    part: str
    reason: str


class Degradation(Struct, frozen=True):
    """A shortfall, and since when."""

    part: str
    reason: str
    since: datetime


def shortfalls(state: AgentState) -> Iterator[Shortfall]:
    """Yield everything that does less than the configuration asks for, the index itself first."""
    index, settings = state.index, state.settings
    if trouble := index.trouble or index.sync.trouble:
        yield Shortfall("index", trouble)
    if doubt := _doubt_about_privacy(state):
        yield Shortfall("privacy", doubt)
    yield from _embedding_shortfalls(state.embedding)
    if state.reranker is not None and state.reranker.phase in (ModelPhase.DOWNLOADING, ModelPhase.FAILED):
        yield Shortfall("reranker", state.reranker.reason)
    if state.text is not None and state.text.phase in (ModelPhase.DOWNLOADING, ModelPhase.FAILED):
        yield Shortfall("text model", state.text.reason)
    if index.embedding_trouble:
        yield Shortfall("embedding", index.embedding_trouble)
    if settings.multimodal.enabled and not state.embedding.takes_media:
        left_out = f"pictures and sounds are left out, only {MODELS[0]} takes them"
        yield Shortfall("multimodal", f"{left_out}; {state.embedding.choice.rule}")
    if not index.watcher.is_ok and index.watcher.reason:
        yield Shortfall("watcher", index.watcher.reason)
    if index.vector_trouble and settings.store.vector.enabled:
        yield Shortfall("sqlite-vec", index.vector_trouble)
    if state.qmd is not None:
        yield from _qmd_shortfalls(state.qmd)
    kept = {
        "ledger": state.ledger.trouble,
        "qa": state.qa_trouble,
        "sessions": state.conversations_trouble,
        "memories": state.memories_trouble,
    }
    yield from (Shortfall(part, reason) for part, reason in kept.items() if reason)
    yield from _folder_shortfalls(state)


def _doubt_about_privacy(state: AgentState) -> str:
    hold = state.index.sync.hold
    # one that ends by itself is no trouble, and without a workspace there is a plainer reason
    is_lasting = hold is not None and hold.ends_in is None and state.has_workspace
    return hold.reason if hold is not None and is_lasting else state.index.sync.notice


def _embedding_shortfalls(state: EmbeddingState) -> Iterator[Shortfall]:
    embedder, out = state.embedder, state.fallback_in_use
    if embedder.phase not in (ModelPhase.READY, ModelPhase.OFF):
        yield Shortfall("embedder", embedder.reason or embedder.phase.value)
    if out is not None:
        yield Shortfall("provider", f"{out.right} stands in for {out.left}: {out.reason}")


def _qmd_shortfalls(state: QmdState) -> Iterator[Shortfall]:
    maintenance = state.maintenance
    if reason := maintenance.trouble or (state.fallback and state.fallback.reason):
        yield Shortfall("qmd", f"{reason}; {maintenance.hint}" if maintenance.hint else reason)
    if maintenance.vector_trouble:
        yield Shortfall("qmd vectors", maintenance.vector_trouble)
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


ShortfallsOf = Callable[[str], Sequence[Shortfall]]
"""What an agent's memory falls short of for reasons that lie outside of it."""


class MemoryStatus(Struct, frozen=True):
    """The memory of one agent; `worker` is None without a process of ours, `remote` if no text leaves the machine.

    `qa` is None where questions and answers are off.
    """

    state: AgentState
    figures: IndexStats
    worker: WorkerState | None
    remote: RemoteState | None
    degraded: tuple[Degradation, ...]
    ledger: LedgerCount
    qa: QaStatsReply | None = None
    conversations: ConversationsReply | None = None

    @property
    def embedded(self) -> int:
        """Return how many passages have a vector in the space of the present embedder; 0 without one."""
        if self.state.embedding.identity is None:
            return 0
        # the figures are counted one after the other, beside a lane that goes on: their difference may be below 0
        return max(0, self.figures.held.passages - self.figures.lacking - len(self.figures.unseen))

    @property
    def pending_embeddings(self) -> int:
        """Return how many passages are to get a vector; 0 while nobody wants those that are missing."""
        return 0 if self.state.index.is_embedding_idle else self.figures.lacking

    @property
    def all_skipped(self) -> tuple[SkippedFile, ...]:
        """Return the documents that are not indexed, or found by less than all of them, and why."""
        return (*self.state.index.sync.skipped, *self.figures.unseen)


class AgentSources(Struct, frozen=True, kw_only=True):
    """The parts of one agent's memory, of which status tells."""

    id: str
    path: WorkspacePath
    settings: MemorySearchSection
    index: WorkspaceIndex
    embedding: Embedding
    reranking: Reranking | None
    text: Writing | None
    qmd: AgentQmd | None
    qa: QaCensus
    taking: TurnTaking | None
    census: Census
    """Shared by the agents that share the index."""
    ledger: Ledger
    conversations: ConversationCensus
    memories_trouble: Callable[[], str]
    pending_captures: Callable[[], int]

    def state(self) -> AgentState:
        """Return what the parts say of themselves now. Asks the disk for the workspace's folder, and nothing more."""
        return AgentState(
            id=self.id,
            workspace=self.path.configured,
            has_workspace=self.path.configured.is_dir(),
            leads_elsewhere=self.path.leads_elsewhere(),
            settings=self.settings,
            index=index_state(self.index),
            embedding=embedding_state(self.embedding),
            reranker=None if self.reranking is None else self.reranking.state(),
            text=None if self.text is None else self.text.state(),
            qmd=None if self.qmd is None else self.qmd.state(),
            ledger=LedgerState(self.ledger.path, self.ledger.trouble, self.ledger.limits),
            qa_trouble="; ".join([*self.qa.problems.sentences, *(self.taking.sentences if self.taking else [])]),
            conversations_trouble=self.conversations.trouble,
            memories_trouble=self.memories_trouble(),
            pending_captures=self.pending_captures(),
        )


class StatusBoard:
    """Tells of each agent's memory, and of each degradation as it begins and ends.

    `outside` says what else falls short for an agent, beyond the parts of its memory.
    """

    def __init__(self, *, agents: Sequence[AgentSources], degradations: Degradations, outside: ShortfallsOf) -> None:
        self._agents = list(agents)
        self._outside = outside
        self._degradations = degradations
        degradations.go_on({parts.id for parts in agents})

    async def run(self, poll_seconds: float = POLL_SECONDS) -> None:
        """Look again and again what is degraded, so that whoever listens hears of it without asking."""
        while True:
            for parts in self._agents:
                self._degraded(parts.state())
            await asyncio.sleep(poll_seconds)

    async def describe(self, agents: Sequence[AgentSources]) -> list[MemoryStatus]:
        """Describe the memories of these agents now; each index is counted once."""
        # counted first, since that awaits the stores: the states after it are all of one moment. The embedder may have
        # been exchanged meanwhile; then what lacks a vector was counted for the one before, until the next call
        figures = {census: await census.take() for census in dict.fromkeys(parts.census for parts in agents)}
        counted = [await parts.ledger.count(parts.id, str(parts.index.rules.workspace)) for parts in agents]
        qas = [await parts.qa.known() for parts in agents]
        talks = [await parts.conversations.take() for parts in agents]
        described = []
        for parts, ledger, qa, talk in zip(agents, counted, qas, talks, strict=True):
            state, embedding = parts.state(), parts.embedding
            local = embedding.local.worker if embedding.local is not None else None
            worker = None if local is None else local.state()
            remote, degraded = remote_state(embedding), self._degraded(state)
            described.append(MemoryStatus(state, figures[parts.census], worker, remote, degraded, ledger, qa, talk))
        return described

    def _degraded(self, state: AgentState) -> tuple[Degradation, ...]:
        return tuple(self._degradations.of(state.id, [*shortfalls(state), *self._outside(state.id)]))
