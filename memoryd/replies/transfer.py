"""Memories on their way to another workspace."""

from typing import TypedDict


class TransferredMemoryReply(TypedDict):
    """A memory as a file has it; `days` are those on which it was said."""

    id: str
    text: str
    kind: str
    entities: list[str]
    importance: float | None
    confidence: float | None
    pinned: bool
    scope: str | None
    at: str | None
    saidBy: str | None
    tags: list[str]
    supports: list[str]
    contradicts: list[str]
    supersedes: list[str]
    days: list[str]
    sources: list[str]


class ExportReply(TypedDict):
    """Some memories, and what to give as `after` to have those behind them."""

    memories: list[TransferredMemoryReply]
    next: str | None
    total: int


class TakenMemoryReply(TypedDict):
    """What became of a memory: `added`, `known` or `refused`."""

    outcome: str
    id: str
    reason: str


class ImportReply(TypedDict):
    """What became of each memory, in order, and the changes that were made."""

    memories: list[TakenMemoryReply]
    changes: list[int]
