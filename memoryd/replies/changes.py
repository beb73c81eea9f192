"""Replies about what was written: changes and undo, the core file, forgetting, verified citations, and the team."""

from typing import Literal, TypedDict


class ChangedLinesReply(TypedDict):
    """Lines that were put in the place of others."""

    line: int
    """Where, from 1, in the file as it was after the change."""
    removed: list[str]
    """The lines that went."""
    added: list[str]
    """The lines that came."""


class ChangeReply(TypedDict):
    """A change of one file."""

    id: int
    """Its number."""
    at: str
    """When it was made."""
    by: str
    """What made it: `retain`, `core`, `reflect`, `proposal`, `forget`, `entities`, `memories`, `capture`, `tiers`,
    `import` or `undo`."""
    agent: str | None
    """The agent that asked for it; null: the owner, or a schedule."""
    why: str
    """Why, in one sentence."""
    path: str
    """The file; empty: none, but the touches and tiers that the ledger keeps."""
    run: str | None
    """What names all changes of one act; null: it was the only one."""
    state: str
    """`done`, `undone`, or `unknown`: a kill came in between, and the file was edited since."""
    undoes: int | None
    """The change that it took back; null: none."""
    undoable: bool
    """Whether its lines are kept, so that it can be taken back where they still stand."""
    hashBefore: str | None
    """The SHA-256 of the file before; null: there was none, empty: something of it is forgotten."""
    hashAfter: str | None
    """The SHA-256 of the file after; null: there is none, empty: something of it is forgotten."""
    standing: bool | None
    """Whether the file has these bytes now: if not, and no later change is listed, somebody else wrote it; null:
    nobody looked."""
    lines: list[ChangedLinesReply]
    """What differs; empty where it is not kept or not asked for, and of what was forgotten."""


class WrittenSessionReply(TypedDict):
    """A session of questions and answers that was written."""

    session: str
    """What names it: `session:ID`."""
    at: str
    """When something was said in it last."""
    turns: int
    """How many turns it holds."""
    undo: str
    """The command of `memoryctl` that takes it out of everything."""


class ChangesReply(TypedDict):
    """Changes, the newest first."""

    changes: list[ChangeReply]
    """The changes."""
    sessions: list[WrittenSessionReply]
    """With `by=qa` the sessions of questions and answers, else none."""
    trouble: list[str]
    """What should be looked at, one sentence each."""


class UndoneReply(TypedDict):
    """A change that was taken back, or would be."""

    change: ChangeReply
    """The change as it was."""
    undoneBy: int | None
    """The change that took it back; null on a dry run, or where the ledger cannot be used."""


class UndoReply(TypedDict):
    """What was taken back, the newest first."""

    undone: list[UndoneReply]
    """The changes."""
    run: str | None
    """The run of what took several of them back, by which all of them are to be had again; null of one, or on a dry
    run."""
    left: list[str]
    """What of an import stays, as it was edited since: one sentence for each change."""
    dryRun: bool
    """Whether nothing was written."""
    notes: list[str]
    """What a team has of it, and when it is taken back there."""


class CoreReply(TypedDict):
    """The core file as it stands."""

    path: str
    """The file: `MEMORY.md`, or `memory.md` where only that is there."""
    text: str
    """What stands in it; empty where there is no such file yet."""
    sha256: str
    """The hash of its bytes, in hex, which edits take as `expected`; empty where there is no such file yet."""
    chars: int
    """How many characters it has."""
    maxChars: int
    """How many characters an edit may leave in it: `memory.core.maxChars`."""
    soul: str
    """What stands in `SOUL.md`, which is never edited; empty where there is none."""


class CoreEditReply(TypedDict):
    """What came of an edit."""

    path: str
    """The file."""
    sha256: str
    """The hash of its bytes now, in hex."""
    chars: int
    """How many characters it has now."""
    maxChars: int
    """How many it may have."""
    changed: bool
    """Whether anything was written; false: it read so already."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    notes: list[str]
    """What is to be known of it."""


class LinesReplacedReply(TypedDict):
    """What came of lines that were corrected."""

    path: str
    """The note."""
    changed: bool
    """Whether anything was written; false: it read so already."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether it can be found by now."""
    notes: list[str]
    """What is to be known of it."""


class ForgottenMemoryReply(TypedDict):
    """One memory that goes."""

    id: str
    """Its id."""
    content: str | None
    """What it says; null once it is forgotten."""
    scope: str | None
    """Whom it is for, such as `agent:other`; null: every agent on the workspace."""
    citations: list[str]
    """The lines that state it."""


class ForgetReply(TypedDict):
    """What was forgotten, or would be: counts, and what nobody here can reach."""

    forgotten: bool
    """Whether it was; false with `dryRun`, and while anything is `unfinished`."""
    memories: list[ForgottenMemoryReply]
    """The memories that went, or would."""
    lines: list[str]
    """All lines of notes that went, or would, as citations."""
    turns: list[str]
    """Turns of conversations in which the words were, or would be, replaced by `[forgotten]`."""
    files: int
    """Notes that were written."""
    changes: list[int]
    """Changes that `undo` takes back within 24 hours; empty unless `undoable`."""
    purgedChanges: int
    """Earlier changes that told it, and cannot be undone any more; of others only its lines went from the ledger."""
    purgedProposals: int
    """Proposals that went, for their text had it."""
    purgedAnswers: int
    """Answers that were held for a week and went, for their text had it."""
    purgedSteps: int
    """Rows about it that went from the ledger, such as steps of opinions."""
    unfinished: list[str]
    """What could not go yet and why, in sentences; it goes as soon as it can."""
    stays: list[str]
    """What is out of reach, in sentences."""


class ConflictReply(TypedDict):
    """Two versions of a note at once."""

    path: str
    """The copy, or the note between whose lines git left both versions."""
    original: str
    """The note of which it is the copy; of git's marks, the same path."""
    diff: str
    """How the copy differs from the original, as `diff -u` writes it; empty: it cannot be shown, or does not differ."""
    note: str | None
    """What is to be known of it; null: nothing."""


class ConflictsReply(TypedDict):
    """The conflicts in a workspace."""

    conflicts: list[ConflictReply]
    """The first of them, by their paths."""
    total: int
    """How many there are."""


class ConflictSettledReply(TypedDict):
    """What came of settling a conflict."""

    path: str
    """The copy, which is gone, or the note that had git's marks."""
    original: str
    """The note that stays."""
    keep: Literal["original", "copy", "both"]
    """What was kept."""
    changes: list[int]
    """The numbers of the changes."""
    run: str
    """What names them all, by which they can be undone."""
    searchable: bool
    """Whether it is found so by now."""


class VerifyReply(TypedDict):
    """What became of a citation."""

    citation: str
    """What was asked for."""
    state: Literal["verified", "moved", "edited", "gone"]
    """Whether the lines say what they said, stand elsewhere, say something else, or are no more."""
    now: str | None
    """Where the memory stands, or what stands on the lines now, with its mark; null if nothing is known."""
    id: str | None
    """The id of that memory; null if there is none."""
    content: str | None
    """What it says; null if there is none."""
    supersededBy: list[str]
    """Ids of newer versions of the memory."""
    note: str | None
    """What the answer cannot know, in a sentence; null if there is nothing to say."""


class TeamPersonReply(TypedDict):
    """Somebody in the team."""

    name: str
    """What they are called in citations, such as `ana`."""
    files: int
    """How many files of theirs are shown here."""


class TeamPublishedReply(TypedDict):
    """What of one's own the others can have."""

    pending: int
    """How many files wait to be sent."""
    behindSeconds: int
    """How long the oldest of them has waited."""


class TeamReply(TypedDict):
    """A team, as this machine sees it."""

    name: str
    """The name of the team; its memories have the scope `team:<name>`."""
    person: str
    """Who you are in it."""
    remote: str
    """Where its repository lies."""
    people: list[TeamPersonReply]
    """Who is in it, as of the last exchange since the start."""
    published: TeamPublishedReply
    """What of yours the others can have."""
    fetchedAt: str | None
    """When it was last seen what others shared, ISO 8601; null before the first time since the start."""
    pushedAt: str | None
    """When something of yours was last sent, ISO 8601; null before the first time since the start."""
    offline: str | None
    """Why the repository could not be reached, the last time; null if it was."""
    trouble: list[str]
    """What you should look at, in sentences."""


class TeamPromoteReply(TypedDict):
    """A memory that is shared with the team, or would be."""

    id: str
    """Its id in the repository of the team."""
    line: str
    """The line as the team reads it."""
    author: str
    """Whose it is there."""
    readers: list[str]
    """Who is in the team, and so may read it."""
    citation: str
    """The file of the repository, and its line once it is there."""
    promoted: bool
    """Whether it is shared now; false with `dryRun`, unless it was before."""
    changed: bool
    """Whether it was not shared before."""
    sent: bool
    """Whether everything of yours has been sent; else it is sent when the repository can be reached."""
    notes: list[str]
    """What you should know, in sentences."""


class TeamRevokeReply(TypedDict):
    """What was taken back from the team, and what nobody here can reach."""

    revoked: list[str]
    """The lines that are gone, or would be, by file and line of the repository."""
    changed: bool
    """Whether they were taken out; false with `dryRun`."""
    sent: bool
    """Whether that has been sent; else it is sent when the repository can be reached."""
    stays: list[str]
    """What is out of reach, in sentences."""
