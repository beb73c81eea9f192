"""Taking changes back: what they wrote goes, and what they took out comes back, where their lines still stand.

To take a change back is itself a change, which can be taken back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Hunk, MovedOnError
from memoryd.domain.memories.changes.note_text import undone_text
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.errors import InvalidRequest, MemorydError, NotFound
from memoryd.memory.journal import Journal, NoteChange
from memoryd.store.ledger.changes import ChangeFilter, ChangeRow, ChangeState

MOST_OF_A_RUN = 1_000


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was taken back, or would be; `by` is the change that did it, None on a dry run."""

    row: ChangeRow
    by: NoteChange | None


class Undoing:
    """Takes back changes of one workspace."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def undo(self, number: int, *, is_dry_run: bool = False) -> list[Undone]:
        """Take back a change by its number.

        Raises NotFound, InvalidRequest where it cannot be taken back, and what `Journal.change` does.
        """
        if not is_dry_run:
            self._journal.check_writable()
        await self._journal.settle()
        row = await self._journal.changes.one(number)
        if row is None or row.state is ChangeState.INTENDED:
            raise NotFound(f"there is no change {number}", hint="memoryctl changes lists them")
        return await self._undone([row], is_dry_run=is_dry_run)

    async def undo_run(self, run: str, *, is_dry_run: bool = False) -> list[Undone]:
        """Take back all changes of one act, or none if one of them cannot be; raises what `undo` does."""
        if not is_dry_run:
            self._journal.check_writable()
        await self._journal.settle()
        rows = await self._journal.changes.some(ChangeFilter(run=run, limit=MOST_OF_A_RUN)) if run else []
        if not rows:
            raise NotFound(f"there is no run {run!r}", hint="memoryctl changes --json names the run of each change")
        standing = [row for row in rows if row.state is not ChangeState.UNDONE]
        return await self._undone(standing or rows, is_dry_run=is_dry_run)

    async def _undone(self, rows: Sequence[ChangeRow], *, is_dry_run: bool) -> list[Undone]:
        """Take back changes, the newest first."""
        await self._check(rows)
        if is_dry_run:
            return [Undone(row, None) for row in rows]
        done: list[Undone] = []
        run = f"undo-{rows[0].run}" if len(rows) > 1 else ""
        for row in rows:
            try:
                done.append(Undone(row, await self._take_back(row, run)))
            except MemorydError as exc:
                if not done:
                    raise
                made = ", ".join(str(one.row.id) for one in done)
                raise InvalidRequest(f"{exc}; taken back before it: {made}", hint=exc.hint) from exc
        return done

    async def _check(self, rows: Sequence[ChangeRow]) -> None:
        """Raise InvalidRequest unless all can be taken back, one after the other."""
        texts: dict[RelativePath, str] = {}
        for row in rows:
            if row.path not in texts:
                texts[row.path] = (await self._journal.read(row.path)).text or ""
            texts[row.path] = _text_without(row, texts[row.path])

    async def _take_back(self, row: ChangeRow, run: str) -> NoteChange:
        return await self._journal.change(
            row.path,
            partial(_edited, row),
            by=WrittenBy.UNDO,
            why=f"change {row.id} was taken back",
            run=run,
            # a file that the change made goes with its last line
            delete=not row.hash_before,
            undoes=row.id,
        )


def _edited(row: ChangeRow, text: str | None) -> str:
    return _text_without(row, text or "")


def _text_without(row: ChangeRow, text: str) -> str:
    hint = f"look at {row.path}, and edit it yourself"
    try:
        return undone_text(text, row.path, _kept(row))
    except MovedOnError as exc:
        raise InvalidRequest(f"change {row.id} cannot be taken back: {exc}", hint=hint) from exc


def _kept(row: ChangeRow) -> tuple[Hunk, ...]:
    if row.state is ChangeState.UNDONE:
        raise InvalidRequest(f"change {row.id} is taken back already", hint="undo the undo to have it again")
    if row.hunks is None:
        raise InvalidRequest(f"change {row.id} cannot be taken back: its lines are not kept")
    return row.hunks
