"""The status of an agent's memory: the states of its parts, its index, and its degradations with their start times."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from memoryd.agents.status.figures import ConversationCounter, IndexCounter, IndexStats, QaCounter
from memoryd.agents.workspace.index import ELSEWHERE, PathState, WorkspaceIndex, WorkspacePath
from memoryd.agents.workspace.models import Writing
from memoryd.config.memory_search import MemorySearchSection
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import OutsideCount, SkippedFile
from memoryd.domain.embedding import Choice
from memoryd.domain.media import MODELS
from memoryd.embed.current import ModelPhase, PhaseRecord, ProviderFallback
from memoryd.embed.embedding import Embedding
from memoryd.embed.local.worker_process import WorkerSupervisor
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.files.scanner import RootReport, RootState
from memoryd.index.state import Publish, SyncState
from memoryd.index.watcher import FileWatcher
from memoryd.qmd.agent import AgentQmd
from memoryd.qmd.sidecar import QmdState
from memoryd.replies.changes import TeamReply
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.models import OutstandingReply, RemoteReply, RerankerReply, TextModelReply
from memoryd.replies.status import ConversationsReply, DegradedReply, LedgerReply, WatcherReply
from memoryd.rerank.reranking import Reranking
from memoryd.search.protocol import Fallback
from memoryd.sessions.turn_taking import TurnTaking
from memoryd.store.ledger.ledger import Ledger
from memoryd.wire import Event

NEW_PARTS_SECONDS = 10.0
"""Seconds that newly created parts may take to find out what does not work."""
POLL_SECONDS = 1.0
_FINE = (ModelPhase.READY, ModelPhase.OFF)
_WITHOUT_MEDIA = f"pictures and sounds are left out, only {MODELS[0]} takes them; {{}}"


class AgentState(Struct, frozen=True, kw_only=True):
    """The states of the parts of one agent's memory at one moment, read without querying the index."""

    id: str
    workspace: Path
    has_workspace: bool
    leads_elsewhere: bool
    """Whether the path leads to another folder than the indexed one."""
    settings: MemorySearchSection
    """The configuration; the states show how far it is achieved."""
    sync: SyncState
    index_path: Path
    index_trouble: str | None
    """Why the index file cannot be used or written."""
    vector_engine: str
    watcher: WatcherReply
    outside: OutsideCount
    reading_seconds_left: float | None = None
    embedding_seconds_left: float | None = None
    embedding_trouble: str | None
    is_embedding_idle: bool
    """Whether the missing vectors are not wanted."""
    choice: Choice
    takes_media: bool
    embedder: PhaseRecord
    identity: EmbedderIdentity | None
    """None while there is no embedder."""
    provider_fallback: ProviderFallback | None
    reranker: RerankerReply | None
    """None if nothing is reranked."""
    text: TextModelReply | None = None
    """The model that labels memories and writes prose; None without one."""
    qmd: QmdState | None
    troubles: Mapping[str, str] = {}
    """The problems of `ledger`, `qa`, `sessions`, `memories` and `team`; an empty text means no problem."""
    pending_captures: int = 0
    """The number of messages that are still to be searched for memories."""
    team: TeamReply | None = None

    @property
    def provider(self) -> str:
        """The provider that embeds now, or `none`."""
        return "none" if self.identity is None else self.identity.provider

    @property
    def model(self) -> str | None:
        """The model that embeds now, or None."""
        return None if self.identity is None else self.identity.model

    @property
    def roots(self) -> list[RootReport]:
        """The folders that are scanned, and the required folders that are missing."""
        return [root for root in self.sync.roots if root.state is not RootState.MISSING or not root.root.is_optional]

    @property
    def backend(self) -> Literal["builtin", "qmd"]:
        """The engine that answers."""
        return "builtin" if self.qmd is None or self.qmd.fallback else "qmd"

    @property
    def fallback(self) -> Fallback | None:
        """The failed engine: qmd, else the provider of embeddings, which matters only if qmd does not answer."""
        if self.qmd is not None and self.qmd.fallback is not None:
            return self.qmd.fallback
        out = self.provider_fallback
        return None if out is None else Fallback(out.failed, out.reason, out.since)


def _watcher_reply(watcher: FileWatcher | None, remote: str) -> WatcherReply:
    if watcher is None:
        return WatcherReply(mode="off", ok=True, reason=None)
    if watcher.is_ok and remote:
        return WatcherReply(mode="scan", ok=True, reason=remote)
    return WatcherReply(mode="events" if watcher.is_ok else "scan", ok=watcher.is_ok, reason=watcher.reason)


class Degradation(Struct, frozen=True):
    """A part that does less than configured."""

    part: str
    reason: str


def degradations(state: AgentState) -> Iterator[Degradation]:
    """Yield every degradation, that of the index first."""
    settings, watcher, out = state.settings, state.watcher, state.provider_fallback
    is_without_media = settings.multimodal.enabled and not state.takes_media
    reasons = {
        "index": state.index_trouble or state.sync.trouble,
        "privacy": _doubt_about_privacy(state),
        "embedder": None if (model := state.embedder).phase in _FINE else model.reason or model.phase,
        "provider": out and f"{out.substitute} replaces {out.failed}: {out.reason}",
        "reranker": state.reranker and _model_trouble(state.reranker),
        "text model": state.text and _model_trouble(state.text),
        "embedding": state.embedding_trouble,
        "multimodal": _WITHOUT_MEDIA.format(state.choice.rule) if is_without_media else "",
        "watcher": "" if watcher["ok"] else watcher["reason"],
        **({} if state.qmd is None else _qmd_troubles(state.qmd)),
        **state.troubles,
    }
    yield from (Degradation(part, reason) for part, reason in reasons.items() if reason)
    yield from _folder_degradations(state)


def _model_trouble(model: RerankerReply | TextModelReply) -> str | None:
    return None if model["state"] in (*_FINE, ModelPhase.WARMING) else model["reason"] or model["state"]


def _doubt_about_privacy(state: AgentState) -> str:
    hold = state.sync.hold
    # a hold that ends by itself is no trouble, and without a workspace there is a simpler reason
    is_lasting = hold is not None and hold.ends_in is None and state.has_workspace
    return hold.reason if hold is not None and is_lasting else state.sync.notice


def _qmd_troubles(state: QmdState) -> dict[str, str | None]:
    maintenance = state.maintenance
    reason = maintenance.trouble or (state.fallback.reason if state.fallback else "")
    return {
        "qmd": f"{reason}; {maintenance.hint}" if reason and maintenance.hint else reason,
        "qmd vectors": maintenance.vector_trouble,
        "qmd exports": state.export_trouble,
    }


def _folder_degradations(state: AgentState) -> Iterator[Degradation]:
    for root in state.roots:
        if root.state is not RootState.OK:
            yield Degradation(f"root {root.root.path}", root.reason)
    if state.sync.last_scan_at and not state.has_workspace:
        yield Degradation("workspace", f"there is no folder {state.workspace}")
    elif state.leads_elsewhere:
        yield Degradation("workspace", f"{state.workspace}: {ELSEWHERE}")


class DegradationTracker(Struct, eq=False):
    """Records the start time of each degradation, and publishes each start and end.

    `clock` is monotonic, in seconds.
    """

    publish: Publish
    clock: Callable[[], float] = time.monotonic
    _since: dict[tuple[str, str], datetime] = {}
    _no_recovery_before: float = 0.0

    def keep_for(self, agents: Collection[str]) -> None:
        """Keep the degradations of these agents, whose parts are created anew.

        Until the new parts report, a missing degradation is no recovery.
        """
        self._no_recovery_before = self.clock() + NEW_PARTS_SECONDS
        self._since = {key: since for key, since in self._since.items() if key[0] in agents}

    def update(self, agent: str, current: Sequence[Degradation]) -> list[DegradedReply]:
        """Return an agent's degradations with their start times, and publish the changes."""
        # without an await: the polling loop and all status requests call this, and each start and end must be
        # published once
        now = datetime.now(UTC)
        present = {(agent, degradation.part): degradation.reason for degradation in current}
        is_over = self.clock() >= self._no_recovery_before
        for key in [key for key in self._since if is_over and key[0] == agent and key not in present]:
            since = self._since.pop(key)
            self.publish(Event.RECOVERED, {"agent": agent, "part": key[1], "since": since.isoformat()})
        for key, reason in present.items():
            if key not in self._since:
                self._since[key] = now
                self.publish(Event.DEGRADED, {"agent": agent, "part": key[1], "reason": reason})
        return [
            DegradedReply(part=degraded.part, reason=degraded.reason, since=rfc3339(self._since[agent, degraded.part]))
            for degraded in current
        ]


DegradationsOf = Callable[[str], Sequence[Degradation]]
"""Returns an agent's degradations whose reasons lie outside its memory."""


class MemoryStatus(Struct, frozen=True):
    """The memory of one agent. `workers` are the processes of its models.

    `remote` is None if no text leaves the machine.

    `qa` is None if questions and answers are off.
    """

    state: AgentState
    figures: IndexStats
    workers: Mapping[str, WorkerSupervisor[Any]]
    remote: RemoteReply | None
    degraded: list[DegradedReply]
    ledger: LedgerReply
    qa: QaStatsReply | None = None
    conversations: ConversationsReply | None = None

    @property
    def embedded(self) -> int:
        """The number of passages with a vector in the space of the current embedder; 0 without one."""
        # the figures are counted one after another while notes are added and deleted
        return 0 if self.state.identity is None else min(self.figures.embedded, self.figures.stored.passages)

    @property
    def pending_embeddings(self) -> int:
        """The number of passages that will get a vector; 0 while the missing vectors are not wanted."""
        return 0 if self.state.is_embedding_idle else self.figures.lacking

    @property
    def all_skipped(self) -> tuple[SkippedFile, ...]:
        """The documents that are not indexed, or can be found by only some arms, with the reason."""
        return (*self.state.sync.skipped, *self.figures.unseen)


class AgentParts(Struct, frozen=True, kw_only=True):
    """The parts of one agent's memory that status reports on."""

    id: str
    path: WorkspacePath
    settings: MemorySearchSection
    index: WorkspaceIndex
    embedding: Embedding
    reranking: Reranking | None
    text: Writing | None
    qmd: AgentQmd | None
    qa: QaCounter
    turn_taking: TurnTaking | None
    counter: IndexCounter
    """Shared by the agents that share the index."""
    ledger: Ledger
    conversations: ConversationCounter
    memories_trouble: Callable[[], str]
    pending_captures: Callable[[], int]
    team: Callable[[], TeamReply] | None
    """Returns the state of the exchange with the team; None without a team."""
    team_trouble: Callable[[], str]

    @property
    def workers(self) -> dict[str, WorkerSupervisor[Any]]:
        """The processes that run its models, by their purpose."""
        models = {"embedder": self.embedding.local, "reranker": self.reranking, "text model": self.text}
        return {name: model.worker for name, model in models.items() if model is not None and model.worker is not None}

    def state(self, place: PathState) -> AgentState:
        """Return the current states of the parts. `place` is the checked path of the workspace."""
        index, plan, slot = self.index, self.embedding.plan, self.embedding.slot
        vectors, sync = index.builtin.vector_index, index.indexer.state
        return AgentState(
            id=self.id,
            workspace=self.path.configured,
            has_workspace=place.has_folder,
            leads_elsewhere=place.leads_elsewhere,
            settings=self.settings,
            sync=sync,
            index_path=index.database.path,
            index_trouble=index.keeper.trouble,
            vector_engine=vectors.engine if vectors else "resident",
            watcher=_watcher_reply(index.watcher, sync.remote),
            outside=index.outside.latest,
            reading_seconds_left=index.indexer.seconds_left,
            embedding_seconds_left=index.embedding_loop.seconds_left,
            embedding_trouble=index.embedding_loop.trouble,
            is_embedding_idle=index.embedding_loop.is_idle,
            choice=plan.choice,
            takes_media=plan.takes_media,
            embedder=slot.state,
            identity=None if slot.embedder is None else slot.embedder.identity,
            provider_fallback=slot.fallback_in_use,
            reranker=None if self.reranking is None else self.reranking.state(),
            text=None if self.text is None else self.text.state(),
            qmd=None if self.qmd is None else self.qmd.state(),
            troubles={
                "ledger": self.ledger.trouble or "",
                "qa": "; ".join([*self.qa.problems, *(self.turn_taking.sentences if self.turn_taking else [])]),
                "sessions": self.conversations.trouble,
                "memories": self.memories_trouble(),
                "team": self.team_trouble(),
            },
            pending_captures=self.pending_captures(),
            team=None if self.team is None else self.team(),
        )


def _remote_reply(embedding: Embedding, outstanding: OutstandingReply | None) -> RemoteReply | None:
    """Return the provider that text is sent to and today's spending; None if no text leaves the machine."""
    remote = embedding.remote
    if remote is None:
        return None
    return RemoteReply(
        provider=remote.settings.provider,
        model=remote.settings.model_name,
        destination=remote.settings.destination,
        outstanding=outstanding,
        sentToday=remote.spent(),
        tokensPerDay=remote.settings.tokens_per_day,
    )


class StatusBoard:
    """Describes each agent's memory, and tracks the start and end of each degradation.

    `outside` returns an agent's further degradations, outside the parts of its memory.
    """

    def __init__(
        self, *, agents: Sequence[AgentParts], degradations: DegradationTracker, outside: DegradationsOf
    ) -> None:
        self._agents = list(agents)
        self._outside = outside
        self._degradations = degradations
        degradations.keep_for({parts.id for parts in agents})

    async def run(self, poll_seconds: float = POLL_SECONDS) -> None:
        """Poll the degradations, so that event subscribers receive changes without a status request."""
        while True:
            for parts in self._agents:
                self._degradations_of(parts.state(await parts.path.check()))
            await asyncio.sleep(poll_seconds)

    async def describe(self, agents: Sequence[AgentParts]) -> list[MemoryStatus]:
        """Describe the current memories of these agents; each index is counted once."""
        # counted first, since that awaits the stores: the states read afterwards are all of one moment. If the embedder
        # was replaced during the count, the missing vectors are those of the previous embedder until the next call
        figures = {counter: await counter.take() for counter in dict.fromkeys(parts.counter for parts in agents)}
        counted = [await parts.ledger.count(parts.id, str(parts.index.rules.workspace)) for parts in agents]
        qas = [await parts.qa.known() for parts in agents]
        conversations = [await parts.conversations.take() for parts in agents]
        places = await asyncio.gather(*(parts.path.check() for parts in agents))
        described = []
        for parts, place, ledger, qa, sessions in zip(agents, places, counted, qas, conversations, strict=True):
            state, embedding, counts = parts.state(place), parts.embedding, figures[parts.counter]
            remote, degraded = _remote_reply(embedding, counts.outstanding), self._degradations_of(state)
            described.append(MemoryStatus(state, counts, parts.workers, remote, degraded, ledger, qa, sessions))
        return described

    def _degradations_of(self, state: AgentState) -> list[DegradedReply]:
        return self._degradations.update(state.id, [*degradations(state), *self._outside(state.id)])
