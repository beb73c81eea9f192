"""Replies about conversations: a message answered, questions and answers, sessions and transcripts."""

from typing import Any, Literal, TypedDict

from memoryd.replies.recall import ReceiptReply


class CapturedReply(TypedDict):
    """A memory that the message gives."""

    kind: str
    """Its kind."""
    text: str
    """What it says: a sentence of the message, or what a text model made of it."""
    form: str
    """The form that the sentence has."""
    pinned: bool
    """Whether it stands in the core of every session."""
    importance: float
    """0 to 1."""
    supersedes: list[str]
    """The first eight signs of the ids of the memories that it takes the place of."""
    contradicts: list[str]
    """Those of memories that it may speak against, where nobody knows which one is meant, or a person stated them."""
    note: str
    """What is to be known of it, for a person; empty: nothing."""


class DroppedReply(TypedDict):
    """What is not kept."""

    text: str
    """The sentence, or the beginning of the message."""
    reason: str
    """Why not."""
    form: str
    """The form that it has; empty if none."""


class CaptureReply(TypedDict):
    """What is kept of a message, and what is not."""

    dryRun: bool
    """Whether nothing was written."""
    gate: str
    """The marker for which the message was looked at; empty: it has none."""
    decidedBy: str
    """`rules`, or the text model that chose."""
    kept: list[CapturedReply]
    """What is kept, six at most."""
    dropped: list[DroppedReply]
    """What looked like a memory and is none."""
    citations: list[str]
    """Where the memories stand; empty if nothing was written."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""


class QaAddReply(TypedDict):
    """Where a turn went; nothing of it is stored where the session is marked "do not remember"."""

    session: str | None
    """The name of the session; null if nothing is known of it."""
    seq: int | None
    """The number of the turn in its session, from 1; null if nothing was stored."""
    significance: float | None
    """How significant the answer is, 0 to 1; null if nothing was stored."""
    kept: bool
    """Whether the answer is kept."""
    remembered: bool
    """Whether the turn was stored."""
    topics: list[str]
    """What the turn is about."""
    citation: str | None
    """The address of the turn, such as `session:main-20261018#Q17`; null if nothing was stored."""


class QaTurnReply(TypedDict):
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
    timestamp: str
    """When it was said, ISO 8601."""
    topics: list[str]
    """What it is about."""
    citation: str
    """Its address, such as `session:main-20261018#Q17`."""


class QaSessionReply(TypedDict):
    """A session in a list."""

    session: str
    """Its name."""
    key: str | None
    """The session key that it was opened with; null without one."""
    created: str
    """When it began, ISO 8601."""
    lastActivity: str
    """When something was last said in it, ISO 8601."""
    turns: int
    """How many turns it has."""
    answers: int
    """How many answers are kept."""
    remembered: bool
    """Whether turns are stored; false where it is marked "do not remember"."""


class QaSessionsReply(TypedDict):
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
    nextSeq: int | None
    """The number of the turn that goes on behind these; null if there is none."""


class QaContextReply(TypedDict):
    """The sequence to put before an agent, and why it was chosen."""

    session: str | None
    """The session it was taken from; null if there is none."""
    sequence: list[QaTurnReply]
    """The turns, in order."""
    why: str
    """Why these, in words."""
    tookMs: float
    """How long it took, in milliseconds."""


class QaTopicReply(TypedDict):
    """A topic."""

    topic: str
    """The tag."""
    turns: int
    """How many turns are about it."""
    citations: list[str]
    """The addresses of the last of them, 20 at most."""


class QaTopicsReply(TypedDict):
    """What was talked about, in sessions that are not in the archive."""

    topics: list[QaTopicReply]
    """The topics with the most turns, `limit` at most."""
    total: int
    """How many topics there are."""


class QaStatsReply(TypedDict):
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
    archiveBytes: int
    """The size of the archive, in bytes."""
    maxBytes: int
    """How large all files together may be: `memory.qa.maxBytes`."""
    full: bool
    """Whether they are larger, so that of what is said the question alone is kept."""
    pruned: int
    """How many answers in the archive gave way to that bound since the start."""
    problems: list[str]
    """Files that are not ours or damaged, and stay as they are, each with the reason."""


class SessionStartReply(TypedDict):
    """What is known at the beginning; `context` and `sequence` are empty where nothing was said with this key."""

    bundle: str | dict[str, Any] | None
    """The core file, the persona and what is pinned, as text for a prompt or, by `encode`, an object for a
    request; null where there is none of it."""
    context: str
    """The turns of `sequence` as text for a prompt, told as a record and 1,200 tokens (estimated) at most."""
    sequence: list[QaTurnReply]
    """The last turns of the newest session with this key, in order."""
    syncScheduled: bool
    """Whether the index looks at the disk now, in the background."""


class SessionEntryReply(TypedDict):
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
    firstActivity: str | None
    """When it began, ISO 8601; null if nobody knows."""
    lastActivity: str | None
    """When something was said last, ISO 8601; null if nobody knows."""
    archived: bool
    """Whether nobody has said anything for so long that it lies in the archive."""
    indexed: bool
    """Whether it can be searched."""
    reason: str | None
    """Why it cannot; null if it can."""
    remembered: bool
    """False: it is marked "do not remember", or was forgotten."""


class SessionsReply(TypedDict):
    """The conversations of an agent, that in which something was said last first."""

    sessions: list[SessionEntryReply]
    """The first of them."""
    total: int
    """How many there are."""
    next: str | None
    """The place in the list to ask behind for more; null: these are the last."""
    withheldKeys: int
    """How many session keys are marked "do not remember"; they stand nowhere in plain text."""
    agentsMarks: list[str]
    """When the agent itself, and not its owner, marked session keys, the newest first; told to the owner alone."""


class SessionLineReply(TypedDict):
    """A line of a conversation."""

    line: int
    """Its number: in the file of a transcript; of a session 2n - 1 for the question of turn n, 2n for its answer."""
    text: str
    """What was said, by whom, without secrets."""
    cited: bool
    """Whether the citation means it; false for a neighbour."""


class SessionLinesReply(TypedDict):
    """Lines of a conversation; those that say nothing are left out."""

    id: str
    """The conversation."""
    citation: str
    """What was asked for, as it is cited."""
    lines: list[SessionLineReply]
    """The lines, in order."""
    nextLine: int | None
    """Where the conversation goes on behind them; null at its end."""


class SessionSyncReply(TypedDict):
    """How far the conversations are read."""

    conversations: int
    """How many there are that may be read."""
    indexed: int
    """How many of them can be searched, as they are now."""
    complete: bool
    """Whether what was waited for is so; true if nothing was."""
    reason: str | None
    """Why it will not be as things are; null if it is, or is merely not done yet."""


class SessionForgetReply(TypedDict):
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
    heldAnswers: int
    """Answers that were held for a while in the ledger."""
    exports: int
    """Files that were made of it for qmd."""
    remarks: list[str]
    """What is to be said of what went, such as that a file was damaged, in sentences."""
    unfinished: list[str]
    """What could not go yet and why, in sentences; it goes as soon as it can, and nobody is told it until then."""
    stays: list[str]
    """What is out of reach, in sentences."""


class SessionRememberReply(TypedDict):
    """What holds from now on."""

    id: str | None
    """The conversation; null if only a session key was named, and has none."""
    remembered: bool
    """Whether it is remembered."""
    rows: int
    """Parts of it that left the index."""
    marks: int
    """How many marks of session keys were taken back with `agentsMarks`."""


class TurnCommandReply(TypedDict):
    """What a command did."""

    name: Literal["remember", "recall", "compact"]
    """Which command it was."""
    text: str
    """What is to be told to the user."""
    memories: list[str]
    """The ids of the memories that it made or found."""


class TurnPartReply(TypedDict):
    """How a part of the turn went."""

    state: Literal["ok", "off", "failed"]
    """`off`: it was not wanted."""
    reason: str | None
    """Why, where it did not go as it does usually; null if it did."""


class TurnReply(TypedDict):
    """What an agent is answered; what fails of it costs its part, and `health` says so."""

    command: TurnCommandReply | None
    """What the command in the message did; null: it was none."""
    session: str | None
    """The name of the session in which the message is kept; null if it is not."""
    seq: int | None
    """The number of its turn in the session, from 1; null if it is not kept."""
    remembered: bool
    """Whether the message is kept."""
    bundle: str | dict[str, Any] | None
    """What is recalled for it, as text for a prompt, or an object for a request, by `encode`; null where nothing is
    recalled by itself."""
    etag: str | None
    """The name of the bytes of its stable block, with which the bundle begins; null likewise."""
    notModified: bool
    """Whether the stable block is left out, since `ifNoneMatch` names it."""
    receipt: list[ReceiptReply]
    """What each part of the bundle costs, and what was cut."""
    tokens: int
    """What the bundle and its stable block cost, estimated."""
    context: str
    """The turns of `sequence` as text for a prompt, told as a record and 1,200 tokens (estimated) at most."""
    sequence: list[QaTurnReply]
    """The turns that the message takes up again, in order, the message itself not among them."""
    verdict: Literal["answerable", "weak", "none"] | None
    """What the best of what is recalled is worth; null where nothing is recalled by itself."""
    health: dict[str, TurnPartReply]
    """How each part went: `log`, `context`, `recall`, and `end` where the session ends."""
    capture: Literal["queued", "off", "no"]
    """Whether what the message says may become a memory; `no`: it does not count for that, or nobody has the time."""
    tookMs: float
    """How long it took, in milliseconds."""
