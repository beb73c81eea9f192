"""Shapes of the calls on questions and answers."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request, Whole
from memoryd.domain.sessions.sequences import BUDGET
from memoryd.wire import (
    ANSWER_CHARS_MAX,
    POSITION_MAX,
    QUESTION_CHARS_MAX,
    SEQUENCE_MAX,
    SEQUENCE_TOKENS_MAX,
    TOPIC_CHARS_MAX,
    TOPICS_MAX,
)

SessionName = Annotated[str, Field(min_length=1, max_length=512)]
SessionKeyText = Annotated[str, Field(max_length=512)]
AnswerText = Annotated[str, Field(max_length=ANSWER_CHARS_MAX)]


class QaAddRequest(Request):
    """A turn that was said; the session is given by its name, or by its session key."""

    session_id: SessionName | None = None
    """The session, by any name; null: the one of `sessionKey` that goes on, or a new one."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    q: Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS_MAX, pattern=r"\S")]
    """The question, always kept; secrets in it are masked."""
    a: AnswerText | None = None
    """The answer, kept if it is significant; null: there is none."""
    timestamp: Annotated[str, Field(max_length=64)] | None = None
    """When it was said, ISO 8601, in the owner's time zone unless it names one; null: now."""
    significance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """How significant the answer is, 0 to 1; null: by the rules."""
    topic_tags: (
        Annotated[list[Annotated[str, Field(max_length=TOPIC_CHARS_MAX)]], Field(max_length=TOPICS_MAX)] | None
    ) = None
    """What the turn is about, as tags such as `discord_config`; null: by the rules."""
    agent: AgentId = None


class QaAddReply(Reply):
    """Where a turn went; nothing of it is stored where the session is marked "do not remember"."""

    session: str | None
    """The name of the session; null if nothing is known of it."""
    seq: int | None = None
    """The number of the turn in its session, from 1; null if nothing was stored."""
    significance: float | None = None
    """How significant the answer is, 0 to 1; null if nothing was stored."""
    kept: bool = False
    """Whether the answer is kept."""
    remembered: bool = False
    """Whether the turn was stored."""
    topics: list[str]
    """What the turn is about."""
    citation: str | None = None
    """The address of the turn, such as `session:main-20261018#Q17`; null if nothing was stored."""


class QaTurnReply(Reply):
    """A turn."""

    session: str
    """The name of its session."""
    seq: int
    """Its number in the session, from 1."""
    q: str
    """The question."""
    a: str | None
    """The answer; null if it is not kept, or does not fit into the budget."""
    significance: float
    """How significant the answer is, 0 to 1, also if it is not kept."""
    timestamp: datetime
    """When it was said, ISO 8601."""
    topics: list[str]
    """What it is about."""
    citation: str
    """Its address, such as `session:main-20261018#Q17`."""


class QaSessionReply(Reply):
    """A session in a list."""

    session: str
    """Its name."""
    key: str | None
    """The session key that it was opened with; null without one."""
    created: datetime
    """When it began, ISO 8601."""
    last_activity: datetime
    """When something was last said in it, ISO 8601."""
    turns: int
    """How many turns it has."""
    answers: int
    """How many answers are kept."""
    remembered: bool
    """Whether turns are stored; false where it is marked "do not remember"."""


class QaSessionsReply(Reply):
    """Sessions that are not in the archive, the newest first."""

    sessions: list[QaSessionReply]
    """The newest of them, `limit` at most."""
    total: int
    """How many there are."""


class QaSessionTurnsReply(QaSessionReply):
    """Turns of a session, 100 and 400,000 characters at most."""

    matched: int
    """How many turns there are of those that were asked for."""
    sequence: list[QaTurnReply]
    """The first of them, in order."""
    next_seq: int | None
    """The number of the turn that goes on behind these; null if there is none."""


class QaContextRequest(Request):
    """What a sequence of turns is wanted for."""

    message: Annotated[str, Field(max_length=QUESTION_CHARS_MAX)] | None = None
    """What was said now; null: the last turns of the session."""
    session_id: SessionName | None = None
    """The current session by its name; null: the newest one of `sessionKey`."""
    n: Annotated[Whole, Field(ge=1, le=SEQUENCE_MAX)] | None = None
    """How many turns at most; null: `memory.qa.contextTurns`."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    budget: Annotated[Whole, Field(ge=1, le=SEQUENCE_TOKENS_MAX)] = BUDGET
    """How many tokens (estimated) it may cost: answers give way first, then the oldest turns."""
    agent: AgentId = None


class QaContextReply(Reply):
    """The sequence to put before an agent, and why it was chosen."""

    session: str | None
    """The session it was taken from; null if there is none."""
    sequence: list[QaTurnReply]
    """The turns, in order."""
    why: str
    """Why these, in words."""
    took_ms: float
    """How long it took, in milliseconds."""


class QaMarkRequest(Request):
    """Whether the answer of a turn is kept; the turn is given by its address, or by session and number."""

    keep: bool
    """True: keep the answer; false: drop it."""
    citation: Annotated[str, Field(max_length=600)] | None = None
    """The address of the turn, such as `session:main-20261018#Q17`; null: `session` and `seq` name it."""
    session: SessionName | None = None
    """The session of the turn; null: `citation` names it."""
    seq: Annotated[Whole, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of the turn; null: `citation` names it."""
    answer: Annotated[AnswerText, Field(min_length=1)] | None = None
    """The answer to keep; null: the one that there is."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


class QaTopicReply(Reply):
    """A topic."""

    topic: str
    """The tag."""
    turns: int
    """How many turns are about it."""
    citations: list[str]
    """The addresses of the last of them, 20 at most."""


class QaTopicsReply(Reply):
    """What was talked about, in sessions that are not in the archive."""

    topics: list[QaTopicReply]
    """The topics with the most turns, `limit` at most."""
    total: int
    """How many topics there are."""


class QaStatsReply(Reply):
    """How much there is of questions and answers; what is on disk is that of the workspace, with all its agents."""

    sessions: int
    """How many sessions there are that are not in the archive."""
    turns: int
    """How many turns these have."""
    answers: int
    """How many answers are kept of these."""
    ratio: float
    """The share of turns whose answer is kept, 0 to 1, to two digits."""
    archived: int
    """How many sessions the archive has."""
    bytes: int
    """The size of the files but for the archive, in bytes."""
    archive_bytes: int
    """The size of the archive, in bytes."""
    max_bytes: int
    """How large all files together may be: `memory.qa.maxBytes`."""
    full: bool
    """Whether they are larger, so that of what is said the question alone is kept."""
    pruned: int
    """How many answers in the archive gave way to that bound since the start."""
    problems: list[str]
    """Files that are not ours or damaged, and stay as they are, each with the reason."""
