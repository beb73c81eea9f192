"""Retain: a memory becomes a bullet below the Retain heading of today's log, once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.edits import NoPlaceError, RetainedText, retained_in
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import PlacedLine
from memoryd.errors import InvalidRequest
from memoryd.memory.journal import Journal, NoteChange
from memoryd.memory.stated_lines import StatedLines


@dataclass(frozen=True, slots=True)
class Retention:
    """Where the memories stand now, in the order they were given; `added` says of each whether it is new in the log."""

    path: RelativePath
    placed: tuple[PlacedLine, ...]
    added: tuple[bool, ...]
    change: NoteChange


class Retaining:
    """Writes memories into the daily logs of one workspace. `today` is the owner's day; `stated` knows them later."""

    def __init__(self, journal: Journal, today: Callable[[], date], stated: StatedLines | None = None) -> None:
        self._journal = journal
        self._today = today
        self._stated = stated

    async def retain(
        self,
        lines: Sequence[RetainedLine],
        *,
        agent: str = "",
        by: WrittenBy = WrittenBy.RETAIN,
        day: date | None = None,
        run: str = "",
    ) -> Retention:
        """State memories in the log of a day, else today's, all in one write; what it states already is left as it is.

        A day to come is today. Raises what `Journal.change` does, and InvalidRequest where nothing can be added.
        """
        path = RelativePath(f"memory/{min(day or date.max, self._today()):%Y-%m-%d}.md")
        found: list[RetainedText] = []
        edit = partial(_edited, path, lines, found)
        try:
            change = await self._journal.change(path, edit, by=by, why=_why(lines), run=run, agent=agent)
        except NoPlaceError as exc:
            raise InvalidRequest(str(exc), hint="close it, then retain again") from exc
        if self._stated is not None:
            await self._stated.note(one.line.text for one in found[-1].placed)
        return Retention(
            path, found[-1].placed, tuple(one.line.id in found[-1].added for one in found[-1].placed), change
        )


def _edited(
    path: RelativePath, lines: Sequence[RetainedLine], found: list[RetainedText], text: str | None
) -> str | None:
    found.append(retained_in(text or "", path, lines))
    return found[-1].text if found[-1].added else None


def _why(lines: Sequence[RetainedLine]) -> str:
    # no word of the memory: what is forgotten must not be told by its reason
    return "a memory was stated" if len(lines) == 1 else f"{len(lines)} memories were stated"
