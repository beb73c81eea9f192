"""What was written into a workspace."""

from typing import TypedDict


class ChangedLinesReply(TypedDict):
    """Lines that were put in the place of others; `line` from 1, in the file as it was after the change."""

    line: int
    removed: list[str]
    added: list[str]


class ChangeReply(TypedDict):
    """A change of one file; `agent`, `run` and `undoes` are null where there is none, hashes where there is no file.

    A hash is empty where something that the file said is forgotten.
    """

    id: int
    at: str
    by: str
    agent: str | None
    why: str
    path: str
    run: str | None
    state: str
    undoes: int | None
    undoable: bool
    hashBefore: str | None
    hashAfter: str | None
    standing: bool | None
    lines: list[ChangedLinesReply]


class WrittenSessionReply(TypedDict):
    """A session of questions and answers, when it was written last, and the command that takes it out."""

    session: str
    at: str
    turns: int
    undo: str


class ChangesReply(TypedDict):
    """Changes, the newest first, sessions where these were asked for, and what should be looked at."""

    changes: list[ChangeReply]
    sessions: list[WrittenSessionReply]
    trouble: list[str]


class UndoneReply(TypedDict):
    """A change that was taken back, or would be, and the one that did it."""

    change: ChangeReply
    undoneBy: int | None


class UndoReply(TypedDict):
    """What was taken back, or on a dry run would be."""

    undone: list[UndoneReply]
    dryRun: bool
