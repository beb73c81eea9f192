"""Statements by an agent or the owner: scopes, cleaning of the text, and the rules of the core.

A statement of a session or a model may come from a note that it read, and pinned memories are shown to all later
sessions. So only the owner pins, unpins and edits the core file, and statements of others never get an importance that
makes them core at once.
"""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.search import make_searchable
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.domain.access import Admitted
from memoryd.domain.documents import CORE_FILES, PERSONA, Citation, RelativePath
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.changes.replacing import is_of_owner
from memoryd.domain.memories.documents import visible_memories
from memoryd.domain.memories.edits import (
    MemoryDraft,
    StatementSource,
    admitted_scope,
    missing_properties,
    parse_statement,
    split_statements,
    with_stray_parsed,
)
from memoryd.domain.memories.kinds import MemoryId, Visibility, WrittenBy, short_id
from memoryd.domain.memories.line import BLOCK_START, NAMING, Provenance, RetainedLine
from memoryd.domain.memories.reflect.core import append_lines, insert_lines, replace_text
from memoryd.domain.memories.versions import Disagreement
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.redaction import secrets_in
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.sanitizing import harmless_text, visible_text
from memoryd.errors import Denied, InvalidRequest, MemorydError, StoreError, TooLarge
from memoryd.memory.book import MemoryCache
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.recall.eligible import MemoryFacts
from memoryd.memory.retaining import NoteChanges, Retaining, StatedPlaces
from memoryd.replies.changes import CoreEditReply, CoreReply
from memoryd.replies.memories import RetainedReply, RetainReply
from memoryd.wire import MEMORIES_MAX, MEMORY_CHARS_MAX

LESS_IMPORTANT = "what is core from the first is its owner's to say: its importance was set to {:g}"
_OWNERS = "pinned memories are in the core of every session: only the owner may change that"


class CoreRights(Struct, frozen=True):
    """The rights of one agent. A memory of at least `core_importance`, 0 to 1, is core without ever being used."""

    core_importance: float

    @property
    def most_importance(self) -> float:
        """The highest importance that a non-owner may give: two decimals, just below `core_importance`."""
        return max(0, math.ceil(self.core_importance * 100 - 1e-9) - 1) / 100

    def check_pin(self, *, is_owner: bool) -> None:
        """Raise Denied unless the asker may pin."""
        if not is_owner:
            raise Denied(_OWNERS, hint="state it without `pin`; the owner may pin it, by `memoryctl memories pin`")

    def check_unpin(self, line: RetainedLine, *, is_owner: bool) -> None:
        """Raise Denied if the asker may not remove a pinned line from the core."""
        if line.attributes.is_pinned and not is_owner:
            raise Denied(_OWNERS, hint="the owner may, by `memoryctl memories unpin` or `delete`")

    def check_importance(self, value: float, *, is_owner: bool) -> None:
        """Raise Denied if the asker may not make a memory core by its importance."""
        if value > self.most_importance and not is_owner:
            hint = f"give {self.most_importance:g} at most; the owner may give more, by `memoryctl memories importance`"
            raise Denied("only the owner may make a memory core", hint=hint)

    def check_file(self, *, is_owner: bool) -> None:
        """Raise Denied unless the asker may edit the core file."""
        if not is_owner:
            raise Denied(
                "the core file is part of every session: only the owner may edit it",
                hint="state a memory instead; the owner edits the file, by `memoryctl core`",
            )

    def limit_line(self, line: RetainedLine, *, is_owner: bool) -> RetainedLine:
        """Return a line as it may be stated, with a lower importance if it would be core; raises Denied for a pin."""
        if line.attributes.is_pinned:
            self.check_pin(is_owner=is_owner)
        if is_owner or line.importance <= self.most_importance:
            return line
        return replace(line, attributes=replace(line.attributes, importance=self.most_importance))


_SHA_CHARS = 8
_AGAIN = "look at it again (memoryctl core show), then repeat the edit"
SHOWS_SECRET = "the text holds what looks like a secret, which every session will see"


class AgentCore(Struct, frozen=True, kw_only=True):
    """The core file of the workspace of one agent. `max_chars` is its maximum length in characters after an edit.

    `expected` of an edit is a prefix of the hex hash of the file that the client saw; empty: any content. Edits raise
    InvalidRequest, TooLarge above the maximum, and what `Journal.change` does.
    """

    journal: Journal
    max_chars: int
    rights: CoreRights

    async def show(self) -> CoreReply:
        """Return the core file, and the text of `SOUL.md`; raises as `Journal.read`."""
        path, text, sha256 = await self._read()
        try:
            soul = (await self.journal.read(PERSONA, is_shown=True)).text or ""
        except MemorydError:
            # missing, or it may not be shown
            soul = ""
        return CoreReply(path=path, text=text, sha256=sha256, chars=len(text), maxChars=self.max_chars, soul=soul)

    async def _read(self) -> tuple[RelativePath, str, str]:
        """Return path, text and hash of `MEMORY.md`, or of `memory.md` if only that exists; empty if neither does."""
        for path in map(RelativePath, CORE_FILES):
            stored = await self.journal.read(path)
            if stored.text is not None:
                return path, stored.text, stored.sha256.hex()
        return RelativePath(CORE_FILES[0]), "", ""

    async def append(self, text: str, *, expected: str = "") -> CoreEditReply:
        """Add lines at the end."""
        return await self._edit(lambda before: append_lines(before, text), "lines were added", text, expected)

    async def replace(self, old: str, new: str, *, expected: str = "") -> CoreEditReply:
        """Replace a text that occurs once; an empty new text deletes it."""
        return await self._edit(lambda before: replace_text(before, old, new), "a text was replaced", new, expected)

    async def insert(self, text: str, *, after: str, expected: str = "") -> CoreEditReply:
        """Add lines below a line that occurs once, such as a heading."""
        why = "lines were inserted"
        return await self._edit(lambda before: insert_lines(before, text, after=after), why, text, expected)

    async def _edit(self, change: Callable[[str], str], why: str, text: str, expected: str) -> CoreEditReply:
        self.journal.check_writable()
        path, seen, sha256 = await self._read()
        if expected and len(expected) < _SHA_CHARS:
            raise InvalidRequest(f"expected: give {_SHA_CHARS} characters of the hash or more", hint=_AGAIN)
        if not sha256.startswith(expected.lower()):
            raise InvalidRequest(f"{path} has changed since you saw it", hint=_AGAIN)

        def edit(before: str | None) -> str:
            if expected and (before or "") != seen:
                raise InvalidRequest(f"{path} has changed since you saw it", hint=_AGAIN)
            try:
                after = change(before or "")
            except ValueError as exc:
                raise InvalidRequest(f"{path}: {exc}", hint=_AGAIN) from exc
            self._check(path, before or "", after)
            return after

        made = await self.journal.change(path, edit, by=WrittenBy.CORE, why=why)
        return CoreEditReply(
            path=made.path,
            sha256=made.sha256,
            chars=len(made.text),
            maxChars=self.max_chars,
            changed=made.is_written,
            change=made.id or None,
            notes=list(filter(None, [SHOWS_SECRET if secrets_in(text) else "", made.note])),
        )

    def _check(self, path: RelativePath, before: str, after: str) -> None:
        """Raise TooLarge for an edit above the maximum, and InvalidRequest for one that creates a front matter."""
        # a file that is already too large may shrink step by step
        if len(after) > self.max_chars and len(after) >= len(before):
            raise TooLarge(
                f"{path} would have {len(after):,} characters; memory.core.maxChars is {self.max_chars:,}",
                hint="take something out of it first (memoryctl core replace OLD NEW), or retain it in today's log",
            )
        # a front matter decides how the complete file is read
        if front_matter_bytes(encode_padded(after)) and not front_matter_bytes(encode_padded(before)):
            raise InvalidRequest(
                f"{path} would begin with a front matter, which it has not", hint=f"write that into {path} yourself"
            )


HOLDS_SECRET = "it contains what looks like a secret, which is stored as written"
SECRET_MASKED = "what looks like a secret was masked"
RELEASED = "it had been forgotten, and is remembered again"
UNSEEN = "invisible characters were removed"
REFLOWED = (
    "line breaks and indents of the code or comment in it were moved: write what must keep them into a note of its own"
)
UNKNOWN = "{} names {}, which is the id of no memory here"
OWNER_LEADS = "{} is its owner's, and holds until the owner changes it"
DOUBTED = "it may contradict {} ({}), which is still current: its owner settles it by `memoryctl disagreements`"
_SHOWN_CHARS = 60
_KNOWN_SECONDS = 0.5
"""How long to wait for the index when ids in a new line are checked."""
CompleteLine = Callable[[RetainedLine], RetainedLine]
"""Completes the line of a statement that replaces another one."""


def retain_reply(
    retention: StatedPlaces,
    notes: Iterable[str],
    *,
    is_searchable: bool,
    replaced: MemoryId | None = None,
    written: NoteChanges | None = None,
) -> RetainReply:
    """Return the reply about stated memories, with notes for the client.

    `replaced` is the memory that was replaced, and `written` all changes of that.
    """
    rows = [
        RetainedReply(
            id=placed.line.id,
            citation=str(Citation(retention.path, placed.start_line, placed.end_line, short_id(placed.line.id))),
            created=created,
            path=retention.path,
            line=placed.start_line,
        )
        for placed, created in zip(retention.placed, retention.added, strict=True)
    ]
    change = retention.change.id
    return RetainReply(
        **rows[0],
        memories=rows,
        change=change or None,
        changes=list(written.numbers if written else ()) or [change] * bool(change),
        run=(written.run or None) if written else None,
        replaced=replaced,
        searchable=is_searchable,
        notes=list(dict.fromkeys(notes)),
    )


class AgentRetaining(Struct, frozen=True, kw_only=True):
    """Retains for one agent."""

    agent: str
    rights: CoreRights
    retaining: Retaining
    index: WorkspaceIndex
    tombstones: TombstoneStore
    book: MemoryCache
    facts: Callable[[Book], Awaitable[MemoryFacts]]
    """Returns the facts of a book."""

    async def retain(self, draft: MemoryDraft, admitted: Admitted, *, each: bool = False) -> RetainReply:
        """State a memory; with `each`, every bullet of the text is a memory.

        A statement of a session is visible to its agent only. It is noted as from the agent unless its user says it,
        and always if it comes through an agent's socket. Secrets in it are masked, and it is never core. A statement of
        the owner is stored verbatim. Only the owner can state a forgotten memory again. Raises InvalidRequest,
        TooLarge, Denied, and what `Retaining.retain` does.
        """
        texts = split_statements(draft.text) if each else [draft.text]
        if len(texts) > MEMORIES_MAX:
            raise TooLarge(f"{len(texts)} memories at once; {MEMORIES_MAX} is the most", hint="send them in parts")
        stated = [self.prepare_line(replace(draft, text=text), admitted) for text in texts]
        lines = [line for line, _ in stated]
        notes = [note for _, each_notes in stated for note in each_notes]
        notes += await self.unknown_names(lines, admitted)
        notes += await self.release_forgotten(lines, is_owner=admitted.is_owner)
        retention = await self.retaining.retain(lines, agent="" if admitted.is_owner else self.agent)
        notes += _ignored_attributes(lines, retention)
        notes += await self._doubts(retention)
        if retention.change.note:
            notes.append(retention.change.note)
        return retain_reply(retention, notes, is_searchable=await make_searchable(self.index, [retention.path]))

    async def _doubts(self, retention: StatedPlaces) -> list[str]:
        """Return which existing memories the new ones may contradict, if that is known soon."""
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(_KNOWN_SECONDS):
                book = await self.book.current()
                # this computes the versions in a thread
                await self.facts(book)
            path, day = retention.path, date_in_name(retention.path) or date.max
            new_memories = (
                Memory(
                    placed.line.id, (MemorySource(path, placed.start_line, placed.end_line, placed.line, day, None, 0),)
                )
                for placed, is_new in zip(retention.placed, retention.added, strict=True)
                if is_new
            )
            doubts = [doubt for memory in new_memories for doubt in book.versions.doubts(memory)]
            return [_render_doubt(book.memories[doubt.older]) for doubt in doubts if isinstance(doubt, Disagreement)]
        return []

    def prepare_line(
        self, draft: MemoryDraft, admitted: Admitted, complete: CompleteLine | None = None
    ) -> tuple[RetainedLine, Sequence[str]]:
        """Return the line of a statement as it may be stated, and notes about it.

        `complete` adds parts missing in the text. Raises InvalidRequest, TooLarge, Denied.
        """
        stater = StatementSource(self.agent, admitted.channel, is_owner=admitted.is_owner)
        if admitted.is_sandboxed:
            draft = replace(draft, provenance=Provenance.AGENT)
        text, notes = _clean_text(draft.text, stater)
        parsed, read = _line(replace(draft, text=text), stater, complete)
        line = self.rights.limit_line(parsed, is_owner=stater.is_owner)
        less = [LESS_IMPORTANT.format(self.rights.most_importance)] if line != parsed else []
        return line, [*notes, *filter(None, [read]), *less]

    async def unknown_names(self, lines: Sequence[RetainedLine], admitted: Admitted) -> list[str]:
        """Return notes about unknown ids in lines, and about the owner's memories that an agent cannot supersede."""
        named = [(key, name) for line in lines for key in NAMING for name in getattr(line.attributes, key)]
        if not named:
            return []
        await self.index.catch_up(_KNOWN_SECONDS)
        book, visibility = await self.book.current(), Visibility.of(self.agent, admitted)
        memories = visible_memories(book, visibility)
        known = {short_id(memory.id) for memory in memories} | {short_id(memory.id) for memory in lines}
        owners = set() if admitted.is_owner else {short_id(memory.id) for memory in memories if is_of_owner(memory)}
        return [
            *(UNKNOWN.format(key, name) for key, name in named if name not in known),
            *(OWNER_LEADS.format(name) for key, name in named if key in ("supersedes", "beside") and name in owners),
        ]

    async def release_forgotten(self, lines: Sequence[RetainedLine], *, is_owner: bool) -> list[str]:
        """Allow forgotten statements to be remembered again; raises Denied for an agent."""
        stones = await self.tombstones.all()
        forgotten = [line for line in lines if stones.contains(line.id, line.text)]
        if forgotten and not is_owner:
            raise Denied(SkipReason.FORGOTTEN, hint="the owner may state it again, by `memoryctl retain`")
        for line in forgotten:
            await self.tombstones.release(line.id, line.text)
        return [RELEASED] if forgotten else []


def _render_doubt(older: Memory) -> str:
    text = " ".join(older.text.split())
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return DOUBTED.format(short_id(older.id), shown)


def _ignored_attributes(lines: Sequence[RetainedLine], retention: StatedPlaces) -> list[str]:
    """Return which attributes were ignored because the same line exists with others."""
    return [
        f"it is already at {retention.path}#L{placed.start_line}, and {', '.join(keys)} of that line "
        f"{'stays as it is' if len(keys) == 1 else 'stay as they are'}: edit it to change that"
        for line, placed in zip(lines, retention.placed, strict=True)
        if (keys := missing_properties(line, placed.line))
    ]


def _clean_text(text: str, stater: StatementSource) -> tuple[str, Sequence[str]]:
    """Return the text to store, and notes about it."""
    if len(text) > MEMORY_CHARS_MAX:
        raise TooLarge(
            f"a memory has at most {MEMORY_CHARS_MAX:,} characters, this has {len(text):,}",
            hint="say it shorter, or write it into a note of its own",
        )
    visible = visible_text(text)
    notes = [UNSEEN] if visible != text.replace("\r\n", "\n").replace("\r", "\n") else []
    if any(BLOCK_START.match(line.lstrip()) for line in visible.split("\n")[1:]):
        notes.append(REFLOWED)
    if stater.is_owner:
        return visible, [*notes, HOLDS_SECRET] if secrets_in(visible) else notes
    masked = harmless_text(text)
    return masked, [*notes, SECRET_MASKED] if masked != visible else notes


def _line(draft: MemoryDraft, stater: StatementSource, complete: CompleteLine | None) -> tuple[RetainedLine, str]:
    if not stater.is_owner:
        draft = replace(
            draft, provenance=draft.provenance or Provenance.AGENT, entities=tuple(map(harmless_text, draft.entities))
        )
    line, note = _parse(draft, stater, complete)
    if not stater.is_owner and line.attributes.provenance is not draft.provenance:
        # otherwise an agent could attribute a statement to its user
        raise Denied(
            "who says it is not for an agent to state", hint="state it without `from`; who said it is noted by itself"
        )
    return line, note


def _parse(draft: MemoryDraft, stater: StatementSource, complete: CompleteLine | None) -> tuple[RetainedLine, str]:
    """Return the line of a statement, and a note about text beside its head; raises InvalidRequest."""
    try:
        line, note = with_stray_parsed(parse_statement(draft))
        # check a scope that is given now, not one taken over from the replaced line
        if line.attributes.scope or complete is None:
            scope = admitted_scope(line.attributes.scope, stater)
            line = replace(line, attributes=replace(line.attributes, scope=scope))
        return line if complete is None else complete(line), note
    except ValueError as exc:
        raise InvalidRequest(
            str(exc), hint="write a bullet as `W @Peter: text`, or give the kind beside plain text"
        ) from exc
