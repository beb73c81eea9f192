"""Replacing a memory: what becomes of its lines, and of those that name it, when another statement takes its place.

By default the new statement is a line of its own, and the older one stays, marked as superseded on both sides. In place
the older line itself says something else, and whatever names it by its id names the new one.

Of two that disagree a person says which holds, or that both do. Nothing of that is stored beside the notes: what holds
alone says `supersedes=`, and what holds beside another `beside=`. So a settlement outlives a restart, is taken back by
undo, and goes with the line that says it.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, person_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.forgetting import target
from memoryd.domain.memories.edits import AttributeChange, RetainedText, retained_in, with_lines
from memoryd.domain.memories.kinds import TEAM, MemoryId, ShortId, short_id
from memoryd.domain.memories.line import BY_PEOPLE, NAMING, OF_SESSION, Provenance, RetainedLine, joined
from memoryd.domain.memories.recall_order import current_above
from memoryd.domain.memories.versions import Disagreement

SHOWN = 20
"""Memories that are listed where several are meant."""
_SHOWN_CHARS = 100


class Replaced(Struct, frozen=True):
    """The memory whose place is to be taken, and the one that was named: an older version of it, or itself."""

    memory: Memory
    named: Memory


def replaced(
    known: Mapping[MemoryId, Memory], newer: Mapping[MemoryId, Sequence[MemoryId]], name: str, *, is_exact: bool = False
) -> Replaced:
    """Return what a name means among the memories that somebody may know of: an id, a citation, or words.

    `newer` maps a memory to those that supersede it. With `is_exact` an older version that is named alone is meant
    itself. Raises ValueError, which says why it means nothing, or lists what it may mean.
    """
    found = target(Book(memories=known), name)
    if found.lines is not None:
        raise ValueError(f"no memory stands at {found.lines}: a memory is a bullet, and what was generated is none")
    if is_exact and len(found.memories) == 1:
        return Replaced(found.memories[0], found.memories[0])
    # a memory is its own newest version where nothing known supersedes it
    current = {
        one
        for memory in found.memories
        for one in ([above for above in current_above(memory.id, newer) if above in known] or [memory.id])
    }
    if len(current) != 1:
        raise ValueError(_list_meanings(name, [known[one] for one in sorted(current)]))
    (only,) = current
    return Replaced(known[only], next((one for one in found.memories if one.id == only), found.memories[0]))


def _list_meanings(name: str, memories: Sequence[Memory]) -> str:
    shown = [f"{short_id(one.id)} ({' '.join(one.text.split())[:_SHOWN_CHARS]})" for one in memories[:SHOWN]]
    more = f", and {len(memories) - SHOWN} more" if len(memories) > SHOWN else ""
    return f"{name[:_SHOWN_CHARS]!r} may mean {len(memories)} memories: {', '.join(shown)}{more}"


def is_of_owner(memory: Memory) -> bool:
    """Tell whether the owner said it, wrote one of its lines by hand, or pinned it."""
    return is_pinned(memory) or any(one.line.attributes.provenance in BY_PEOPLE for one in memory.sources)


def is_pinned(memory: Memory) -> bool:
    """Tell whether any line of a memory pins it."""
    return any(source.line.attributes.is_pinned for source in memory.sources)


class MemoryReplacement(Struct, frozen=True):
    """What is to become of the lines of a workspace, so that one statement takes the place of another.

    `line` is stated in the log of today; with `is_in_place` older lines say what it says, and `said_in` are the
    notes with one that says just that already.
    """

    old: MemoryId
    new: MemoryId
    line: RetainedLine
    is_in_place: bool = False
    said_in: tuple[str, ...] = ()
    changes: Mapping[MemoryId, AttributeChange] = {}

    @property
    def is_said(self) -> bool:
        """Whether the new statement needs no line any more."""
        return bool(self.said_in)

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line of any note as it is to be."""
        change = self.changes.get(line.id)
        changed = line if change is None else change.of(line)
        return restated(changed, self.line) if self.is_in_place and line.id == self.old else changed

    def paths(self, book: Book) -> list[str]:
        """Return the notes in which lines are to be others."""
        touched = [book.memories[one] for one in {self.old, *self.changes} if one in book.memories]
        sources = (source for memory in touched for source in memory.sources)
        # nothing is marked in what others share, unless it is meant itself, which is refused
        written = (one for one in sources if self.is_in_place or not person_of(one.path))
        return sorted({source.path for source in written if self.of(source.line) != source.line})

    def in_log(self, text: str, path: RelativePath) -> RetainedText:
        """Return the log of today with the new line at its end; raises NoPlaceError.

        Where it stated that before it is said again, so that it is the last word.
        """
        edited = with_lines(text, path, self.of)
        return retained_in(with_lines(edited, path, self._without_new), path, [self.line])

    def _without_new(self, line: RetainedLine) -> RetainedLine | None:
        return None if line.id == self.new else line


def with_missing_parts(said: RetainedLine, old: Memory, *, is_in_place: bool = False) -> RetainedLine:
    """Return a statement with what it does not say itself taken from the memory that it replaces.

    That is: whom and what it is about, whom it is for, how important it is, tags, and a pin; what is said in place
    of an older line stands with what that says.
    """
    line, own, before = old.line, said.attributes, old.line.attributes
    if is_in_place:
        return replace(said, entities=said.entities or line.entities)
    tags = (one for one in before.tags if not one.startswith(OF_SESSION))
    return replace(
        said,
        entities=said.entities or line.entities,
        attributes=replace(
            own,
            # what is said here of something that others share is said here
            scope=own.scope or ("" if before.scope == TEAM else before.scope),
            importance=before.importance if own.importance is None else own.importance,
            tags=joined(own.tags, tags),
            is_pinned=own.is_pinned or is_pinned(old),
        ),
    )


def restated(line: RetainedLine, said: RetainedLine) -> RetainedLine:
    """Return a line that says something else in its place; what is not said otherwise stays."""
    own, given = line.attributes, said.attributes
    is_by_people = own.provenance in BY_PEOPLE and given.provenance in BY_PEOPLE
    attributes = replace(
        own.with_more(given),
        at=given.at or own.at,
        scope=given.scope or own.scope,
        provenance=own.provenance if is_by_people else given.provenance,
    )
    entities = line.entities if line.slugs == said.slugs else said.entities
    return replace(line, kind=said.kind, text=said.text, entities=entities, attributes=attributes)


def replacement(book: Book, old: Memory, said: RetainedLine, *, is_in_place: bool = False) -> MemoryReplacement:
    """Return what is to be done so that a statement takes the place of a memory.

    Raises ValueError for one in place that another memory states already.
    """
    return _in_place(book, old, said) if is_in_place else _beside(book, old, said)


def _in_place(book: Book, old: Memory, said: RetainedLine) -> MemoryReplacement:
    new = restated(old.line, said).id
    if new != old.id and new in book.memories:
        raise ValueError(f"{short_id(new)} says just that already, and {short_id(old.id)} stays as it is")
    old_id, new_id = short_id(old.id), short_id(new)
    renamed = AttributeChange(renamed=((old_id, new_id),))
    naming = [one.id for one in book.memories.values() if one.id != old.id and _names(one, old_id)]
    changes = {one: renamed for one in naming if old_id != new_id}
    return MemoryReplacement(old.id, new, said, is_in_place=True, changes=changes)


def _beside(book: Book, old: Memory, said: RetainedLine) -> MemoryReplacement:
    new, named = said.id, short_id(said.id)
    if new == old.id:
        return MemoryReplacement(old.id, new, said, said_in=_notes_of(old))
    present = book.memories.get(new)
    # what says that the new one is superseded was said before it was said anew
    changes = {
        one.id: AttributeChange(dropped=frozenset({named}))
        for one in book.memories.values()
        if any(named in source.line.attributes.supersedes for source in one.sources)
    }
    superseding = {short for one in (present.sources if present else ()) for short in one.line.attributes.superseded}
    if superseding:
        changes[new] = AttributeChange(dropped=frozenset(superseding))
    changes[old.id] = AttributeChange(
        superseded=(named,), dropped=frozenset({named}), is_pinned=False if is_pinned(old) else None
    )
    line = _naming(said, old, present)
    said_in = _notes_of(present) if present is not None and line == present.line else ()
    return MemoryReplacement(old.id, new, line, said_in=said_in, changes=changes)


def _notes_of(memory: Memory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.path for source in memory.sources))


def _naming(said: RetainedLine, old: Memory, standing: Memory | None) -> RetainedLine:
    """Return the new line with the id of the older one, and with what a line that states it already says of it."""
    own = said.attributes if standing is None else standing.line.attributes.with_more(said.attributes)
    attributes = replace(
        own,
        supersedes=joined(own.supersedes, (short_id(old.id),)),
        superseded=said.attributes.superseded,
        provenance=said.attributes.provenance,
    )
    return replace(said, attributes=attributes)


def _names(memory: Memory, short: ShortId) -> bool:
    return any(short in getattr(source.line.attributes, key) for source in memory.sources for key in NAMING)


class Keep(StrEnum):
    """What a person keeps of two memories that disagree."""

    NEWER = "newer"
    OLDER = "older"
    BOTH = "both"


def pair_name(one: Disagreement) -> str:
    """Return by what a disagreement is named: the beginnings of both ids, the newer first."""
    return f"{short_id(one.newer)}-{short_id(one.older)}"


def named_pair(name: str, known: Iterable[Disagreement]) -> Disagreement:
    """Return the disagreement of a name, or that one memory is part of.

    Raises LookupError for none, ValueError for several.
    """
    prefix = name.strip().lower()
    is_id = len(prefix) >= _SHORTEST
    matches = [
        one
        for one in known
        if prefix == pair_name(one) or (is_id and (one.newer.startswith(prefix) or one.older.startswith(prefix)))
    ]
    if not matches:
        raise LookupError(f"there is no disagreement {name!r}")
    if len(matches) > 1:
        raise ValueError(f"{name!r} is part of {len(matches)} disagreements: {', '.join(map(pair_name, matches[:3]))}")
    return matches[0]


_SHORTEST = 4


class Settlement(Struct, frozen=True):
    """What is written into the line of a memory: that it supersedes the other one, is superseded, or stands beside."""

    memory: MemoryId
    other: ShortId
    key: Literal["supersedes", "superseded", "beside"]

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line as it is to be; who settles it says what an agent has said, so it is theirs from now on."""
        by = line.attributes.provenance if line.attributes.provenance in BY_PEOPLE else Provenance.USER
        said = replace(line.attributes, provenance=by)
        if self.key != "beside":
            said = replace(said, beside=tuple(one for one in said.beside if one != self.other))
        said = replace(said, **{self.key: joined(getattr(said, self.key), [self.other])})
        return replace(line, attributes=said)


def settlement_of(one: Disagreement, keep: Keep, own: Container[MemoryId]) -> Settlement:
    """Return what settles a disagreement; it is written into one of its own lines, never into what others share.

    Raises ValueError where both are others'.
    """
    kept, other = (one.older, one.newer) if keep is Keep.OLDER else (one.newer, one.older)
    if kept in own:
        return Settlement(kept, short_id(other), "beside" if keep is Keep.BOTH else "supersedes")
    if other in own:
        return Settlement(other, short_id(kept), "beside" if keep is Keep.BOTH else "superseded")
    raise ValueError("both are what others of the team say: they settle it, or state here what holds")
