"""What the lines of a workspace call somebody or something: "Jitka is Tomas's wife", "Miso the cat", 陈屿是徐岚的丈夫.

So a message that says *my wife* leads to what is known of her. A description is read only from a line about one entity
that begins with its name, and only as far as its noun goes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from msgspec import Struct, field

from memoryd.domain.counters import grouped
from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory, changed_memories
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.unasked.concepts import (
    WEAK_WORDS,
    Concept,
    concepts_in,
    is_of_people,
    root_of,
    significant_words,
)
from memoryd.domain.text.words import STOP_WORDS, UNSPACED_RUN

NAMED, PART_OF_NAME, KIN, DESCRIBED = 1.0, 0.8, 0.75, 0.7
"""How surely a message means an entity: by its name, by a part of it, by what it is to somebody, by its description."""
Key = TypeVar("Key", str, Concept)
MAX_ALIKE: Final = 2
"""What is said of more entities than these means none of them."""
_SHORTEST_PART: Final = 4
_NO_NOUNS: Final = STOP_WORDS | WEAK_WORDS
_IS: Final = caseless(
    r"(?P<name>[^,.;:]{1,60}?)(?:,\s(?:the|my|our|his|her|their)\s(?=[^,]{1,40},)|\s(?:is|was|are)\s(?:the|a|an|my|our|his|her|their|[\w.-]{1,40}(?:'s|’s|s'))\s|\sthe\s)"
    r"(?P<noun>[^,.;:()]{1,60})"
)
_BEHIND_NOUN: Final = caseless(
    r"\s(?:in|at|of|from|for|who|which|that|with|on|and|to|by|is|has|are|was|does|lives|since|gets)\b.*"
)
_OF_SOME: Final = expression(r"\s(?:elder|eldest|older|oldest|younger|youngest|other|one|both|first|second) of the\b")
_NAME: Final = r"(?:(?:Mr|Mrs|Ms|Dr) )?[A-Z][\w’'-]{1,30}(?: [A-Z][\w’'-]{1,30})?"
_NOUN_IS_NAME: Final = expression(
    rf"(?:\b[Tt]he|\b[Mm]y|\b[Oo]ur|\w['’]s) (?P<noun>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,2}}) is (?P<name>{_NAME})"
)
_NOUN_AND_NAME: Final = expression(
    rf"(?:\b[Mm]y|\b[Oo]ur|\b[Hh]is|\b[Hh]er|\b[Tt]heir|\b[Tt]he|\w['’]s) (?P<noun>[a-z-]{{2,20}}) (?P<name>{_NAME})"
)
"""\"Owen's mother Gwen turns seventy\"."""
_IS_CHINESE: Final = expression(r"(?P<name>[^，。；,;:：]{1,20}?)是(?P<noun>[^，。；,;:：]{1,20})")
_WORD: Final = expression(r"[a-z]+(?:-[a-z]+)*")


_Description = tuple[EntitySlug, tuple[str, ...], frozenset[Concept]]
"""Whom one line calls something, and what: roots of English words or a Chinese noun, and concepts. The entity may be a
phrase of signs without spaces that ends with the name."""


class Descriptions(Struct, frozen=True):
    """The descriptions of all entities of a book; `of` makes those of a later one."""

    book: Book = field(default_factory=Book)
    read: Mapping[MemoryId, tuple[_Description, ...]] = field(default_factory=dict)
    words: Mapping[str, frozenset[EntitySlug]] = field(default_factory=dict)
    concepts: Mapping[Concept, frozenset[EntitySlug]] = field(default_factory=dict)
    parts: Mapping[str, frozenset[EntitySlug]] = field(default_factory=dict)

    def of(self, book: Book) -> "Descriptions":
        """Return those of a later book; what did not change is not read again."""
        changed = changed_memories(self.book, book)
        read = {one: found for one, found in self.read.items() if one not in changed}
        for one in changed & book.memories.keys():
            if found := tuple(descriptions_in(book.memories[one], book.aliases)):
                read[one] = found
        return _gather(book, read)

    def meant_by(self, text: str, named: Iterable[EntitySlug]) -> dict[EntitySlug, float]:
        """Return the entities that a message means, with how surely; `named` are those that it names in full."""
        meant = dict.fromkeys(named, NAMED)
        roots = {root_of(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS}
        kin = [concept for concept in concepts_in(text) if is_of_people(concept)]
        for sure, entities in (
            (PART_OF_NAME, _few_of(self.parts, roots)),
            (KIN, _few_of(self.concepts, kin)),
            (DESCRIBED, _few_of(self.words, [*roots, *self._nouns_in(text)])),
        ):
            for entity in entities:
                meant.setdefault(entity, sure)
        return meant

    def _nouns_in(self, text: str) -> list[str]:
        return [word for word in self.words if not word.isascii() and word in text]

    def calling(self, text: str, entities: Iterable[EntitySlug]) -> dict[EntitySlug, str]:
        """Return the words of a message by which it may mean each of the entities: they say only whom."""
        significant = sorted(word for word in significant_words(text) if not word.isascii())
        pieces = dict.fromkeys([*_WORD.findall(text.lower()), *self._nouns_in(text), *significant])
        return {entity: " ".join(piece for piece in pieces if self._calls(piece, entity)) for entity in entities}

    def _calls(self, word: str, entity: EntitySlug) -> bool:
        return entity in self.words.get(root_of(word), ()) or any(
            entity in self.concepts.get(concept, ()) for concept in concepts_in(word) if is_of_people(concept)
        )


def _few_of(table: Mapping[Key, frozenset[EntitySlug]], keys: Iterable[Key]) -> Iterator[EntitySlug]:
    """Yield the entities behind each of the keys that has not too many."""
    for key in keys:
        if len(entities := table.get(key, ())) <= MAX_ALIKE:
            yield from sorted(entities)


def descriptions_in(memory: Memory, aliases: Mapping[EntitySlug, EntitySlug]) -> Iterator[_Description]:
    """Yield what a memory calls the one entity that it is about, and others that it names."""
    entities = {aliases.get(slug, slug) for slug in memory.slugs}
    text = memory.line.text
    is_unspaced = UNSPACED_RUN.search(text[:20]) is not None
    match = (_IS_CHINESE if is_unspaced else _IS).match(text)
    if match is not None and len(entities) == 1:
        (entity,), name = entities, match["name"].lower()
        if entity in name or not set(entity.split("-")).isdisjoint(name.replace(",", " ").split()):
            yield _describe(entity, match["noun"])
    if is_unspaced:
        # 合伙人是老聂: the noun stands first, and whom it means behind it
        if match is not None:
            yield _describe(EntitySlug(match["noun"]), match["name"])
        return
    for pattern in (_NOUN_IS_NAME, _NOUN_AND_NAME):
        for match in pattern.finditer(text):
            yield _describe(slug_of(match["name"]), match["noun"])


def _describe(entity: EntitySlug, noun: str) -> _Description:
    if UNSPACED_RUN.search(noun):
        last = noun.rsplit("的", 1)[-1]
        return entity, (last,), concepts_in(last)
    # the elder of the twins is a twin
    words = _WORD.findall(_BEHIND_NOUN.sub("", _OF_SOME.sub(" ", f" {noun.lower()}")))
    own = entity.split("-")
    roots = tuple(root_of(word) for word in words if len(word) > 2 and word not in own and word not in _NO_NOUNS)
    return entity, roots, concepts_in(words[-1]) if words else frozenset()


def _gather(book: Book, read: Mapping[MemoryId, tuple[_Description, ...]]) -> Descriptions:
    words, parts = list[tuple[str, EntitySlug]](), list[tuple[str, EntitySlug]]()
    concepts = list[tuple[Concept, EntitySlug]]()
    for name, roots, spoken in (description for described in read.values() for description in described):
        if entity := _known(name, book):
            words += [(root, entity) for root in roots]
            concepts += [(concept, entity) for concept in spoken]
    for entity in book.by_entity:
        # a name may be what somebody is to its owner: Mum, 婆婆
        concepts += [(concept, entity) for concept in concepts_in(entity.replace("-", " "))]
        if "-" in entity:
            parts += [(root_of(piece), entity) for piece in entity.split("-") if len(piece) >= _SHORTEST_PART]
    return Descriptions(book, read, _table(words), _table(concepts), _table(parts))


def _known(entity: EntitySlug, book: Book) -> EntitySlug:
    """Return the entity of the book that a name or the end of a phrase means; empty for none."""
    slug = book.aliases.get(entity, entity)
    if slug in book.by_entity:
        return slug
    ends = (entity[at:] for at in range(1, len(entity) - 1)) if UNSPACED_RUN.match(entity) else ()
    return next((EntitySlug(end) for end in ends if end in book.by_entity), EntitySlug(""))


def _table(pairs: Iterable[tuple[Key, EntitySlug]]) -> dict[Key, frozenset[EntitySlug]]:
    return {key: frozenset(entities) for key, entities in grouped(pairs).items()}
