"""Shapes of the calls on what was written into a workspace."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request, Whole
from memoryd.wire import POSITION_MAX


class ChangedLinesReply(Reply):
    """Lines that were put in the place of others."""

    line: int
    """Where, from 1, in the file as it was after the change."""
    removed: list[str]
    """The lines that went."""
    added: list[str]
    """The lines that came."""


class ChangeReply(Reply):
    """A change of one file."""

    id: int
    """Its number."""
    at: datetime
    """When it was made."""
    by: str
    """What made it: `retain`, `core`, `reflect`, `proposal`, `forget`, `entities`, `capture` or `undo`."""
    agent: str | None
    """The agent that asked for it; null: the owner, or a schedule."""
    why: str
    """Why, in one sentence."""
    path: str
    """The file."""
    run: str | None
    """What names all changes of one act; null: it was the only one."""
    state: str
    """`done`, `undone`, or `unknown`: a kill came in between, and the file was edited since."""
    undoes: int | None
    """The change that it took back; null: none."""
    undoable: bool
    """Whether its lines are kept, so that it can be taken back where they still stand."""
    hash_before: str | None
    """The SHA-256 of the file before; null: there was none, empty: something of it is forgotten."""
    hash_after: str | None
    """The SHA-256 of the file after; null: there is none, empty: something of it is forgotten."""
    standing: bool | None
    """Whether the file has these bytes now: if not, and no later change is listed, somebody else wrote it; null:
    nobody looked."""
    lines: list[ChangedLinesReply]
    """What differs; empty where it is not kept or not asked for, and of what was forgotten."""


class WrittenSessionReply(Reply):
    """A session of questions and answers that was written."""

    session: str
    """What names it: `session:ID`."""
    at: datetime
    """When something was said in it last."""
    turns: int
    """How many turns it holds."""
    undo: str
    """The command of `memoryctl` that takes it out of everything."""


class ChangesReply(Reply):
    """Changes, the newest first."""

    changes: list[ChangeReply]
    """The changes."""
    sessions: list[WrittenSessionReply]
    """With `by=qa` the sessions of questions and answers, else none."""
    trouble: list[str]
    """What should be looked at, one sentence each."""


class UndoRequest(Request):
    """What is to be taken back: a change or a run."""

    id: Annotated[Whole, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of a change; null: a run is meant."""
    run: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """What names all changes of one act; null: a change is meant."""
    dry_run: bool = False
    """Whether to say only what would be taken back."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks; null: no session."""
    agent: AgentId = None


class UndoneReply(Reply):
    """A change that was taken back, or would be."""

    change: ChangeReply
    """The change as it was."""
    undone_by: int | None
    """The change that took it back; null on a dry run, or where the ledger cannot be used."""


class UndoReply(Reply):
    """What was taken back, the newest first."""

    undone: list[UndoneReply]
    """The changes."""
    dry_run: bool
    """Whether nothing was written."""
