"""What capture takes and what comes of it: one message of a session, and the verdict on it."""

from dataclasses import dataclass
from datetime import datetime

from memoryd.domain.memories.capture.capture import CaptureVerdict, ReportedFailure
from memoryd.domain.memories.capture.firewall import USER
from memoryd.memory.retaining import Retention
from memoryd.store.ledger.capture import MessagePlace


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureTask:
    """One message of a session: by whom it was said, what stood before it, and for whom its memories are.

    `event` is a failure that the caller's loop reports; `submit` parts it from a text beside it. `at` is when it
    was said; None is now.
    """

    agent: str
    text: str = ""
    session_key: str = ""
    scope: str = ""
    answer_before: str = ""
    at: datetime | None = None
    channel: str | None = None
    is_direct: bool = True
    role: str = USER
    event: ReportedFailure | None = None
    told_until: int | None = None
    """What `DeliveredSpans.noted` was when it was put in line: what it recalled itself makes it no echo."""
    is_owners: bool = True
    """Whether it came by the owner's own socket: what an agent's socket says pins nothing, and is from the agent."""
    place: MessagePlace | None = None
    """Where its words stand; None: nowhere, so that a kill takes them along."""


@dataclass(frozen=True, slots=True)
class CaptureOutcome:
    """What came of a message; `retention` tells where its memories stand, None where nothing was kept."""

    verdict: CaptureVerdict
    retention: Retention | None = None
