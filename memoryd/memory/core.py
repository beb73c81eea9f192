"""Core memory: explicit edits of the small file that every session sees; `SOUL.md` is shown beside it, never edited."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from memoryd.domain.documents import CORE_FILES, RelativePath
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.text.lines import padded
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.errors import InvalidRequest, MemorydError, TooLarge
from memoryd.memory.journal import Journal, NoteChange

PERSONA: Final = RelativePath("SOUL.md")
_SHA_SIGNS: Final = 8
_AGAIN: Final = "look at it again (memoryctl core show), then repeat the edit"


class CoreNote(Struct, frozen=True):
    """The core file as it stands; without `is_there` there is none yet. `sha256` is that of its bytes, in hex."""

    path: RelativePath
    text: str
    sha256: str
    is_there: bool


class CoreEdit(Struct, frozen=True):
    """An edit: what a text becomes, for whom, and of which text it was thought.

    `expected` is the beginning of the hash, in hex, of the file that was seen; empty: whatever stands there.
    """

    change: Callable[[str], str]
    why: str
    agent: str = ""
    expected: str = ""


class CoreMemory:
    """The core file of one workspace. `max_chars` is how many characters an edit may leave in it."""

    def __init__(self, journal: Journal, max_chars: int) -> None:
        self._journal = journal
        self.max_chars = max_chars

    async def show(self) -> CoreNote:
        """Return the core file: `MEMORY.md`, or `memory.md` where only that is there; raises as `Journal.read`."""
        for path in map(RelativePath, CORE_FILES):
            stored = await self._journal.read(path)
            if stored.text is not None:
                return CoreNote(path, stored.text, stored.sha256.hex(), is_there=True)
        return CoreNote(RelativePath(CORE_FILES[0]), "", "", is_there=False)

    async def persona(self) -> str:
        """Return `SOUL.md`; empty where there is none, or none that may be shown."""
        try:
            return (await self._journal.read(PERSONA, is_shown=True)).text or ""
        except MemorydError:
            return ""

    async def edit(self, edit: CoreEdit) -> NoteChange:
        """Edit the core file; raises InvalidRequest, TooLarge beyond the budget, and what `Journal.change` does."""
        self._journal.check_writable()
        seen = await self.show()
        _check_expected(edit, seen)

        def edited(text: str | None) -> str:
            if edit.expected and (text or "") != seen.text:
                raise InvalidRequest(f"{seen.path} has changed since you saw it", hint=_AGAIN)
            try:
                after = edit.change(text or "")
            except ValueError as exc:
                raise InvalidRequest(f"{seen.path}: {exc}", hint=_AGAIN) from exc
            self._check_budget(seen.path, len(text or ""), len(after))
            _check_front(seen.path, text or "", after)
            return after

        return await self._journal.change(seen.path, edited, by=WrittenBy.CORE, why=edit.why, agent=edit.agent)

    def _check_budget(self, path: RelativePath, before: int, after: int) -> None:
        # what is too large already may become smaller step by step
        if after > self.max_chars and after >= before:
            raise TooLarge(
                f"{path} would have {after:,} characters; memory.core.maxChars is {self.max_chars:,}",
                hint="take something out of it first (memoryctl core replace OLD NEW), or retain it in today's log",
            )


def _check_front(path: RelativePath, before: str, after: str) -> None:
    """Raise InvalidRequest for an edit that makes a front matter, which says how a whole file is to be read."""
    if front_matter_bytes(padded(after)) and not front_matter_bytes(padded(before)):
        raise InvalidRequest(
            f"{path} would begin with a front matter, which it has not", hint=f"write that into {path} yourself"
        )


def _check_expected(edit: CoreEdit, seen: CoreNote) -> None:
    if not edit.expected:
        return
    if len(edit.expected) < _SHA_SIGNS:
        raise InvalidRequest(f"expected: give {_SHA_SIGNS} signs of the hash or more", hint=_AGAIN)
    if not seen.sha256.startswith(edit.expected.lower()):
        raise InvalidRequest(f"{seen.path} has changed since you saw it", hint=_AGAIN)
