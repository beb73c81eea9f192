"""The core file of an agent: shown, and edited by its owner."""

from collections.abc import Callable
from dataclasses import dataclass

from memoryd.agents.core_rights import CoreRights
from memoryd.domain.memories.reflect.core import appended, inserted, replaced
from memoryd.domain.redaction import secrets_in
from memoryd.memory.core import CoreEdit, CoreMemory, CoreNote
from memoryd.memory.journal import NoteChange

SECRET_KEPT = "the text holds what looks like a secret, which every session will see"


@dataclass(frozen=True, slots=True)
class ShownCore:
    """The core file, how large it may be, and `SOUL.md`, empty where there is none."""

    core: CoreNote
    max_chars: int
    persona: str


@dataclass(frozen=True, slots=True)
class EditedCore:
    """What came of an edit, and what whoever made it should know."""

    change: NoteChange
    max_chars: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCore:
    """The core file of the workspace of one agent; each edit raises what `CoreMemory.edit` does."""

    memory: CoreMemory
    rights: CoreRights

    async def show(self) -> ShownCore:
        """Return the core file as it stands, and `SOUL.md`."""
        return ShownCore(await self.memory.show(), self.memory.max_chars, await self.memory.persona())

    async def append(self, text: str, *, expected: str = "") -> EditedCore:
        """Add lines at the end."""
        return await self._edited(lambda before: appended(before, text), "lines were added", text, expected)

    async def replace(self, old: str, new: str, *, expected: str = "") -> EditedCore:
        """Put a text in the place of one that stands there once; an empty one takes it out."""
        return await self._edited(lambda before: replaced(before, old, new), "a text was replaced", new, expected)

    async def insert(self, text: str, *, after: str, expected: str = "") -> EditedCore:
        """Add lines below a line that stands there once, such as a heading."""
        why = "lines were inserted"
        return await self._edited(lambda before: inserted(before, text, after=after), why, text, expected)

    async def _edited(self, change: Callable[[str], str], why: str, text: str, expected: str) -> EditedCore:
        made = await self.memory.edit(CoreEdit(change, why, expected=expected))
        secret = [SECRET_KEPT] if secrets_in(text) else []
        return EditedCore(made, self.memory.max_chars, (*secret, *filter(None, [made.note])))
