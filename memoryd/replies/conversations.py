"""Replies about conversations: turns, captured messages, questions and answers, sessions and transcripts."""

from typing import Any, Literal, TypedDict

from memoryd.replies.recall import ReceiptReply


class CapturedReply(TypedDict):
    """A memory captured from the message."""

    kind: str
    """Its kind."""
    text: str
    """Its text: a sentence of the message, or one that a text model wrote."""
    form: str
    """The form of sentence that matched."""
    pinned: bool
    """Whether it is pinned, and so part of the core of every session."""
    importance: float
    """The importance, 0 to 1."""
    supersedes: list[str]
    """The first eight characters of the ids of the memories that it replaces."""
    contradicts: list[str]
    """The same for memories that it may contradict, if the target is ambiguous or a person stated them."""
    note: str
    """A remark for a person; may be empty."""


class DroppedReply(TypedDict):
    """A sentence that is not captured."""

    text: str
    """The sentence, or the beginning of the message."""
    reason: str
    """Why not."""
    form: str
    """The form of sentence that matched; empty if none."""


class CaptureReply(TypedDict):
    """What is captured of a message, and what is not."""

    dryRun: bool
    """Whether nothing was written."""
    gate: str
    """The marker that caused the message to be examined; empty: it has none."""
    decidedBy: str
    """`rules`, or the text model that chose."""
    kept: list[CapturedReply]
    """The captured memories, six at most."""
    dropped: list[DroppedReply]
    """Sentences that looked like a memory but are none."""
    citations: list[str]
    """The citations of the memories; empty if nothing was written."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""


class QaAddReply(TypedDict):
    """The result of adding a turn; nothing is stored if the session is marked "do not remember"."""

    session: str | None
    """The name of the session; null if it is unknown."""
    seq: int | None
    """The number of the turn in its session, from 1; null if nothing was stored."""
    significance: float | None
    """How significant the answer is, 0 to 1; null if nothing was stored."""
    kept: bool
    """Whether the answer is stored."""
    remembered: bool
    """Whether the turn was stored."""
    topics: list[str]
    """The topics of the turn."""
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
    """The answer; null if it is not stored, or does not fit into the budget."""
    significance: float
    """How significant the answer is, 0 to 1, even if it is not stored."""
    timestamp: str
    """The time of the turn, ISO 8601."""
    topics: list[str]
    """What it is about."""
    citation: str
    """Its address, such as `session:main-20261018#Q17`."""


class QaSessionReply(TypedDict):
    """A session in a list."""

    session: str
    """Its name."""
    key: str | None
    """The session key with which it was opened; null without one."""
    created: str
    """When it began, ISO 8601."""
    lastActivity: str
    """The time of its last turn, ISO 8601."""
    turns: int
    """How many turns it has."""
    answers: int
    """How many answers are stored."""
    remembered: bool
    """Whether turns are stored; false where it is marked "do not remember"."""


class QaSessionsReply(TypedDict):
    """Sessions outside the archive, the newest first."""

    sessions: list[QaSessionReply]
    """The newest of them, `limit` at most."""
    total: int
    """How many there are."""


class QaSessionTurnsReply(QaSessionReply):
    """Turns of a session, at most 100 turns and 400,000 characters."""

    matched: int
    """How many turns match the request."""
    sequence: list[QaTurnReply]
    """The first of them, in order."""
    nextSeq: int | None
    """The number of the next turn; null if there is none."""


class QaContextReply(TypedDict):
    """A sequence of turns to give to an agent, and why it was chosen."""

    session: str | None
    """The session of the turns; null if there is none."""
    sequence: list[QaTurnReply]
    """The turns, in order."""
    why: str
    """Why these turns were chosen, in words."""
    tookMs: float
    """How long it took, in milliseconds."""


class QaTopicReply(TypedDict):
    """A topic."""

    topic: str
    """The tag."""
    turns: int
    """How many turns are about it."""
    citations: list[str]
    """The addresses of the last of these turns, 20 at most."""


class QaTopicsReply(TypedDict):
    """The topics of sessions outside the archive."""

    topics: list[QaTopicReply]
    """The topics with the most turns, `limit` at most."""
    total: int
    """How many topics there are."""


class QaStatsReply(TypedDict):
    """Statistics of questions and answers; sizes on disk are of the workspace with all its agents."""

    sessions: int
    """How many sessions are outside the archive."""
    turns: int
    """How many turns these sessions have."""
    answers: int
    """How many answers of these turns are stored."""
    ratio: float
    """The share of turns whose answer is stored, 0 to 1, to two digits."""
    archived: int
    """How many sessions are in the archive."""
    bytes: int
    """The size of the files without the archive, in bytes."""
    archiveBytes: int
    """The size of the archive, in bytes."""
    maxBytes: int
    """The maximum size of all files together, in bytes: `memory.qa.maxBytes`."""
    full: bool
    """Whether the files exceed this size, so that only questions are stored."""
    pruned: int
    """How many answers in the archive were deleted because of this limit since the start of the daemon."""
    problems: list[str]
    """Foreign or damaged files, which are left unchanged, each with the reason."""


class SessionStartReply(TypedDict):
    """The start of a session; `context` and `sequence` are empty if there are no earlier turns with this key."""

    bundle: str | dict[str, Any] | None
    """The core file, the persona and pinned memories, as text for a prompt or, by `encode`, an object for a
    request; null if there are none."""
    context: str
    """The turns of `sequence` as a record for a prompt, 1,200 tokens (estimated) at most."""
    sequence: list[QaTurnReply]
    """The last turns of the newest session with this key, in order."""
    syncScheduled: bool
    """Whether a scan of the disk was started in the background."""


class SessionEntryReply(TypedDict):
    """A conversation: a session of questions and answers, or a transcript of another program."""

    id: str
    """Its name in other calls: `session:<id>`, or `sessions/<agent>/<file>`."""
    kind: Literal["qa", "transcript"]
    """`qa`: stored by memoryd in the workspace; `transcript`: a file of another program, which is only read."""
    key: str | None
    """The session key with which it was opened; null if unknown."""
    turns: int | None
    """How many turns there are; null for a transcript."""
    answers: int | None
    """How many turns have a stored answer; null for a transcript."""
    lines: int | None
    """How many lines of a transcript were read; null for a session of turns, or if none was read."""
    bytes: int | None
    """The size of a transcript in bytes; null for a session of turns, or if the file is missing."""
    firstActivity: str | None
    """When it began, ISO 8601; null if unknown."""
    lastActivity: str | None
    """When it was last continued, ISO 8601; null if unknown."""
    archived: bool
    """Whether it was unused for so long that it is in the archive."""
    indexed: bool
    """Whether it can be searched."""
    reason: str | None
    """Why it cannot be searched; null if it can."""
    remembered: bool
    """False if it is marked "do not remember", or was forgotten."""


class SessionsReply(TypedDict):
    """The conversations of an agent, the most recently active first."""

    sessions: list[SessionEntryReply]
    """The first of them."""
    total: int
    """How many there are."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""
    withheldKeys: int
    """How many session keys are marked "do not remember"; they are not stored in plain text."""
    agentsMarks: list[str]
    """When the agent itself marked session keys, the newest first; only for the owner."""


class SessionLineReply(TypedDict):
    """A line of a conversation."""

    line: int
    """Its number in the file of a transcript; in a session, 2n - 1 for the question of turn n and 2n for its answer."""
    text: str
    """The speaker and the text, without secrets."""
    cited: bool
    """Whether the line is part of the citation; false for a neighbouring line."""


class SessionLinesReply(TypedDict):
    """Lines of a conversation; lines without text are left out."""

    id: str
    """The conversation."""
    citation: str
    """The citation of the request, in its canonical form."""
    lines: list[SessionLineReply]
    """The lines, in order."""
    nextLine: int | None
    """The number of the next line; null at the end."""


class SessionSyncReply(TypedDict):
    """The progress of reading conversations."""

    conversations: int
    """How many conversations may be read."""
    indexed: int
    """How many of them can be searched in their present state."""
    complete: bool
    """Whether the awaited state is reached; true if nothing was awaited."""
    reason: str | None
    """Why the state will not be reached; null if it is reached, or work is still going on."""


class SessionForgetReply(TypedDict):
    """What was forgotten, or would be, and what cannot be removed from here."""

    id: str
    """The conversation."""
    kind: Literal["qa", "transcript"]
    """The kind, as in the list of conversations."""
    conversations: list[str]
    """All removed conversations: for a transcript, its copies and the sessions made from its turns."""
    forgotten: bool
    """Whether it is forgotten; false with `dryRun`, and while anything is `unfinished`."""
    files: int
    """Files of memoryd in the workspace that contained it, including copies and unfinished files."""
    turns: int
    """Turns in these conversations."""
    answers: int
    """Stored answers in these conversations."""
    rows: int
    """Parts of it in the index, each with words and vectors."""
    heldAnswers: int
    """Answers on hold in the ledger."""
    exports: int
    """Files that were exported from it for qmd."""
    remarks: list[str]
    """Remarks about removed data, such as that a file was damaged, in sentences."""
    unfinished: list[str]
    """What could not be removed yet and why, in sentences; it is removed as soon as possible, and hidden until then."""
    stays: list[str]
    """What cannot be removed from here, in sentences."""


class SessionRememberReply(TypedDict):
    """The state of a conversation after the call."""

    id: str | None
    """The conversation; null if only a session key without a conversation was named."""
    remembered: bool
    """Whether it is remembered."""
    rows: int
    """Parts of it that were removed from the index."""
    marks: int
    """How many marks of session keys were removed with `agentsMarks`."""


class TurnCommandReply(TypedDict):
    """The result of a command in a message."""

    name: Literal["remember", "recall", "forget", "compact"]
    """Which command it was."""
    text: str
    """The text for the user."""
    memories: list[str]
    """The ids of the memories that it made or found."""


class TurnPartReply(TypedDict):
    """The state of a part of the turn."""

    state: Literal["ok", "off", "failed"]
    """`off`: not requested."""
    reason: str | None
    """The reason of an unusual result; null if there is none."""


class TurnReply(TypedDict):
    """The answer to a turn. If a part fails, only that part is missing, and `health` says so."""

    command: TurnCommandReply | None
    """The result of the command in the message; null: there was none."""
    session: str | None
    """The name of the session that stores the message; null if it is not stored."""
    seq: int | None
    """The number of its turn in the session, from 1; null if it is not stored."""
    remembered: bool
    """Whether the message is stored."""
    bundle: str | dict[str, Any] | None
    """The recalled memories, as text for a prompt, or an object for a request, by `encode`; null if automatic recall
    is off."""
    etag: str | None
    """The hash of the stable block with which the bundle begins; null without a bundle."""
    notModified: bool
    """Whether the stable block is left out because `ifNoneMatch` has its hash."""
    receipt: list[ReceiptReply]
    """The tokens of each part of the bundle, and what was cut."""
    tokens: int
    """The tokens of the bundle with its stable block, estimated."""
    context: str
    """The turns of `sequence` as a record for a prompt, 1,200 tokens (estimated) at most."""
    sequence: list[QaTurnReply]
    """The earlier turns that the message refers to, in order, without the message itself."""
    verdict: Literal["answerable", "weak", "none"] | None
    """The verdict of the best recalled item; null if automatic recall is off."""
    health: dict[str, TurnPartReply]
    """The state of each part: `log`, `context`, `recall`, and `end` if the session ends."""
    capture: Literal["queued", "unsaved", "off", "no"]
    """Whether the message is queued for capture; `unsaved`: in memory only, so that a kill loses it; `no`: it is not a
    message to capture from, or the queue is full."""
    tookMs: float
    """How long it took, in milliseconds."""
