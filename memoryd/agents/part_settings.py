"""From the section `memorySearch` to the settings of each part of an index."""

from dataclasses import replace
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import openclaw_sessions
from memoryd.domain.embedding import Choice
from memoryd.domain.syncplan import Grace
from memoryd.domain.text.entries import ChunkSettings
from memoryd.index.indexer import IndexSettings
from memoryd.index.passages import LaneSettings
from memoryd.search.ranking import SearchSettings
from memoryd.sessions.conversation_index import FeedSettings
from memoryd.sessions.transcripts.folders import TranscriptFolder

BATCH_PASSAGES = 1000
"""Of one job of a provider's batch interface."""


def lane_settings(settings: MemorySearchSection, choice: Choice) -> LaneSettings:
    """Return how vectors are made: with a batch interface, as many at once as its jobs take."""
    usual = LaneSettings(
        max_unused=settings.cache.max_entries if settings.cache.enabled else 0,
        providers=tuple(filter(None, (choice.provider, choice.fallback))),
        is_paused=settings.sync.paused,
    )
    batch = settings.remote.batch
    if not batch.enabled:
        return usual
    passages = BATCH_PASSAGES * batch.concurrency
    return replace(usual, remote_batch=passages, read_ahead=passages, retry=batch.poll_interval_ms / 1000)


def index_settings(settings: MemorySearchSection) -> IndexSettings:
    """Return how notes are cut and when the disk is looked at, in seconds."""
    sync = settings.sync
    return IndexSettings(
        chunks=ChunkSettings(settings.chunking.tokens, settings.chunking.overlap),
        debounce=sync.watch_debounce_ms / 1000,
        settle=sync.settle_ms / 1000,
        grace=Grace(file=sync.delete_grace_ms / 1000, root=sync.root_grace_seconds, settle=sync.settle_ms / 1000),
        reconcile=sync.reconcile_seconds,
    )


def feed_settings(settings: MemorySearchSection) -> FeedSettings:
    """Return when folders of transcripts are looked at, in seconds."""
    sync = settings.sync
    return FeedSettings(debounce=sync.watch_debounce_ms / 1000, hold=5.0, reconcile=sync.reconcile_seconds)


def indexed_folders(agent: Agent) -> list[TranscriptFolder]:
    """Return whose transcripts the index of an agent holds; none unless its owner wants them to be read."""
    return transcript_folders(agent) if agent.reads_transcripts else []


def transcript_folders(agent: Agent) -> list[TranscriptFolder]:
    """Return where the transcripts of an agent lie; each use of them is asked for by a key of its own."""
    own = [
        TranscriptFolder(Path(one.path), one.whose) for one in agent.memory.sessions.folders if one.agent == agent.id
    ]
    usual = openclaw_sessions(agent.id)
    # named twice is read once
    named = {folder.path: folder for folder in [TranscriptFolder(usual, is_optional=True), *own]}
    return list(named.values())


def search_settings(settings: MemorySearchSection, vector_bytes: int) -> SearchSettings:
    """Return how words and vectors are asked and merged; the vectors may take so many bytes of memory."""
    return SearchSettings(hybrid=settings.query.hybrid, vector_bytes=vector_bytes)
