"""The index of an agent's conversations."""

from typing import TypedDict

from memoryd.replies.embedding import OutstandingReply
from memoryd.replies.index import SkippedReply


class TranscriptFolderReply(TypedDict):
    """A folder of transcripts that is read for the agent."""

    path: str
    files: int
    reason: str | None


class TranscriptsReply(TypedDict):
    """The transcripts that are read for the agent."""

    folders: list[TranscriptFolderReply]
    files: int
    bytes: int
    maxBytes: int
    unknown: int
    withheld: int


class ConversationsReply(TypedDict):
    """The index of the agent's conversations."""

    path: str
    bytes: int
    conversations: int
    parts: int
    chunks: int
    passages: int
    pendingEmbeddings: int
    reading: bool
    lastReadAt: str | None
    unreadable: int
    skipped: list[SkippedReply]
    reason: str | None
    outstanding: OutstandingReply | None
    transcripts: TranscriptsReply | None
