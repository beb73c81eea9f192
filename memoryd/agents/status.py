"""What there is to tell of an agent's memory: the states of its parts, what its index holds, what is degraded."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.agents.conversation_figures import ConversationCensus, ConversationFigures
from memoryd.agents.degraded import Degradation, Degradations, Shortfall, shortfalls
from memoryd.agents.figures import Census, Figures
from memoryd.agents.qa_figures import QaCensus, QaFigures
from memoryd.agents.states import (
    AgentState,
    RemoteState,
    WantedParts,
    embedding_state,
    index_state,
    ledger_state,
    remote_state,
    worker_state,
)
from memoryd.agents.text_models import Writing
from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.agents.workspace_path import WorkspacePath
from memoryd.domain.documents import SkippedFile
from memoryd.embed.embedding import Embedding
from memoryd.embed.local.worker_process import WorkerState
from memoryd.qmd.agent import AgentQmd
from memoryd.rerank.reranking import Reranking
from memoryd.sessions.turn_taking import TurnTaking
from memoryd.store.ledger.ledger import Ledger, LedgerCount

LOOK_SECONDS: Final = 1.0
SKIPPED_SHOWN: Final = 50

ShortfallsOf = Callable[[str], Sequence[Shortfall]]
"""What an agent's memory falls short of for reasons that lie outside of it."""


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """The memory of one agent; `worker` is None without a process of ours, `remote` if no text leaves the machine.

    `qa` is None where questions and answers are off.
    """

    state: AgentState
    figures: Figures
    worker: WorkerState | None
    remote: RemoteState | None
    degraded: tuple[Degradation, ...]
    ledger: LedgerCount
    qa: QaFigures | None = None
    conversations: ConversationFigures | None = None

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
        return 0 if self.state.index.is_lane_idle else self.figures.lacking

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """Return the first documents that are not indexed, or found by less than all of them, and why."""
        return self._all_skipped[:SKIPPED_SHOWN]

    @property
    def skipped_count(self) -> int:
        """Return how many documents are skipped, those that are not shown among them."""
        return len(self._all_skipped)

    @property
    def _all_skipped(self) -> tuple[SkippedFile, ...]:
        return (*self.state.index.sync.skipped, *self.figures.unseen)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """The parts of one agent's memory, of which status tells."""

    id: str
    path: WorkspacePath
    wanted: WantedParts
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
            wanted=self.wanted,
            index=index_state(self.index),
            embedding=embedding_state(self.embedding),
            reranker=None if self.reranking is None else self.reranking.state(),
            text=None if self.text is None else self.text.state(),
            qmd=None if self.qmd is None else self.qmd.state(),
            ledger=ledger_state(self.ledger),
            qa_trouble="; ".join([*self.qa.problems.sentences, *(self.taking.sentences if self.taking else [])]),
            conversations_trouble=self.conversations.trouble,
            memories_trouble=self.memories_trouble(),
            pending_captures=self.pending_captures(),
        )


class StatusBoard:
    """Tells of each agent's memory, and of each degradation as it begins and ends.

    `outside` says what else falls short for an agent, beyond the parts of its memory.
    """

    def __init__(self, *, agents: Sequence[AgentParts], degradations: Degradations, outside: ShortfallsOf) -> None:
        self._agents = list(agents)
        self._outside = outside
        self._degradations = degradations
        degradations.go_on({parts.id for parts in agents})

    async def run(self, look_seconds: float = LOOK_SECONDS) -> None:
        """Look again and again what is degraded, so that whoever listens hears of it without asking."""
        while True:
            for parts in self._agents:
                self._degraded(parts.state())
            await asyncio.sleep(look_seconds)

    async def describe(self, agents: Sequence[AgentParts]) -> list[MemoryStatus]:
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
            worker, remote, degraded = worker_state(embedding), remote_state(embedding), self._degraded(state)
            described.append(MemoryStatus(state, figures[parts.census], worker, remote, degraded, ledger, qa, talk))
        return described

    def _degraded(self, state: AgentState) -> tuple[Degradation, ...]:
        return tuple(self._degradations.of(state.id, [*shortfalls(state), *self._outside(state.id)]))
