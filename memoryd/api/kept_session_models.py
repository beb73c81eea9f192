"""Shapes of the calls on conversations as a whole: listing, reading, forgetting, and not remembering them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request, Whole

Named = Annotated[str, Field(min_length=1, max_length=1024)]


class SessionEntryReply(Reply):
    """A conversation: a session of questions and answers, or a transcript of another program."""

    id: str
    """What other calls name it by: `session:<id>`, or `sessions/<agent>/<file>`."""
    kind: Literal["qa", "transcript"]
    """`qa`: kept by memoryd in the workspace; `transcript`: a file of another program, which is only read."""
    key: str | None
    """The session key that it was opened with; null if nobody knows."""
    turns: int | None
    """How many turns there are; null for a transcript."""
    answers: int | None
    """How many of them have their answer kept; null for a transcript."""
    lines: int | None
    """How many lines of a transcript were read; null for what has turns, or if none was read."""
    bytes: int | None
    """The size of a transcript; null for what has turns, or if its file is gone."""
    first_activity: datetime | None
    """When it began, ISO 8601; null if nobody knows."""
    last_activity: datetime | None
    """When something was said last, ISO 8601; null if nobody knows."""
    archived: bool
    """Whether nobody has said anything for so long that it lies in the archive."""
    indexed: bool
    """Whether it can be searched."""
    reason: str | None
    """Why it cannot; null if it can."""
    remembered: bool
    """False: it is marked "do not remember", or was forgotten."""


class SessionsReply(Reply):
    """The conversations of an agent, that in which something was said last first."""

    sessions: list[SessionEntryReply]
    """The first of them."""
    total: int
    """How many there are."""
    withheld_keys: int
    """How many session keys are marked "do not remember"; they stand nowhere in plain text."""
    agents_marks: list[datetime]
    """When the agent itself, and not its owner, marked session keys, the newest first; told to the owner alone."""


class SessionLineReply(Reply):
    """A line of a conversation."""

    line: int
    """Its number: in the file of a transcript; of a session 2n - 1 for the question of turn n, 2n for its answer."""
    text: str
    """What was said, by whom, without secrets."""
    cited: bool
    """Whether the citation means it; false for a neighbour."""


class SessionLinesReply(Reply):
    """Lines of a conversation; those that say nothing are left out."""

    id: str
    """The conversation."""
    citation: str
    """What was asked for, as it is cited."""
    lines: list[SessionLineReply]
    """The lines, in order."""
    next_line: int | None
    """Where to go on if there was no room for all; null if there was."""


class SessionSyncRequest(Request):
    """Read transcripts, and sessions that others wrote, now."""

    agent: AgentId = None
    wait: bool = True
    """Whether to answer when all that was there before the call was read."""
    timeout_ms: Annotated[Whole, Field(ge=1, le=3_600_000)] | None = None
    """How long to wait at most, in milliseconds; null: 30 seconds."""


class SessionSyncReply(Reply):
    """How far the conversations are read."""

    conversations: int
    """How many there are that may be read."""
    indexed: int
    """How many of them can be searched, as they are now."""
    complete: bool
    """Whether what was waited for is so; true if nothing was."""
    reason: str | None
    """Why it will not be as things are; null if it is, or is merely not done yet."""


class SessionForgetRequest(Request):
    """A conversation to be taken out of everything."""

    session: Named
    """The conversation, as the list names it, or the bare name of its session or file."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None
    dry_run: bool = False
    """Say only what would go."""


class SessionForgetReply(Reply):
    """What was forgotten, or would be: counts, and what nobody here can reach."""

    id: str
    """The conversation."""
    kind: Literal["qa", "transcript"]
    """As in the list."""
    conversations: list[str]
    """All that went or would: of a transcript its copies, and the sessions that turns were taken into."""
    forgotten: bool
    """Whether it was; false with `dryRun`, and while anything is `unfinished`."""
    files: int
    """Files of ours in the workspace that held it, copies and remains of writing among them."""
    turns: int
    """Turns in them."""
    answers: int
    """Kept answers in them."""
    rows: int
    """Parts of it in the index, each with its words and vectors."""
    held_answers: int
    """Answers that were held for a while in the ledger."""
    exports: int
    """Files that were made of it for qmd."""
    remarks: list[str]
    """What is to be said of what went, such as that a file was damaged, in sentences."""
    unfinished: list[str]
    """What could not go yet and why, in sentences; it goes as soon as it can, and nobody is told it until then."""
    stays: list[str]
    """What is out of reach, in sentences."""


class SessionRememberRequest(Request):
    """A conversation, or a session key whose conversations are to come."""

    session: Named | None = None
    """The conversation, as the list names it; null: turns given under `sessionKey`, now and later."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, and that is meant if `session` names none."""
    agents_marks: bool = False
    """True: all session keys that the agent itself marked are meant; only the owner takes them back."""
    remember: bool
    """False: nothing of it is stored, indexed, exported or logged from now on; true takes that back."""
    agent: AgentId = None


class SessionRememberReply(Reply):
    """What holds from now on."""

    id: str | None
    """The conversation; null if only a session key was named, and has none."""
    remembered: bool
    """Whether it is remembered."""
    rows: int
    """Parts of it that left the index."""
    marks: int = 0
    """How many marks of session keys were taken back with `agentsMarks`."""
