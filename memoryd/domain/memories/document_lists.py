"""Documents listed and counted: which are asked for, in which order, and how many there are."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.documents import MemoryDocument
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.near_copies import NearCopies, copies_across_scopes, near_copies
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.memories.tiers import Tier
from memoryd.domain.text.words import normalised


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilters:
    """Which documents are listed: all given ones must hold; None, and an empty text, admit all.

    `scope` is as documents tell it, or `workspace` for all that name none. `query` holds words that text, entities
    or tags all hold, in any case.
    """

    scope: str = ""
    kinds: frozenset[Kind] | None = None
    tier: Tier | None = None
    pinned: bool | None = None
    tag: str = ""
    query: str = ""
    limit: int = 50
    offset: int = 0

    def admits(self, memory: Memory, scope: str) -> bool:
        """Tell whether a memory, whose scope is told so, is among those that are asked for, but for its tier."""
        said = memory.line.attributes
        return (
            (self.scope in ("", scope, said.scope) or (self.scope == WORKSPACE and not said.scope))
            and (self.kinds is None or memory.kind in self.kinds)
            and self.pinned in (None, said.is_pinned)
            and (not self.tag or self.tag.casefold() in {tag.casefold() for tag in said.tags})
            and (not self.query or holds_words(memory, self.query))
        )


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some of the documents that were asked for, and how many there are."""

    documents: tuple[MemoryDocument, ...] = ()
    total: int = 0


def page_of(
    admitted: Iterable[Memory], filters: DocumentFilters, document: Callable[[Memory], MemoryDocument]
) -> DocumentPage:
    """Return the documents of memories that filters admit, the newest first, from `offset` on, and how many there are.

    Tiers cost more to know than all else, so that they are asked for only where they are filtered by.
    """
    found = sorted(admitted, key=lambda one: (-one.recorded.toordinal(), one.id))
    if filters.tier is not None:
        found = [one for one in found if document(one).tier is filters.tier]
    shown = found[filters.offset : filters.offset + filters.limit]
    return DocumentPage(tuple(map(document, shown)), len(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentStats:
    """How many documents there are within reach."""

    total: int = 0
    by_tier: Mapping[str, int] = field(default_factory=dict)
    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_scope: Mapping[str, int] = field(default_factory=dict)
    pinned: int = 0
    near_copies: tuple[NearCopies, ...] = ()
    """Pairs that say nearly the same, the first of them."""
    across_scopes: tuple[NearCopies, ...] = ()
    """Pairs that say the same in several scopes, the first of them."""


def stats_of(documents: Sequence[MemoryDocument]) -> DocumentStats:
    """Count documents, and name those of which one may be needless."""
    memories = [one.memory for one in documents]
    across = copies_across_scopes(memories)
    return DocumentStats(
        total=len(documents),
        by_tier=_counted(documents, lambda one: one.tier),
        by_kind=_counted(documents, lambda one: one.kind.value),
        by_scope=_counted(documents, lambda one: one.scope),
        pinned=sum(one.pinned for one in documents),
        near_copies=tuple(one for one in near_copies(memories) if one not in across),
        across_scopes=across,
    )


def holds_words(memory: Memory, query: str) -> bool:
    """Tell whether text, entities or tags hold each word of a query, in any case."""
    line = memory.line
    said = normalised(" ".join([line.text, *line.entities, *line.attributes.tags])).casefold()
    return all(word in said for word in normalised(query).casefold().split())


def _counted(documents: Iterable[MemoryDocument], part: Callable[[MemoryDocument], str]) -> dict[str, int]:
    return dict(sorted(Counter(map(part, documents)).items()))
