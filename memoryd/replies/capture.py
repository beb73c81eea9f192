"""What is kept of a message, and what is not."""

from typing import TypedDict


class CapturedReply(TypedDict):
    """A memory that the message gives."""

    kind: str
    text: str
    form: str
    pinned: bool
    importance: float


class DroppedReply(TypedDict):
    """What is not kept, and why."""

    text: str
    reason: str
    form: str


class CaptureReply(TypedDict):
    """What is kept of a message, and what is not."""

    dryRun: bool
    gate: str
    decidedBy: str
    kept: list[CapturedReply]
    dropped: list[DroppedReply]
    citations: list[str]
    change: int | None
