"""The daemon itself: whether it is ready, who stands in, what is left to do, what happens."""

from typing import TypedDict


class HealthReply(TypedDict):
    """`ready`: the first scan of every workspace is done."""

    ok: bool
    ready: bool


# `from` is a Python keyword, and so cannot stand in a class
FallbackReply = TypedDict("FallbackReply", {"from": str, "reason": str, "since": str})
"""Which engine was left, why and since when."""


class ReindexReply(TypedDict):
    """What is left to do in the background."""

    pendingFiles: int
    pendingEmbeddings: int
    generation: int


class SyncReply(ReindexReply):
    """`complete`: the wanted state was reached in time; `reason`: why it never will be as things are."""

    complete: bool
    reason: str | None


class ReloadReply(TypedDict):
    """What came of a reload; without `reloaded` the configuration of before holds, for these `problems`."""

    reloaded: bool
    changed: list[str]
    needsRestart: list[str]
    problems: list[str]
    notices: list[str]


class ServerEvent(TypedDict):
    """`event` is one of wire.Event, or a later daemon's addition."""

    event: str
    data: dict[str, object]
