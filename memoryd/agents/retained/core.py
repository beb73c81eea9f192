"""The core file of an agent, shown and edited by its owner, and the rule of who decides what is core.

What a session or a model says may come from a note that it read, and what is pinned is shown to every later session.
So the owner alone pins, unpins and edits the core file, and what others state is never important enough to be core from
the first.
"""

import math
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import CORE_FILES, PERSONA, RelativePath
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.reflect.core import appended, inserted, replaced
from memoryd.domain.redaction import secrets_in
from memoryd.domain.text.lines import padded
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.errors import Denied, InvalidRequest, MemorydError, TooLarge
from memoryd.memory.journal import Journal
from memoryd.replies.changes import CoreEditReply, CoreReply

LESS_IMPORTANT = "what is core from the first is its owner's to say: its importance was set to {:g}"
_OWNERS = "what is pinned stands in the core of every session, which is its owner's"
_PIN_HINT = "state it without `pin`; the owner may pin it, by `memoryctl memories pin`"
_UNPIN_HINT = "the owner may, by `memoryctl memories unpin` or `delete`"
_WEIGH_HINT = "give {:g} at most; the owner may give more, by `memoryctl memories importance`"
_FILE = "the core file stands in every session, and is its owner's"
_FILE_HINT = "state a memory instead; the owner edits the file, by `memoryctl core`"


class CoreRights(Struct, frozen=True):
    """The rule for one agent. `core_importance`, 0 to 1: so important, a memory is core without ever being used."""

    core_importance: float

    @property
    def most_importance(self) -> float:
        """The most that who is not the owner may give: in hundredths, less than makes a memory core."""
        return max(0, math.ceil(self.core_importance * 100 - 1e-9) - 1) / 100

    def check_pin(self, *, is_owner: bool) -> None:
        """Raise Denied for who may pin nothing."""
        if not is_owner:
            raise Denied(_OWNERS, hint=_PIN_HINT)

    def check_unpin(self, line: RetainedLine, *, is_owner: bool) -> None:
        """Raise Denied for who may not take out of the core what is pinned."""
        if line.attributes.is_pinned and not is_owner:
            raise Denied(_OWNERS, hint=_UNPIN_HINT)

    def check_importance(self, value: float, *, is_owner: bool) -> None:
        """Raise Denied for who would make a memory core by its importance."""
        if value > self.most_importance and not is_owner:
            raise Denied("what is core is its owner's to say", hint=_WEIGH_HINT.format(self.most_importance))

    def check_file(self, *, is_owner: bool) -> None:
        """Raise Denied for who may not edit the core file."""
        if not is_owner:
            raise Denied(_FILE, hint=_FILE_HINT)

    def stated(self, line: RetainedLine, *, is_owner: bool) -> RetainedLine:
        """Return a line as it may be stated, less important where it would be core; raises Denied for a pin."""
        if line.attributes.is_pinned:
            self.check_pin(is_owner=is_owner)
        if is_owner or line.importance <= self.most_importance:
            return line
        return replace(line, attributes=replace(line.attributes, importance=self.most_importance))


_SHA_CHARS = 8
_AGAIN = "look at it again (memoryctl core show), then repeat the edit"
HOLDS_SECRET = "the text holds what looks like a secret, which every session will see"


class AgentCore(Struct, frozen=True, kw_only=True):
    """The core file of the workspace of one agent. `max_chars` is how many characters an edit may leave in it.

    `expected` of an edit is the beginning of the hash, in hex, of the file that was seen; empty: whatever stands there.
    Each raises InvalidRequest, TooLarge beyond the budget, and what `Journal.change` does.
    """

    journal: Journal
    max_chars: int
    rights: CoreRights

    async def show(self) -> CoreReply:
        """Return the core file, and `SOUL.md` beside it; raises as `Journal.read`."""
        path, text, sha256 = await self._read()
        try:
            soul = (await self.journal.read(PERSONA, is_shown=True)).text or ""
        except MemorydError:
            # there is none that may be shown
            soul = ""
        return CoreReply(path=path, text=text, sha256=sha256, chars=len(text), maxChars=self.max_chars, soul=soul)

    async def _read(self) -> tuple[RelativePath, str, str]:
        """Return path, text and hash of `MEMORY.md`, or of `memory.md` where only that is there; empty without both."""
        for path in map(RelativePath, CORE_FILES):
            stored = await self.journal.read(path)
            if stored.text is not None:
                return path, stored.text, stored.sha256.hex()
        return RelativePath(CORE_FILES[0]), "", ""

    async def append(self, text: str, *, expected: str = "") -> CoreEditReply:
        """Add lines at the end."""
        return await self._edit(lambda before: appended(before, text), "lines were added", text, expected)

    async def replace(self, old: str, new: str, *, expected: str = "") -> CoreEditReply:
        """Put a text in the place of one that stands there once; an empty one takes it out."""
        return await self._edit(lambda before: replaced(before, old, new), "a text was replaced", new, expected)

    async def insert(self, text: str, *, after: str, expected: str = "") -> CoreEditReply:
        """Add lines below a line that stands there once, such as a heading."""
        why = "lines were inserted"
        return await self._edit(lambda before: inserted(before, text, after=after), why, text, expected)

    async def _edit(self, change: Callable[[str], str], why: str, text: str, expected: str) -> CoreEditReply:
        self.journal.check_writable()
        path, seen, sha256 = await self._read()
        if expected and len(expected) < _SHA_CHARS:
            raise InvalidRequest(f"expected: give {_SHA_CHARS} signs of the hash or more", hint=_AGAIN)
        if not sha256.startswith(expected.lower()):
            raise InvalidRequest(f"{path} has changed since you saw it", hint=_AGAIN)

        def edited(before: str | None) -> str:
            if expected and (before or "") != seen:
                raise InvalidRequest(f"{path} has changed since you saw it", hint=_AGAIN)
            try:
                after = change(before or "")
            except ValueError as exc:
                raise InvalidRequest(f"{path}: {exc}", hint=_AGAIN) from exc
            self._check(path, before or "", after)
            return after

        made = await self.journal.change(path, edited, by=WrittenBy.CORE, why=why)
        return CoreEditReply(
            path=made.path,
            sha256=made.sha256,
            chars=len(made.text),
            maxChars=self.max_chars,
            changed=made.is_written,
            change=made.id or None,
            notes=list(filter(None, [HOLDS_SECRET if secrets_in(text) else "", made.note])),
        )

    def _check(self, path: RelativePath, before: str, after: str) -> None:
        """Raise TooLarge for an edit beyond the budget, and InvalidRequest for one that makes a front matter."""
        # what is too large already may become smaller step by step
        if len(after) > self.max_chars and len(after) >= len(before):
            raise TooLarge(
                f"{path} would have {len(after):,} characters; memory.core.maxChars is {self.max_chars:,}",
                hint="take something out of it first (memoryctl core replace OLD NEW), or retain it in today's log",
            )
        # it says how a whole file is to be read
        if front_matter_bytes(padded(after)) and not front_matter_bytes(padded(before)):
            raise InvalidRequest(
                f"{path} would begin with a front matter, which it has not", hint=f"write that into {path} yourself"
            )
