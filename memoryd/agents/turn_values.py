"""What goes into a turn and what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from memoryd.domain.memories.bundle import Bundle
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.sessions.commands import CommandName
from memoryd.domain.sessions.turns import MessageEvent, MessageRole, SessionId, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message of a session, and what is wanted for it; None and empty are as the configuration says.

    `at` is when it was said, ISO 8601. `channel` can make it one of a cron job or the like, and nothing else.
    """

    role: MessageRole
    text: str
    at: str | None = None
    channel: str = ""
    event: MessageEvent | None = None
    k: int | None = None
    budget: int | None = None
    if_none_match: str = ""
    deadline: timedelta | None = None
    is_owners: bool = True
    """Whether it came by the owner's own socket or port, not by that of an agent."""


class PartState(StrEnum):
    """How a part of a turn went."""

    OK = "ok"
    OFF = "off"
    """It was not wanted."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TurnPart:
    """How a part of a turn went, and why if not as wanted."""

    state: PartState = PartState.OFF
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What a command did, in words for the user, with the memories it is about."""

    name: CommandName
    text: str
    memories: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """Where a message went in its session; without `seq` nothing of it was stored. `answer_before` is what the
    assistant said last, as far as it is known; `is_repeated`: it stood there already; `is_late`: it is stored behind
    the reply."""

    session: SessionId | None = None
    seq: int | None = None
    is_withheld: bool = False
    is_repeated: bool = False
    is_late: bool = False
    answer_before: str = ""
    part: TurnPart = field(default=TurnPart())


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The turns to put before the agent: as text for a prompt, and as they are, all of one session."""

    text: str = ""
    session: SessionId | None = None
    turns: Sequence[Turn] = ()
    part: TurnPart = field(default=TurnPart())


CaptureState = Literal["queued", "off", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """What an agent is answered."""

    logged: LoggedMessage = field(default=LoggedMessage())
    context: TurnContext = field(default=TurnContext())
    command: CommandOutcome | None = None
    bundle: Bundle | None = None
    verdict: Literal["answerable", "weak", "none"] | None = None
    capture: CaptureState = "no"
    parts: Mapping[str, TurnPart] = field(default_factory=dict)
    took_ms: float = 0.0
