"""Replace a memory: compute the changes to its lines, and to lines that reference it, for a new statement.

By default the new statement is a line of its own; the old line remains, and both are marked as superseding and
superseded. In place, the old line gets the new text, and references to its id are changed to the new id.

If two memories disagree, a person decides which one is valid, or that both are. The decision is stored only in the
notes: `supersedes=` on the only valid one, `beside=` if both are. So it survives a restart, is reverted by undo, and
is removed with its line.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, person_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.forgetting import find_target
from memoryd.domain.memories.edits import AttributeChange, RetainedText, add_memories, with_lines
from memoryd.domain.memories.kinds import TEAM, MemoryId, ShortId, short_id
from memoryd.domain.memories.line import BY_PEOPLE, NAMING, OF_SESSION, Provenance, RetainedLine, joined
from memoryd.domain.memories.recall_order import current_above
from memoryd.domain.memories.versions import Disagreement

SHOWN = 20
"""Memories listed if a name matches several."""
_SHOWN_CHARS = 100


class ReplacementTarget(Struct, frozen=True):
    """The memory to replace, and the one that was named: the same, or an older version of it."""

    memory: Memory
    named: Memory


def find_replaced(
    known: Mapping[MemoryId, Memory], newer: Mapping[MemoryId, Sequence[MemoryId]], name: str, *, is_exact: bool = False
) -> ReplacementTarget:
    """Return the memory that a name (an id, a citation, or words) means among the known ones.

    `newer` maps a memory to those that supersede it. With `is_exact` an older version that is named alone is itself the
    target. Raises ValueError with the reason if the name means none, or with a list if it means several.
    """
    matches = find_target(Book(memories=known), name)
    if matches.lines is not None:
        raise ValueError(f"there is no memory at {matches.lines}: a memory is a bullet, and what was generated is none")
    if is_exact and len(matches.memories) == 1:
        return ReplacementTarget(matches.memories[0], matches.memories[0])
    # a memory that no known one supersedes is its own newest version
    current = {
        current_id
        for memory in matches.memories
        for current_id in ([above for above in current_above(memory.id, newer) if above in known] or [memory.id])
    }
    if len(current) != 1:
        raise ValueError(_list_meanings(name, [known[current_id] for current_id in sorted(current)]))
    (only,) = current
    return ReplacementTarget(
        known[only], next((memory for memory in matches.memories if memory.id == only), matches.memories[0])
    )


def _list_meanings(name: str, memories: Sequence[Memory]) -> str:
    labels = [f"{short_id(memory.id)} ({' '.join(memory.text.split())[:_SHOWN_CHARS]})" for memory in memories[:SHOWN]]
    more = f", and {len(memories) - SHOWN} more" if len(memories) > SHOWN else ""
    return f"{name[:_SHOWN_CHARS]!r} may mean {len(memories)} memories: {', '.join(labels)}{more}"


def is_of_owner(memory: Memory) -> bool:
    """Return whether the owner said it, wrote one of its lines by hand, or pinned it."""
    return is_pinned(memory) or any(source.line.attributes.provenance in BY_PEOPLE for source in memory.sources)


def is_pinned(memory: Memory) -> bool:
    """Return whether any line of a memory pins it."""
    return any(source.line.attributes.is_pinned for source in memory.sources)


class MemoryReplacement(Struct, frozen=True):
    """The changes to the lines of a workspace with which one statement replaces another.

    `line` is added to today's log. With `is_in_place` existing lines get its text instead; `stated_in` are the notes
    that contain exactly this line already.
    """

    old: MemoryId
    new: MemoryId
    line: RetainedLine
    is_in_place: bool = False
    stated_in: tuple[str, ...] = ()
    changes: Mapping[MemoryId, AttributeChange] = {}

    @property
    def is_stated(self) -> bool:
        """Whether no new line is needed."""
        return bool(self.stated_in)

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line of any note with the changes applied."""
        change = self.changes.get(line.id)
        changed = line if change is None else change.of(line)
        return with_statement(changed, self.line) if self.is_in_place and line.id == self.old else changed

    def paths(self, book: Book) -> list[str]:
        """Return the notes with changed lines."""
        touched = [book.memories[memory_id] for memory_id in {self.old, *self.changes} if memory_id in book.memories]
        sources = (source for memory in touched for source in memory.sources)
        # shared files are not marked, unless they are the target itself, which is refused elsewhere
        written = (source for source in sources if self.is_in_place or not person_of(source.path))
        return sorted({source.path for source in written if self.of(source.line) != source.line})

    def in_log(self, text: str, path: RelativePath) -> RetainedText:
        """Return today's log with the new line at its end; raises NoPlaceError.

        If the log states it already, that line is removed first, so that the new one is last.
        """
        edited = with_lines(text, path, self.of)
        without_new = with_lines(edited, path, lambda line: None if line.id == self.new else line)
        return add_memories(without_new, path, [self.line])


def with_missing_parts(statement: RetainedLine, old: Memory, *, is_in_place: bool = False) -> RetainedLine:
    """Return a statement with missing parts taken from the memory that it replaces.

    These are entities, scope, importance, tags, and a pin. In place only entities are taken, because the statement
    inherits the attributes of the old line.
    """
    line, own, before = old.line, statement.attributes, old.line.attributes
    if is_in_place:
        return replace(statement, entities=statement.entities or line.entities)
    tags = (tag for tag in before.tags if not tag.startswith(OF_SESSION))
    return replace(
        statement,
        entities=statement.entities or line.entities,
        attributes=replace(
            own,
            # a statement that replaces a shared one is local
            scope=own.scope or ("" if before.scope == TEAM else before.scope),
            importance=before.importance if own.importance is None else own.importance,
            tags=joined(own.tags, tags),
            is_pinned=own.is_pinned or is_pinned(old),
        ),
    )


def with_statement(line: RetainedLine, statement: RetainedLine) -> RetainedLine:
    """Return a line with the text of another statement; attributes that the statement does not have are preserved."""
    own, new = line.attributes, statement.attributes
    is_by_people = own.provenance in BY_PEOPLE and new.provenance in BY_PEOPLE
    attributes = replace(
        own.with_more(new),
        at=new.at or own.at,
        scope=new.scope or own.scope,
        provenance=own.provenance if is_by_people else new.provenance,
    )
    entities = line.entities if line.slugs == statement.slugs else statement.entities
    return replace(line, kind=statement.kind, text=statement.text, entities=entities, attributes=attributes)


def plan_replacement(
    book: Book, old: Memory, statement: RetainedLine, *, is_in_place: bool = False
) -> MemoryReplacement:
    """Return the changes with which a statement replaces a memory.

    Raises ValueError for a replacement in place whose text another memory already has.
    """
    return _in_place(book, old, statement) if is_in_place else _beside(book, old, statement)


def _in_place(book: Book, old: Memory, statement: RetainedLine) -> MemoryReplacement:
    new = with_statement(old.line, statement).id
    if new != old.id and new in book.memories:
        raise ValueError(f"{short_id(new)} says just that already, and {short_id(old.id)} stays as it is")
    old_id, new_id = short_id(old.id), short_id(new)
    renamed = AttributeChange(renamed=((old_id, new_id),))
    changes = {
        memory.id: renamed
        for memory in book.memories.values()
        if old_id != new_id
        and memory.id != old.id
        and any(old_id in getattr(source.line.attributes, key) for source in memory.sources for key in NAMING)
    }
    return MemoryReplacement(old.id, new, statement, is_in_place=True, changes=changes)


def _beside(book: Book, old: Memory, statement: RetainedLine) -> MemoryReplacement:
    new, named = statement.id, short_id(statement.id)
    if new == old.id:
        return MemoryReplacement(old.id, new, statement, stated_in=_notes_of(old))
    present = book.memories.get(new)
    # lines that call the new statement superseded are older than its repetition
    changes = {
        memory.id: AttributeChange(dropped=frozenset({named}))
        for memory in book.memories.values()
        if any(named in source.line.attributes.supersedes for source in memory.sources)
    }
    superseding = {
        short for source in (present.sources if present else ()) for short in source.line.attributes.superseded
    }
    if superseding:
        changes[new] = AttributeChange(dropped=frozenset(superseding))
    changes[old.id] = AttributeChange(
        superseded=(named,), dropped=frozenset({named}), is_pinned=False if is_pinned(old) else None
    )
    line = _naming(statement, old, present)
    said_in = _notes_of(present) if present is not None and line == present.line else ()
    return MemoryReplacement(old.id, new, line, stated_in=said_in, changes=changes)


def _notes_of(memory: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.path for source in memory.sources))


def _naming(statement: RetainedLine, old: Memory, present: Memory | None) -> RetainedLine:
    """Return the new line with the id of the old memory and the attributes of an existing line with the same text."""
    own = statement.attributes if present is None else present.line.attributes.with_more(statement.attributes)
    attributes = replace(
        own,
        supersedes=joined(own.supersedes, (short_id(old.id),)),
        superseded=statement.attributes.superseded,
        provenance=statement.attributes.provenance,
    )
    return replace(statement, attributes=attributes)


class Keep(StrEnum):
    """The choice between two memories that disagree."""

    NEWER = "newer"
    OLDER = "older"
    BOTH = "both"


def pair_name(disagreement: Disagreement) -> str:
    """Return the name of a disagreement: the short ids of both, the newer first."""
    return f"{short_id(disagreement.newer)}-{short_id(disagreement.older)}"


def find_disagreement(name: str, known: Iterable[Disagreement]) -> Disagreement:
    """Return the disagreement with a name, or the one that a memory is part of.

    Raises LookupError if there is none, ValueError if there are several.
    """
    prefix = name.strip().lower()
    is_id = len(prefix) >= _SHORTEST
    matches = [
        disagreement
        for disagreement in known
        if prefix == pair_name(disagreement)
        or (is_id and (disagreement.newer.startswith(prefix) or disagreement.older.startswith(prefix)))
    ]
    if not matches:
        raise LookupError(f"there is no disagreement {name!r}")
    if len(matches) > 1:
        raise ValueError(f"{name!r} is part of {len(matches)} disagreements: {', '.join(map(pair_name, matches[:3]))}")
    return matches[0]


_SHORTEST = 4


class Settlement(Struct, frozen=True):
    """A relation written into the line of a memory: it supersedes another, is superseded, or is valid beside it."""

    memory: MemoryId
    other: ShortId
    key: Literal["supersedes", "superseded", "beside"]

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line with the relation; a statement of an agent becomes the user's, who has confirmed it."""
        by = line.attributes.provenance if line.attributes.provenance in BY_PEOPLE else Provenance.USER
        attributes = replace(line.attributes, provenance=by)
        if self.key != "beside":
            attributes = replace(attributes, beside=tuple(short for short in attributes.beside if short != self.other))
        attributes = replace(attributes, **{self.key: joined(getattr(attributes, self.key), [self.other])})
        return replace(line, attributes=attributes)


def settlement_of(disagreement: Disagreement, keep: Keep, own: Container[MemoryId]) -> Settlement:
    """Return the relation that settles a disagreement, for the user's own line, never for a shared one.

    Raises ValueError if both memories are shared by others.
    """
    valid, other = (
        (disagreement.older, disagreement.newer) if keep is Keep.OLDER else (disagreement.newer, disagreement.older)
    )
    if valid in own:
        return Settlement(valid, short_id(other), "beside" if keep is Keep.BOTH else "supersedes")
    if other in own:
        return Settlement(other, short_id(valid), "beside" if keep is Keep.BOTH else "superseded")
    raise ValueError("both are what others of the team say: they settle it, or state here what holds")
