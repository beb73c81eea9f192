"""What the parts of an agent's memory say of themselves at one moment; nothing of it is asked of the index."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.memory_search import MemorySearchSection
from memoryd.domain.documents import OutsideCount
from memoryd.domain.embedding import Choice
from memoryd.embed.current import PhaseRecord, ProviderFallback
from memoryd.embed.embedding import Embedding
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.embed.remote.settings import RemoteSettings
from memoryd.files.scanner import RootReport, RootState
from memoryd.index.state import SyncState
from memoryd.index.watcher import FileWatcher
from memoryd.llm.protocol import TextModelState
from memoryd.qmd.sidecar import QmdState
from memoryd.rerank.reranking import RerankerState
from memoryd.search.protocol import Fallback
from memoryd.store.ledger.conversations import HoldingLimits


class WatcherState(Struct, frozen=True):
    """`events` when file events flow, `scan` when only the timer looks, `off` when watching is switched off."""

    mode: Literal["events", "scan", "off"]
    is_ok: bool
    reason: str | None = None


class IndexState(Struct, frozen=True, kw_only=True):
    """One index: how near it is to the disk, and what is wrong with its file, its vectors or its watching."""

    path: Path
    sync: SyncState
    trouble: str | None
    """Why the file cannot be used, or not be written."""
    embedding_trouble: str | None
    is_embedding_idle: bool
    """Whether nobody wants the vectors that are missing."""
    vector_engine: str
    vector_trouble: str | None
    watcher: WatcherState
    outside: OutsideCount
    reading_seconds_left: float | None = None
    embedding_seconds_left: float | None = None

    @property
    def roots(self) -> list[RootReport]:
        """The folders that are looked at, and those that must be there and are not."""
        return [one for one in self.sync.roots if one.state is not RootState.MISSING or not one.root.is_optional]


class RemoteState(Struct, frozen=True):
    """A provider that text is sent to, and how many tokens were today."""

    settings: RemoteSettings
    sent_today: int


class EmbeddingState(Struct, frozen=True, kw_only=True):
    """Who embeds, why, and who stands in; `identity` is None while there is no embedder."""

    choice: Choice
    takes_media: bool
    embedder: PhaseRecord
    identity: EmbedderIdentity | None
    fallback_in_use: ProviderFallback | None

    @property
    def provider(self) -> str:
        """Return who embeds now; `none`: nobody."""
        return "none" if self.identity is None else self.identity.provider

    @property
    def model(self) -> str | None:
        """Return which model embeds now, None without one."""
        return None if self.identity is None else self.identity.model


class LedgerState(Struct, frozen=True):
    """The ledger that an agent has, with others perhaps."""

    path: Path
    trouble: str | None
    limits: HoldingLimits


class AgentState(Struct, frozen=True, kw_only=True):
    """All parts of one agent's memory."""

    id: str
    workspace: Path
    has_workspace: bool
    leads_elsewhere: bool
    """Whether the path leads to another folder than the one that the index is of."""
    settings: MemorySearchSection
    """What the configuration asks for, of which the states say how much is so."""
    index: IndexState
    embedding: EmbeddingState
    reranker: RerankerState | None
    """None: nothing is reranked."""
    text: TextModelState | None = None
    """Who labels memories and writes prose; None: nobody."""
    qmd: QmdState | None
    ledger: LedgerState
    qa_trouble: str = ""
    """What is wrong with the files of questions and answers."""
    conversations_trouble: str = ""
    """Why the index of conversations does not follow them."""
    memories_trouble: str = ""
    """What was not written, or not forgotten, to the end."""
    pending_captures: int = 0
    """Messages that are still to be looked at for memories."""

    @property
    def backend(self) -> Literal["builtin", "qmd"]:
        """Return which engine answers."""
        return "builtin" if self.qmd is None or self.qmd.fallback else "qmd"

    @property
    def max_unused_vectors(self) -> int:
        """Return how many vectors may stay that no passage has."""
        return self.settings.cache.max_entries if self.settings.cache.enabled else 0

    @property
    def fallback(self) -> Fallback | None:
        """Return who is out: qmd before the provider of embeddings, which matters only where qmd does not answer."""
        if self.qmd is not None and self.qmd.fallback is not None:
            return self.qmd.fallback
        out = self.embedding.fallback_in_use
        return None if out is None else Fallback(out.left, out.reason, out.since)


def index_state(index: WorkspaceIndex) -> IndexState:
    """Return the state of an index."""
    held, sync = index.builtin.vector_index, index.indexer.state
    return IndexState(
        path=index.database.path,
        sync=sync,
        trouble=index.keeper.trouble,
        embedding_trouble=index.embedding_loop.trouble,
        is_embedding_idle=index.embedding_loop.is_idle,
        vector_engine=held.engine if held else "resident",
        vector_trouble=index.database.vector_error,
        watcher=_watcher_state(index.watcher, sync.remote),
        outside=index.outside.found,
        reading_seconds_left=index.indexer.seconds_left,
        embedding_seconds_left=index.embedding_loop.seconds_left,
    )


def _watcher_state(watcher: FileWatcher | None, remote: str) -> WatcherState:
    if watcher is None:
        return WatcherState("off", True)
    if watcher.is_ok and remote:
        return WatcherState("scan", True, remote)
    return WatcherState("events" if watcher.is_ok else "scan", watcher.is_ok, watcher.reason)


def embedding_state(embedding: Embedding) -> EmbeddingState:
    """Return the state of an embedder."""
    plan, slot = embedding.plan, embedding.slot
    return EmbeddingState(
        choice=plan.choice,
        takes_media=plan.takes_media,
        embedder=slot.state,
        identity=None if slot.embedder is None else slot.embedder.identity,
        fallback_in_use=slot.fallback_in_use,
    )


def remote_state(embedding: Embedding) -> RemoteState | None:
    """Return the provider that text is sent to and what was spent there today; None if no text leaves the machine."""
    remote = embedding.remote
    return None if remote is None else RemoteState(remote.settings, remote.spent())
