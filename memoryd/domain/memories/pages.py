"""What reflect puts on the pages of `bank/`: of each entity, of the world, of what was done, and of opinions.

The same memories give the same pages: their order is canonical, and no clock is read. Only memories that are for all
agents of the workspace stand on pages, for everybody on it can read them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Protocol

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import EntitySlug, entity_page, slug_of
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Network, is_belief
from memoryd.domain.memories.page_text import GeneratedPage, PageEntry, PageSection, PageSource, cut
from memoryd.domain.memories.scopes import GLOBAL
from memoryd.domain.memories.versions import superseded
from memoryd.domain.ranking.filters import date_in_name

WORLD: Final = RelativePath("bank/world.md")
EXPERIENCE: Final = RelativePath("bank/experience.md")
OPINIONS: Final = RelativePath("bank/opinions.md")
MAX_OF_ENTITY: Final = 60
"""Entries of one section of the page of an entity."""
MAX_OF_BANK: Final = 200
"""Entries of `world.md`, `experience.md` and `opinions.md`."""
MAX_EVIDENCE: Final = 5
"""Memories that are told for an opinion, and against it."""
MAX_BEFORE: Final = 5
"""Earlier versions of one fact."""


class BeliefEvidence(Protocol):
    """A memory that speaks for an opinion, or against it."""

    @property
    def evidence(self) -> MemoryId: ...


class HeldBelief(Protocol):
    """How an opinion stands: confidence 0 to 1, the day that moved it last, and what speaks for and against it."""

    @property
    def confidence(self) -> float: ...
    @property
    def last_updated(self) -> date | None: ...
    @property
    def supporting(self) -> Sequence[BeliefEvidence]: ...
    @property
    def opposing(self) -> Sequence[BeliefEvidence]: ...


@dataclass(frozen=True, slots=True)
class SharedMemories:
    """The memories that are for all agents of a workspace, the newest first, and which of them are out of date."""

    memories: Mapping[MemoryId, Memory]
    before: Mapping[MemoryId, tuple[MemoryId, ...]]
    """What each supersedes, newer to older."""
    outdated: frozenset[MemoryId]
    beliefs: Mapping[MemoryId, HeldBelief]

    def confidence(self, memory: Memory) -> float:
        """Return the confidence of an opinion; 0.5 where none is written."""
        if belief := self.beliefs.get(memory.id):
            return belief.confidence
        written = memory.line.attributes.confidence
        return 0.5 if written is None else written


def is_shared(memory: Memory) -> bool:
    """Tell whether a memory is for all agents of the workspace: it names no scope, or `global`, on whichever line."""
    return all(source.line.attributes.scope in ("", GLOBAL) for source in memory.sources)


def shared_memories(book: Book, beliefs: Mapping[MemoryId, HeldBelief]) -> SharedMemories:
    """Return what may stand on pages; versions are told of these alone."""
    found = sorted(filter(is_shared, book.memories.values()), key=_newest_first)
    before = superseded(found)
    outdated = frozenset(older for each in before.values() for older in each)
    return SharedMemories({one.id: one for one in found}, before, outdated, beliefs)


def pages_of(book: Book, shared: SharedMemories) -> tuple[GeneratedPage, ...]:
    """Return all pages, those of entities by their paths; an entity that is no longer named keeps an empty one."""
    about: defaultdict[EntitySlug, list[Memory]] = defaultdict(list)
    for memory in shared.memories.values():
        for slug in sorted({book.aliases.get(slug, slug) for slug in memory.slugs}):
            about[slug].append(memory)
    slugs = {*about, *(book.aliases.get(slug, slug) for slug in book.pages)}
    files = {page.path.lower(): page.path for page in book.pages.values()}
    by_path: defaultdict[str, list[EntitySlug]] = defaultdict(list)
    for slug in sorted(slugs):
        # a page may have another title than its file: both name the entity, and the page is written once
        own = entity_page(slug)
        by_path[book.pages[slug].path if slug in book.pages else files.get(own.lower(), own)].append(slug)
    entities = [
        _entity_page(book, shared, RelativePath(path), named, [one for slug in named for one in about[slug]])
        for path, named in sorted(by_path.items())
    ]
    return (*entities, *_bank_pages(shared))


def _entity_page(
    book: Book, shared: SharedMemories, path: RelativePath, slugs: Sequence[EntitySlug], memories: Sequence[Memory]
) -> GeneratedPage:
    told = sorted({one.id: one for one in memories}.values(), key=_newest_first)
    sections = [
        _section(shared, heading, [one for one in told if one.line.network is network], path, MAX_OF_ENTITY)
        for network, heading in _HEADINGS.items()
    ]
    titles = [book.pages[slug].name for slug in slugs if slug in book.pages]
    title = titles[0] if titles else _spelling(slugs[0], told)
    return GeneratedPage(path, title, _seen(told), tuple(filter(None, sections)))


def _bank_pages(shared: SharedMemories) -> Iterable[GeneratedPage]:
    memories = list(shared.memories.values())
    for path, title, network in (
        (WORLD, "World", Network.WORLD),
        (EXPERIENCE, "Experience", Network.EXPERIENCE),
    ):
        told = [one for one in memories if one.line.network is network]
        section = _section(shared, _HEADINGS[network], told, path, MAX_OF_BANK)
        yield GeneratedPage(path, title, "", (section,) if section else ())
    beliefs = [one for one in memories if is_belief(one.kind) and one.id not in shared.outdated]
    yield GeneratedPage(OPINIONS, "Opinions", "", (_opinions(shared, beliefs),) if beliefs else ())


def _section(
    shared: SharedMemories, heading: str, memories: Sequence[Memory], path: RelativePath, most: int
) -> PageSection | None:
    """Return current memories with what they supersede below them; None where there are none.

    A page does not repeat what a person wrote on it.
    """
    current = [one for one in memories if one.id not in shared.outdated and not _stands_on(one, path)]
    entries, left_out = cut([_entry(shared, one) for one in current], most)
    return PageSection(heading, entries, left_out) if entries else None


def _entry(shared: SharedMemories, memory: Memory) -> PageEntry:
    earlier = [shared.memories[one] for one in shared.before.get(memory.id, ())]
    told = _told_day(memory)
    if is_belief(memory.kind):
        told = f"{told}, confidence {shared.confidence(memory):.2f}"
    below = tuple(_plain(one, f"until then{_told_day(one)}") for one in earlier[:MAX_BEFORE])
    return _plain(memory, told.removeprefix(", "), below)


def _opinions(shared: SharedMemories, memories: Sequence[Memory]) -> PageSection:
    entries = [_opinion(shared, one) for one in sorted(memories, key=lambda one: (one.slugs, *_newest_first(one)))]
    kept, left_out = cut(entries, MAX_OF_BANK)
    return PageSection("Opinions", kept, left_out)


def _opinion(shared: SharedMemories, memory: Memory) -> PageEntry:
    belief = shared.beliefs.get(memory.id)
    updated = (belief.last_updated if belief else None) or _day(memory)
    names = " ".join(f"@{name}" for name in memory.line.entities)
    told = ", ".join(filter(None, (f"{shared.confidence(memory):.2f}", str(updated or ""), names)))
    below: list[PageEntry] = []
    if belief is not None:
        below += _evidence(shared, "for", belief.supporting, memory.id)
        below += _evidence(shared, "against", belief.opposing, memory.id)
    return _plain(memory, told, tuple(below))


def _evidence(shared: SharedMemories, word: str, steps: Iterable[BeliefEvidence], but: MemoryId) -> Iterable[PageEntry]:
    ids = dict.fromkeys(step.evidence for step in steps)
    # what is for one agent alone moves the opinion, and is not told to the others
    told = [shared.memories[one] for one in ids if one in shared.memories and one != but]
    for memory in sorted(told, key=_newest_first)[:MAX_EVIDENCE]:
        yield _plain(memory, f"{word}{_told_day(memory)}")


def _plain(memory: Memory, told: str, below: tuple[PageEntry, ...] = ()) -> PageEntry:
    sources = tuple(
        PageSource(RelativePath(source.path), source.start_line, source.end_line) for source in memory.sources
    )
    return PageEntry(memory.id, told, memory.line.text, sources, below)


def _stands_on(memory: Memory, path: RelativePath) -> bool:
    return any(source.path == path for source in memory.sources)


def _seen(memories: Sequence[Memory]) -> str:
    if not memories:
        return ""
    days = [source.day for one in memories for source in one.sources if date_in_name(source.path)]
    count = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}."
    return f"First seen {min(days)}, last seen {max(days)}; {count}" if days else f"Seen in {count}"


def _spelling(slug: EntitySlug, memories: Iterable[Memory]) -> str:
    """Return the name of an entity as it is mostly written."""
    written = Counter(name for one in memories for name in one.line.entities if slug_of(name) == slug)
    return min(written, key=lambda name: (-written[name], name), default=str(slug))


def _day(memory: Memory) -> date | None:
    """Return the newest day in the name of a document that states a memory; None where none has one.

    When a line without a date was first seen is known to the ledger alone, and pages do not hang on that.
    """
    return max((source.day for source in memory.sources if date_in_name(source.path)), default=None)


def _told_day(memory: Memory) -> str:
    day = _day(memory)
    return "" if day is None else f", {day}"


def _newest_first(memory: Memory) -> tuple[int, str]:
    """Sort what has a date before what has none."""
    day = _day(memory)
    return (0 if day is None else -day.toordinal()), memory.id


_HEADINGS: Final = {
    Network.WORLD: "Facts",
    Network.OPINION: "Opinions",
    Network.EXPERIENCE: "What was done",
    Network.OBSERVATION: "Observations",
}
