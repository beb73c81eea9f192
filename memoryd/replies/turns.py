"""A message of a conversation: what an agent is answered."""

from typing import Any, Literal, TypedDict

from memoryd.replies.qa import QaTurnReply
from memoryd.replies.recall import ReceiptReply


class TurnCommandReply(TypedDict):
    """What a command did, in words for the user, and the ids of its memories."""

    name: Literal["remember", "recall", "compact"]
    text: str
    memories: list[str]


class TurnPartReply(TypedDict):
    """How a part of the turn went, and why if not as usual."""

    state: Literal["ok", "off", "failed"]
    reason: str | None


class TurnReply(TypedDict):
    """What an agent is answered; `bundle` is null where nothing is recalled by itself."""

    command: TurnCommandReply | None
    session: str | None
    seq: int | None
    remembered: bool
    bundle: str | dict[str, Any] | None
    etag: str | None
    notModified: bool
    receipt: list[ReceiptReply]
    tokens: int
    context: str
    sequence: list[QaTurnReply]
    verdict: Literal["answerable", "weak", "none"] | None
    health: dict[str, TurnPartReply]
    capture: Literal["queued", "off", "no"]
    tookMs: float
