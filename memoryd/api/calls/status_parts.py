"""Shapes of the status of an agent's parts: its index, its models, and its conversations."""

from datetime import datetime

from memoryd.agents.status.figures import ConversationFigures, UnsentWork
from memoryd.api.models import Reply


class OutstandingReply(Reply):
    """What is still to be sent; `tokens` are estimated, `media` counts the passages that are pictures and sounds."""

    files: int
    """How many files have passages that are to be sent."""
    passages: int
    """How many distinct passages are to be sent, pictures and sounds among them."""
    tokens: int
    """How many tokens they have, estimated."""
    media: int
    """How many of the passages are pictures and sounds."""
    media_bytes: int
    """How many bytes the pictures and sounds have together."""


def outstanding_reply(unsent: UnsentWork) -> OutstandingReply:
    """Encode what is still to be sent."""
    return OutstandingReply(
        files=unsent.files,
        passages=unsent.passages,
        tokens=unsent.tokens,
        media=unsent.media,
        media_bytes=unsent.media_bytes,
    )


class RemoteReply(Reply):
    """A provider that text is sent to. `outstanding` is null while it only stands by."""

    provider: str
    """The provider: `openai`, `gemini`, `voyage`, `mistral` or `ollama`."""
    model: str
    """The model that is asked for."""
    destination: str
    """The host that text is sent to, with the port if it is not the usual one."""
    outstanding: OutstandingReply | None
    """What is still to be sent; null while the provider only stands by."""
    sent_today: int
    """How many tokens were sent there today (UTC), about."""
    tokens_per_day: int | None
    """How many tokens a day may be sent before notes wait; null: no budget."""


class EmbeddingReply(Reply):
    """The chosen provider, why, and who may stand in; `remote` is null if no text leaves the machine."""

    provider: str
    """The provider that was chosen; `none`: words only."""
    rule: str
    """Why it was chosen, in words."""
    fallback: str | None
    """The provider that stands in when it fails; null: nobody."""
    paused: bool
    """Whether notes get vectors only when somebody asks (`sync.paused`)."""
    remote: RemoteReply | None
    """The provider that text is sent to; null if no text leaves the machine."""


class ProgressReply(Reply):
    """How far a download is."""

    done_bytes: int
    """How many bytes of the step are done."""
    total_bytes: int | None
    """How many bytes the step has; null if nobody knows."""
    step: str
    """What is being done: `waiting`, `connecting`, `downloading`, `checking`, `converting` or `ready`."""


class WorkerReply(Reply):
    """The child process that runs a model."""

    phase: str
    """What it is doing: `stopped`, `starting`, `ready` or `waiting` for another try."""
    pid: int | None
    """Its process id; null while it does not run."""
    rss_bytes: int
    """The memory it takes, in bytes; 0 while it does not run."""
    restarts: int
    """How often it was started again since the start of the daemon."""
    last_error: str | None
    """Why it failed last; null if it never did."""


class EmbedderReply(Reply):
    """The embedding model's state."""

    state: str
    """What stands between notes and vectors: `off`, `downloading`, `warming`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    progress: ProgressReply | None
    """How far a download is; null if there is none."""
    worker: WorkerReply | None
    """The child process that computes vectors; null if there is none."""


class TextModelReply(Reply):
    """Who labels memories and writes prose about them."""

    provider: str
    """Who answers: `local` or `openai`."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    state: str
    """Whether it can be asked: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    destination: str | None
    """The host that memory text is sent to, with the port if it is not the usual one; null: none leaves the machine."""
    calls_today: int | None
    """How many questions were sent there today (UTC); null where none leaves the machine."""
    calls_per_day: int | None
    """How many may be sent in a day; null: no bound, or none leaves the machine."""
    worker: WorkerReply | None
    """The child process that runs a local model; null if there is none."""


class RerankerReply(Reply):
    """The model that puts the best candidates in order."""

    state: str
    """What stands between a question and its reranking: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    family: str | None
    """What kind it is: `bge-reranker`, `jina-reranker`, `qwen3-reranker` or `plain`; null before its file was read."""
    worker: WorkerReply | None
    """The child process that reads candidates; null if there is none."""


class WatcherReply(Reply):
    """`events` when file events flow, `scan` when only the timer looks, `off` when watching is switched off."""

    mode: str
    """What tells of changes: `events`, `scan` or `off`."""
    ok: bool
    """Whether it works as configured."""
    reason: str | None
    """Why only the timer looks; null if events flow, or are not wanted."""


class VectorReply(Reply):
    """What answers vector questions."""

    enabled: bool
    """Whether searching by meaning is configured (`query.hybrid.enabled`)."""
    available: bool
    """Whether there is an embedder now."""
    engine: str
    """What compares vectors: `resident` (in memory), `mapped` (in a file) or `sqlite-vec`."""
    dimensions: int | None
    """How many numbers a vector has; null while there is no embedder."""
    reason: str | None
    """Why sqlite-vec is not to be had; null if it is."""


class FtsReply(Reply):
    """Keyword search."""

    available: bool
    """Always true: words need nothing but the index."""


class CacheReply(Reply):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    """How many vectors the index holds, used or not."""
    max_entries: int
    """How many vectors that no passage uses may stay."""


class DatabaseReply(Reply):
    """The index file."""

    path: str
    """Where it lies, absolute."""
    bytes: int
    """How many bytes it has."""


class HistoryReply(Reply):
    """What the ledger keeps of the history of a workspace; beyond a bound the oldest goes, and nothing of the notes."""

    changes: int
    """How many changes of notes it lists."""
    max_changes: int
    """How many it may list."""
    change_bytes: int
    """How many bytes the lines have that undoing these takes."""
    max_change_bytes: int
    """How many these may have; the oldest changes are listed without theirs then, and cannot be undone."""
    proposals: int
    """How many proposals it has, open and decided."""
    max_proposals: int
    """How many it may have; the oldest that were decided go."""
    reflect_runs: int
    """How many runs of reflect it lists."""
    max_reflect_runs: int
    """How many it may list."""


class LedgerReply(Reply):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    """Where it lies, absolute, or will lie: it is made when there is something to hold."""
    bytes: int
    """How many bytes it has; 0 while there is none. Agents whose indexes share a folder share it."""
    held_answers: int
    """How many answers that were not kept with their turns are held for this agent."""
    held_bytes: int
    """How many bytes these have."""
    max_held_answers: int
    """How many may be held for it; the oldest go first."""
    max_held_bytes: int
    """How many bytes these may have."""
    refused_answers: int
    """How many answers, of any agent, were not held since the start of the daemon: too long, or it took none."""
    history: HistoryReply
    """What it keeps of the history of the agent's workspace."""


class MemoryCountsReply(Reply):
    """What the retained lines of a workspace state."""

    memories: int
    """How many memories; what several lines state counts once."""
    lines: int
    """How many retained lines state them."""
    pages: int
    """How many entities have a page of their own below `bank/entities`."""


class RootReply(Reply):
    """A configured place to look."""

    path: str
    """The folder or file, absolute."""
    state: str
    """What the last scan found there: `ok`, `missing`, `unreadable` or `refused`."""
    files: int
    """How many documents the last scan found there."""
    reason: str | None
    """Why it is not `ok`; null if it is."""


class SkippedReply(Reply):
    """A document that is not indexed."""

    path: str
    """The document, relative to the workspace."""
    reason: str
    """Why it is left out, or found by less than it should be."""


class FlaggedReply(Reply):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    """The document, relative to the workspace."""
    flags: str
    """What is odd about it, joined by commas."""


class MassRemovalReply(Reply):
    """More than half of the notes went at once; `left` stayed."""

    at: datetime
    """When it was noticed, ISO 8601."""
    files: int
    """How many notes went."""
    left: int
    """How many notes stayed."""


class OutsideReply(Reply):
    """Markdown files of the workspace where nobody looks; `more`: there are more than were counted."""

    files: int
    """How many were counted, 1000 at most."""
    more: bool
    """Whether there are, or may be, more than were counted."""
    hint: str
    """What to do to have them indexed."""


class TranscriptFolderReply(Reply):
    """A folder of transcripts that is read for the agent."""

    path: str
    """The folder, absolute."""
    files: int
    """How many transcripts it holds."""
    reason: str | None
    """Why it could not be looked at whole; null if it was."""


class TranscriptsReply(Reply):
    """The transcripts that are read for the agent."""

    folders: list[TranscriptFolderReply]
    """The folders that were given to the agent."""
    files: int
    """How many transcripts they hold, without those that are withheld."""
    bytes: int
    """How large these are together."""
    max_bytes: int
    """How large they may be, `memory.sessions.maxBytes`; those that were written longest ago are not indexed."""
    unknown: int
    """How many of them are of a format that nobody knows, so that nothing of them is read."""
    withheld: int
    """How many more are not to be remembered."""


class ConversationsReply(Reply):
    """The index of the agent's conversations."""

    path: str
    """The file of the index, absolute; no other agent has a part in it."""
    bytes: int
    """The size of the file."""
    conversations: int
    """How many conversations it holds."""
    parts: int
    """In how many parts, for a long one is stored in several."""
    chunks: int
    """How many chunks they are cut into."""
    passages: int
    """How many passages these are cut into."""
    pending_embeddings: int
    """How many passages are still to get a vector; 0 while nobody wants them."""
    reading: bool
    """Whether conversations are being read now."""
    last_read_at: datetime | None
    """When one was last read, ISO 8601; null before the first time."""
    unreadable: int
    """How many conversations could not be read at the last try."""
    skipped: list[SkippedReply]
    """Conversations and files that are not indexed, or not as they are now, 50 at most."""
    reason: str | None
    """Why the index does not follow the conversations; null if it does."""
    outstanding: OutstandingReply | None
    """What of it is still to be sent to the provider in `embedding.remote`; null if no text leaves the machine."""
    transcripts: TranscriptsReply | None
    """What is read of transcripts; null unless `experimental.sessionMemory` and `sources` ask for them."""


def conversations_reply(figures: ConversationFigures | None) -> ConversationsReply | None:
    """Encode what was counted."""
    if figures is None:
        return None
    return ConversationsReply(
        path=str(figures.path),
        bytes=figures.stored.bytes,
        conversations=figures.counts.conversations,
        parts=figures.counts.parts,
        chunks=figures.counts.chunks,
        passages=figures.stored.passages,
        pending_embeddings=figures.pending_passages,
        reading=figures.is_reading,
        last_read_at=figures.last_read_at,
        unreadable=figures.unreadable,
        skipped=[SkippedReply(path=one.path, reason=one.reason) for one in figures.skipped],
        reason=figures.reason,
        outstanding=None if figures.unsent is None else outstanding_reply(figures.unsent),
        transcripts=_transcripts(figures),
    )


def _transcripts(figures: ConversationFigures) -> TranscriptsReply | None:
    seen = figures.transcripts
    if seen is None:
        return None
    return TranscriptsReply(
        folders=[
            TranscriptFolderReply(path=str(one.path), files=one.files, reason=one.problem or None)
            for one in seen.folders
        ],
        files=seen.files,
        bytes=seen.bytes,
        max_bytes=seen.max_bytes,
        unknown=figures.counts.unknown,
        withheld=seen.withheld,
    )
