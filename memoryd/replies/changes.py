"""Replies about changes: undo, the core file, forgetting, conflicts, verified citations, and the team."""

from typing import Literal, TypedDict


class ChangedLinesReply(TypedDict):
    """Lines that replaced other lines."""

    line: int
    """The line number, from 1, in the file after the change."""
    removed: list[str]
    """The removed lines."""
    added: list[str]
    """The added lines."""


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
    """The agent that caused it; null: the owner, or a schedule."""
    why: str
    """Why, in one sentence."""
    path: str
    """The file; empty: the change is in the ledger only (usage and tiers of memories)."""
    run: str | None
    """The id shared by all changes of one action; null: it was the only change."""
    state: str
    """`done`, `undone`, or `unknown`: the process was killed while writing, and the file was edited since."""
    undoes: int | None
    """The change that it undid; null: none."""
    undoable: bool
    """Whether its lines are stored, so that it can be undone while they are still in the file."""
    hashBefore: str | None
    """The SHA-256 of the file before the change; null: it did not exist, empty: some of its text was forgotten."""
    hashAfter: str | None
    """The SHA-256 of the file after the change; null: it does not exist, empty: some of its text was forgotten."""
    standing: bool | None
    """Whether the file still has these bytes; if not, and no later change is listed, another program wrote it. Null:
    not checked."""
    lines: list[ChangedLinesReply]
    """The differing lines; empty if they are not stored, not requested, or forgotten."""


class WrittenSessionReply(TypedDict):
    """A session of questions and answers in the list of changes."""

    session: str
    """Its address: `session:ID`."""
    at: str
    """The time of its last turn."""
    turns: int
    """The number of its turns."""
    undo: str
    """The `memoryctl` command that deletes it completely."""


class ChangesReply(TypedDict):
    """Changes, the newest first."""

    changes: list[ChangeReply]
    """The changes."""
    sessions: list[WrittenSessionReply]
    """With `by=qa` the sessions of questions and answers, else none."""
    trouble: list[str]
    """Problems that need attention, one sentence each."""


class UndoneReply(TypedDict):
    """A change that was undone, or would be."""

    change: ChangeReply
    """The change before the undo, with the lines that the undo takes back."""
    undoneBy: int | None
    """The change that undid it; null on a dry run, or if the ledger cannot be used."""


class UndoReply(TypedDict):
    """The undone changes, the newest first."""

    undone: list[UndoneReply]
    """The changes."""
    run: str | None
    """The run of an undo of several changes, which can itself be undone as a whole; null for one change, or on a dry
    run."""
    left: list[str]
    """Changes of an import that stay because their lines were edited since, one sentence each."""
    dryRun: bool
    """Whether nothing was written."""
    notes: list[str]
    """What a team has of it, and when it is removed there."""


class CoreReply(TypedDict):
    """The core file."""

    path: str
    """The file: `MEMORY.md`, or `memory.md` if only that exists."""
    text: str
    """Its content; empty if the file does not exist."""
    sha256: str
    """The hash of its bytes, in hex, which edits take as `expected`; empty if the file does not exist."""
    chars: int
    """How many characters it has."""
    maxChars: int
    """How many characters an edit may leave in it: `memory.core.maxChars`."""
    soul: str
    """The content of `SOUL.md`, which is never edited; empty if it does not exist."""


class CoreEditReply(TypedDict):
    """The result of an edit."""

    path: str
    """The file."""
    sha256: str
    """The hash of its new bytes, in hex."""
    chars: int
    """Its number of characters after the edit."""
    maxChars: int
    """The maximum number of characters."""
    changed: bool
    """Whether anything was written; false: the text was the same already."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    notes: list[str]
    """Remarks about it, in sentences."""


class LinesReplacedReply(TypedDict):
    """The result of correcting lines of a note."""

    path: str
    """The note."""
    changed: bool
    """Whether anything was written; false: the text was the same already."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether the index contains it already."""
    notes: list[str]
    """Remarks about it, in sentences."""


class ForgottenMemoryReply(TypedDict):
    """A memory that is forgotten."""

    id: str
    """Its id."""
    content: str | None
    """Its text; null after it is forgotten."""
    scope: str | None
    """Its scope, such as `agent:other`; null: every agent on the workspace."""
    citations: list[str]
    """The lines that state it."""


class ForgetReply(TypedDict):
    """What was forgotten, or would be, and what cannot be removed from here."""

    forgotten: bool
    """Whether it is forgotten; false with `dryRun`, and while anything is `unfinished`."""
    memories: list[ForgottenMemoryReply]
    """The memories that were removed, or would be."""
    lines: list[str]
    """All lines of notes that were removed, or would be, as citations."""
    turns: list[str]
    """Turns of conversations in which the words were, or would be, replaced by `[forgotten]`."""
    files: int
    """Notes that were written."""
    changes: list[int]
    """Changes that can be undone within 24 hours; empty unless `undoable`."""
    purgedChanges: int
    """Earlier changes of it that cannot be undone any more; of other changes, only its lines were deleted."""
    purgedProposals: int
    """Proposals that were deleted because they contained the text."""
    purgedAnswers: int
    """Answers on hold for a week that were deleted because they contained the text."""
    purgedSteps: int
    """Rows about it that were deleted from the ledger, such as steps of opinions."""
    unfinished: list[str]
    """What could not be removed yet and why, in sentences; it is removed as soon as possible."""
    stays: list[str]
    """What cannot be removed from here, in sentences."""


class ConflictReply(TypedDict):
    """A note with two versions."""

    path: str
    """The copy, or the note in which git left both versions between its marks."""
    original: str
    """The original of the copy; for a note with git's marks, the same path."""
    diff: str
    """How the copy differs from the original, as `diff -u` writes it; empty: it cannot be shown, or does not differ."""
    note: str | None
    """A remark about it; null: none."""


class ConflictsReply(TypedDict):
    """The conflicts in a workspace."""

    conflicts: list[ConflictReply]
    """The first of them, by their paths."""
    total: int
    """How many there are."""


class ConflictSettledReply(TypedDict):
    """The result of settling a conflict."""

    path: str
    """The copy, which was removed, or the note that had git's marks."""
    original: str
    """The note that stays."""
    keep: Literal["original", "copy", "both"]
    """What was kept."""
    changes: list[int]
    """The numbers of the changes."""
    run: str
    """The id of all these changes, by which they can be undone."""
    searchable: bool
    """Whether the index contains the result already."""


class VerifyReply(TypedDict):
    """The present state of a citation."""

    citation: str
    """The citation of the request."""
    state: Literal["verified", "moved", "edited", "gone"]
    """Whether the lines are unchanged, at another place, changed, or deleted."""
    now: str | None
    """The present citation of the memory, or of the text now on these lines, with its mark; null if unknown."""
    id: str | None
    """The id of that memory; null if there is none."""
    content: str | None
    """Its text; null if there is none."""
    supersededBy: list[str]
    """Ids of newer versions of the memory."""
    note: str | None
    """What cannot be verified, in a sentence; null if nothing."""


class TeamPersonReply(TypedDict):
    """A person of the team."""

    name: str
    """The name in citations, such as `ana`."""
    files: int
    """How many files of this person are shown here."""


class TeamPublishedReply(TypedDict):
    """Own files that are published to the team."""

    pending: int
    """How many files wait to be sent."""
    behindSeconds: int
    """How long the oldest of them has waited."""


class TeamReply(TypedDict):
    """A team, as seen from this machine."""

    name: str
    """The name of the team; its memories have the scope `team:<name>`."""
    person: str
    """Your name in the team."""
    remote: str
    """The address of its repository."""
    people: list[TeamPersonReply]
    """The people of the team, as of the last exchange since the start of the daemon."""
    published: TeamPublishedReply
    """Your files that are published to the team."""
    fetchedAt: str | None
    """When files of others were last fetched, ISO 8601; null if not since the start of the daemon."""
    pushedAt: str | None
    """When your files were last sent, ISO 8601; null if not since the start of the daemon."""
    offline: str | None
    """Why the repository could not be reached at the last exchange; null if it was reached."""
    trouble: list[str]
    """Problems that need your attention, in sentences."""


class TeamPromoteReply(TypedDict):
    """A memory that is shared with the team, or would be."""

    id: str
    """Its id in the repository of the team."""
    line: str
    """The line as the team reads it."""
    author: str
    """Its author in the team."""
    readers: list[str]
    """The people of the team, who may read it."""
    citation: str
    """The file in the repository, with the line after it was written."""
    promoted: bool
    """Whether it is shared now; with `dryRun`, whether it was shared before."""
    changed: bool
    """Whether it was newly shared."""
    sent: bool
    """Whether everything of yours has been sent; else it is sent when the repository can be reached."""
    notes: list[str]
    """Remarks, in sentences."""


class TeamRevokeReply(TypedDict):
    """What was removed from the team's repository, and what cannot be removed from here."""

    revoked: list[str]
    """The lines that were removed, or would be, by file and line of the repository."""
    changed: bool
    """Whether they were removed; false with `dryRun`."""
    sent: bool
    """Whether the removal has been sent; else it is sent when the repository can be reached."""
    stays: list[str]
    """What cannot be removed from here, in sentences."""
