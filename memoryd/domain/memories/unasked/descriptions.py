"""What the lines of a workspace call an entity, and the entities that a message means by such words.

Words that only one person's notes use are explained by their own lines: "Jitka is Tomas's wife", "Miso the cat". So
*my wife* in a message leads to the memories about her. A description is read only from a line about one entity that
begins with its name, and only up to its noun.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory, changed_memories
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.unasked.concepts import (
    WEAK_WORDS,
    WORD,
    Concept,
    concepts_in,
    is_of_people,
    root_of,
    significant_words,
    width_weight,
)
from memoryd.domain.text.words import STOP_WORDS, UNSPACED_RUN

NAMED, PART_OF_NAME, KIN, DESCRIBED = 1.0, 0.8, 0.75, 0.7
"""Certainty that a message means an entity: by its name, a part of it, a relation to a person, or a description."""
OF_A_KIND, NARROW_KIN = 0.65, 2.5
"""The certainty by a concept of many words, such as *baby*, and the least weight of a concept of few words."""
Key = TypeVar("Key", str, Concept)
MAX_ALIKE = 2
"""A word that describes more entities than these means none of them."""
_SHORTEST_PART = 4
_MAX_LINES = 20
"""Lines of an entity that are examined for the spelling of its name."""
_NO_NOUNS = STOP_WORDS | WEAK_WORDS
_IS = caseless(
    r"(?P<name>[^,.;:]{1,60}?)(?:,\s(?:the|my|our|his|her|their)\s(?=[^,]{1,40},)|\s(?:is|was|are)\s(?:the|a|an|my|our|his|her|their|[\w.-]{1,40}(?:'s|’s|s'))\s|\sthe\s)"
    r"(?P<noun>[^,.;:()]{1,60})"
)
_BEHIND_NOUN = caseless(
    r"\s(?:in|at|of|from|for|who|which|that|with|on|and|to|by|is|has|are|was|does|lives|since|gets)\b.*"
)
_ONE_OF_GROUP = expression(r"\s(?:elder|eldest|older|oldest|younger|youngest|other|one|both|first|second) of the\b")
_NAME = r"(?:(?:Mr|Mrs|Ms|Dr) )?[A-Z][\w’'-]{1,30}(?: [A-Z][\w’'-]{1,30})?"
_NOUN_IS_NAME = expression(
    rf"(?:\b[Tt]he|\b[Mm]y|\b[Oo]ur|\w['’]s) (?P<noun>[a-z-]{{2,20}}(?: [a-z-]{{2,20}}){{0,2}}) is (?P<name>{_NAME})"
)
_NOUN_AND_NAME = expression(
    rf"(?:\b[Mm]y|\b[Oo]ur|\b[Hh]is|\b[Hh]er|\b[Tt]heir|\b[Tt]he|\w['’]s) (?P<noun>[a-z-]{{2,20}}) (?P<name>{_NAME})"
)
"""\"Owen's mother Gwen turns seventy\"."""
_NOUN_ARE_NAMES = expression(
    rf"(?:\b[Tt]he|\b[Mm]y|\b[Oo]ur|\w['’]s) (?P<noun>[a-z-]{{2,20}}) are"
    rf" (?P<names>{_NAME}(?:, {_NAME}){{0,4}},? and {_NAME})"
)
_CALLED = expression(
    rf"\b(?:called|named|nicknamed|known as|(?:his|her|its|their) name is) (?P<name>{_NAME})"
    r"|(?:名叫|名字叫|叫做|叫|外号)(?P<chinese>[^\x00-\x7f，。；、：！？（）]{2,4})(?=[，。；、！？]|$)"
)
_IS_CHINESE = expression(r"(?P<name>[^，。；,;:：]{1,20}?)是(?P<noun>[^，。；,;:：]{1,20})")


_LIST_SEPARATOR = expression(r",? and |, ")
_LONGEST_NOUN = 3
"""Characters of a Chinese noun before a name."""
_Description = tuple[EntitySlug, tuple[str, ...], frozenset[Concept]]
"""The entity that a line describes, the words (roots of English words, or a Chinese noun), and the concepts. The entity
may be a phrase of a script without spaces that ends with the name."""


class Descriptions(Struct, frozen=True):
    """The descriptions of all entities of a book; `of` updates them for a later book."""

    book: Book = Book()
    read: Mapping[MemoryId, tuple[_Description, ...]] = {}
    words: Mapping[str, frozenset[EntitySlug]] = {}
    concepts: Mapping[Concept, frozenset[EntitySlug]] = {}
    parts: Mapping[str, frozenset[EntitySlug]] = {}
    nouns: frozenset[EntitySlug] = frozenset()
    """Entities whose own lines write their names in lower case: *hens*."""

    def of(self, book: Book) -> "Descriptions":
        """Return the descriptions of a later book; unchanged memories are not read again."""
        changed = changed_memories(self.book, book)
        read = {memory_id: descriptions for memory_id, descriptions in self.read.items() if memory_id not in changed}
        for memory_id in changed & book.memories.keys():
            if descriptions := tuple(descriptions_in(book.memories[memory_id], book.aliases)):
                read[memory_id] = descriptions
        return _gather(book, read)

    def entities_meant_in(self, text: str, named: Iterable[EntitySlug]) -> dict[EntitySlug, float]:
        """Return the entities that a message means, with the certainty; `named` are those that it names in full."""
        certainties = dict.fromkeys(named, NAMED)
        roots = {root_of(word) for word in WORD.findall(text.lower()) if word not in STOP_WORDS}
        kin = [concept for concept in concepts_in(text) if is_of_people(concept)]
        narrow = [concept for concept in kin if width_weight(concept) >= NARROW_KIN]
        for sure, entities in (
            (PART_OF_NAME, _few_of(self.parts, roots)),
            (KIN, _few_of(self.concepts, narrow)),
            (DESCRIBED, _few_of(self.words, [*roots, *self._nouns_in(text)])),
            (OF_A_KIND, _few_of(self.concepts, kin)),
        ):
            for entity in entities:
                certainties.setdefault(entity, sure)
        return certainties

    def _nouns_in(self, text: str) -> list[str]:
        return [word for word in self.words if not word.isascii() and word in text]

    def words_for(self, text: str, entities: Iterable[EntitySlug]) -> dict[EntitySlug, str]:
        """Return for each entity the words of a message that may mean it; they are no other evidence."""
        significant = sorted(word for word in significant_words(text) if not word.isascii())
        pieces = dict.fromkeys([*WORD.findall(text.lower()), *self._nouns_in(text), *significant])
        return {entity: " ".join(piece for piece in pieces if self._calls(piece, entity)) for entity in entities}

    def _calls(self, word: str, entity: EntitySlug) -> bool:
        return entity in self.words.get(root_of(word), ()) or any(
            entity in self.concepts.get(concept, ()) for concept in concepts_in(word) if is_of_people(concept)
        )


def _few_of(table: Mapping[Key, frozenset[EntitySlug]], keys: Iterable[Key]) -> Iterator[EntitySlug]:
    """Yield the entities of each key that has at most `MAX_ALIKE`."""
    for key in keys:
        if len(entities := table.get(key, ())) <= MAX_ALIKE:
            yield from sorted(entities)


def descriptions_in(memory: Memory, aliases: Mapping[EntitySlug, EntitySlug]) -> Iterator[_Description]:
    """Yield the descriptions in a memory: of the one entity that it is about, and of others that it names."""
    entities = {aliases.get(slug, slug) for slug in memory.slugs}
    text = memory.text
    is_unspaced = UNSPACED_RUN.search(text[:20]) is not None
    match = (_IS_CHINESE if is_unspaced else _IS).match(text)
    if match is not None and len(entities) == 1:
        (entity,), name = entities, match["name"].lower()
        if entity in name or not set(entity.split("-")).isdisjoint(name.replace(",", " ").split()):
            yield _describe(entity, match["noun"])
    if len(entities) == 1:
        # a nickname without memories of its own leads to those of its bearer
        (entity,) = entities
        yield from (_describe(entity, called["name"] or called["chinese"]) for called in _CALLED.finditer(text))
    if is_unspaced:
        # 合伙人是老聂: the noun comes first, the name after it
        if match is not None:
            yield _describe(EntitySlug(match["noun"]), match["name"])
        yield from _beside_name(text, entities)
        return
    for match in _NOUN_ARE_NAMES.finditer(text):
        yield from (_describe(slug_of(name), match["noun"]) for name in _LIST_SEPARATOR.split(match["names"]))
    for pattern in (_NOUN_IS_NAME, _NOUN_AND_NAME):
        for match in pattern.finditer(text):
            yield _describe(slug_of(match["name"]), match["noun"])


def _beside_name(text: str, entities: Iterable[EntitySlug]) -> Iterator[_Description]:
    """Yield the descriptions of names that directly follow a relation without a space: 房东孙大爷."""
    for entity in entities:
        before = text.partition(entity)[0] if entity in text else ""
        for at in range(max(0, len(before) - _LONGEST_NOUN), len(before) - 1):
            if any(map(is_of_people, concepts_in(before[at:]))):
                yield entity, (before[at:],), concepts_in(before[at:])
                break


def _describe(entity: EntitySlug, noun: str) -> _Description:
    if UNSPACED_RUN.search(noun):
        last = noun.rsplit("的", 1)[-1]
        return entity, (last,), concepts_in(last)
    # "the elder of the twins" is a twin
    words = WORD.findall(_BEHIND_NOUN.sub("", _ONE_OF_GROUP.sub(" ", f" {noun.lower()}")))
    own = entity.split("-")
    roots = tuple(root_of(word) for word in words if len(word) > 2 and word not in own and word not in _NO_NOUNS)
    return entity, roots, concepts_in(words[-1]) if words else frozenset()


def _gather(book: Book, read: Mapping[MemoryId, tuple[_Description, ...]]) -> Descriptions:
    words, parts = list[tuple[str, EntitySlug]](), list[tuple[str, EntitySlug]]()
    concepts, nouns = list[tuple[Concept, EntitySlug]](), set[EntitySlug]()
    for name, roots, spoken in (description for described in read.values() for description in described):
        if entity := _known(name, book):
            words += [(root, entity) for root in roots]
            concepts += [(concept, entity) for concept in spoken]
    for entity in book.by_entity:
        # a name may be a relation to the owner: Mum, 婆婆
        concepts += [(concept, entity) for concept in concepts_in(entity.replace("-", " "))]
        pieces = [piece for piece in entity.split("-") if len(piece) >= _SHORTEST_PART]
        lines = (book.memories[key].text for key in book.by_entity[entity])
        # a name that its own lines write in lower case is a noun
        small = _small_words(lines, pieces) if pieces and entity.isascii() else frozenset[str]()
        if pieces and small.issuperset(pieces):
            nouns.add(entity)
        if "-" in entity:
            parts += [(root_of(piece), entity) for piece in pieces if piece not in small]
            words += [(root_of(piece), entity) for piece in small - _NO_NOUNS]
    return Descriptions(book, read, _grouped(words), _grouped(concepts), _grouped(parts), frozenset(nouns))


def _small_words(lines: Iterable[str], words: Iterable[str]) -> frozenset[str]:
    """Return the words that occur in lines in lower case, in the singular or plural."""
    text = "\n".join(islice(lines, _MAX_LINES))
    return frozenset(
        word for word in words if re.search(rf"(?<![@.\w]){re.escape(word.removesuffix('s'))}s?(?![@.]?\w)", text)
    )


def _known(entity: EntitySlug, book: Book) -> EntitySlug:
    """Return the entity of the book that a name, or the end of a phrase, means; empty if there is none."""
    slug = book.aliases.get(entity, entity)
    if slug in book.by_entity:
        return slug
    ends = (entity[at:] for at in range(1, len(entity) - 1)) if UNSPACED_RUN.match(entity) else ()
    return next((EntitySlug(end) for end in ends if end in book.by_entity), EntitySlug(""))


def _grouped(pairs: Iterable[tuple[Key, EntitySlug]]) -> dict[Key, frozenset[EntitySlug]]:
    return {key: frozenset(entities) for key, entities in grouped(pairs).items()}
