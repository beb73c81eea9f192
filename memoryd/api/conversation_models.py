"""What status tells of an agent's conversations."""

from datetime import datetime

from memoryd.agents.status.figures import ConversationFigures
from memoryd.api.embedding_models import OutstandingReply, outstanding_reply
from memoryd.api.index_models import SkippedReply
from memoryd.api.models import Reply


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
