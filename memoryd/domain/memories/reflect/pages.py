"""What reflect writes on the pages of `bank/` (entities, world, experience, opinions), and what they would lose.

The same memories give the same pages: their order is canonical, and no clock is read. Pages hold only memories that
all agents of the workspace may see, since all of them can read the files.

An entry is lost when no line states its memory any more; too many losses stop the write, for some memories may merely
be unreadable today. A lost entry counts as edited where the same file states a new one. One whose file is private by
now has to go and is no loss.

A sentence that a text model wrote must rest on the facts that it cites, as far as words tell: it may have words of its
own, but fewer than of its facts, and no name or number.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression, word_set
from memoryd.domain.memories.book import Book, Memory, spelling
from memoryd.domain.memories.entities import EntitySlug, entity_page
from memoryd.domain.memories.generated import GeneratedPage, PageEntry, PageSection, citations_in, cut
from memoryd.domain.memories.kinds import GLOBAL, MemoryId, Network, ShortId, is_belief, short_id
from memoryd.domain.memories.reflect.opinions import OpinionState, Step
from memoryd.domain.memories.versions import Disagreement, KnownVersions
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.words import Statement, statement_of

SENTENCE_CHARACTERS = 300
"""A sentence that is as long ends where its room does."""
_ID = expression(r"(?<![0-9a-zA-Z])[0-9a-f]{8}(?![0-9a-zA-Z])")
_NUMBER = expression(r"[0-9]+")
_MARK_UP = ("<", ">", "[", "]", "`", "\u2028", "\u2029", "\ufffd")
"""What could make a comment, a link, a marker of generated text or another line of a sentence, or is no character."""
_BULLET = expression(r"\s*(?:[-*+#>|=~]|[0-9]+[.)]\s)")
"""How a sentence does not begin: as a bullet, a heading or a quotation."""
_NAME = expression(r"(?<=[\w,;] )[^\W\d_\u4e00-\u9fff]{3,}")
"""A word inside a sentence, which is a name if it begins with a capital letter."""
_NOBODY = word_set("user users 用户")
"""Of whom facts and sentences are, whatever they say."""
_STEM = 4
"""Characters by which words of one meaning are taken for one: `move` and `moved`."""


class CitedFact(Struct, frozen=True):
    """A fact that may be told, by the id that it is cited with."""

    id: str
    text: str


class CitedSentence(Struct, frozen=True):
    """A sentence, and the ids of the facts that it rests on: at least one."""

    text: str
    ids: tuple[str, ...]


def fault_of(sentence: CitedSentence, facts: Sequence[CitedFact]) -> str:
    """Return why a sentence is refused; empty if it may stand: it is whole, without mark-up, and cites given facts, on
    which it rests with each of its numbers."""
    given = {fact.id: fact.text for fact in facts}
    if not sentence.ids or not given.keys() >= set(sentence.ids):
        return "it cites no fact, or one that was not given"
    if not sentence.text.isprintable() or any(mark in sentence.text for mark in _MARK_UP):
        return "it holds a line break, mark-up or what is no character"
    if not sentence.text or _BULLET.match(sentence.text):
        return "it is no sentence"
    if len(sentence.text) >= SENTENCE_CHARACTERS:
        return "it is cut off"
    if _ID.search(sentence.text):
        return "it has an id in its text"
    cited = {number for one in sentence.ids for number in _NUMBER.findall(given[one])}
    if not set(_NUMBER.findall(sentence.text)) <= cited:
        return "it holds a number that stands in none of its facts"
    return _why_unsupported(sentence.text, [given[one] for one in sentence.ids])


def supporting_ids(sentence: str, cites: Iterable[str], facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """Return the ids that a sentence cites, each once, without those of facts that it has no word of."""
    own = _stems(statement_of(sentence))
    unrelated = {fact.id for fact in facts if own.isdisjoint(_stems(statement_of(fact.text)))}
    return tuple(one for one in dict.fromkeys(cites) if one not in unrelated)


def _why_unsupported(sentence: str, facts: Iterable[str]) -> str:
    own, stated = statement_of(sentence), [statement_of(fact) for fact in facts]
    stems, told = _stems(own), set[str]().union(*map(_stems, stated))
    if 2 * len(stems & told) < len(stems):
        return "most of its words stand in none of its facts"
    names = {name.casefold()[:_STEM] for name in _NAME.findall(sentence) if name[0].isupper()}
    if names & stems - told:
        return "it names what stands in none of its facts"
    if all(fact.is_negated != own.is_negated for fact in stated):
        return "it says the contrary of its facts"
    return ""


def _stems(statement: Statement) -> set[str]:
    return {word[:_STEM] for word in statement.words - _NOBODY}


WORLD = RelativePath("bank/world.md")
EXPERIENCE = RelativePath("bank/experience.md")
OPINIONS = RelativePath("bank/opinions.md")
MAX_OF_ENTITY = 60
"""Entries of one section of the page of an entity."""
MAX_OF_BANK = 200
"""Entries of `world.md`, `experience.md` and `opinions.md`."""
MAX_EVIDENCE = 5
"""Memories that a page lists for an opinion, and against it."""
MAX_BEFORE = 5
"""Earlier versions of one fact."""


class SharedMemories(Struct, frozen=True):
    """The memories that are for all agents of a workspace, the newest first, and which of them are out of date."""

    memories: Mapping[MemoryId, Memory]
    predecessors: Mapping[MemoryId, tuple[MemoryId, ...]]
    """What each supersedes, newer to older."""
    outdated: frozenset[MemoryId]
    beliefs: Mapping[MemoryId, OpinionState]
    disagreements: tuple[Disagreement, ...] = ()

    def confidence(self, memory: Memory) -> float:
        """Return the confidence of an opinion; 0.5 where none is written."""
        if belief := self.beliefs.get(memory.id):
            return belief.confidence
        written = memory.line.attributes.confidence
        return 0.5 if written is None else written


def is_shared(memory: Memory) -> bool:
    """Tell whether a memory is for all agents of the workspace: it names no scope, or `global`, on whichever line."""
    return all(source.line.attributes.scope in ("", GLOBAL) for source in memory.sources)


def shared_memories(book: Book, beliefs: Mapping[MemoryId, OpinionState]) -> SharedMemories:
    """Return the memories that pages may hold; versions are those among them."""
    found = sorted(filter(is_shared, book.memories.values()), key=_newest_first)
    every = {one.id: one for one in found}
    versions = KnownVersions().of(every)
    outdated = frozenset(older for each in versions.older.values() for older in each)
    return SharedMemories(every, versions.older, outdated, beliefs, versions.disagreements)


def pages_of(book: Book, shared: SharedMemories) -> tuple[GeneratedPage, ...]:
    """Return all pages, those of entities by their paths; an entity that is no longer named keeps an empty one."""
    about = grouped(
        (slug, memory)
        for memory in shared.memories.values()
        for slug in {book.aliases.get(slug, slug) for slug in memory.slugs}
    )
    slugs = {*about, *(book.aliases.get(slug, slug) for slug in book.pages)}
    files = {page.path.lower(): page.path for page in book.pages.values()}
    by_path: defaultdict[str, list[EntitySlug]] = defaultdict(list)
    for slug in sorted(slugs):
        # a page may have another title than its file: both name the entity, and the page is written once
        own = entity_page(slug)
        by_path[book.pages[slug].path if slug in book.pages else files.get(own.lower(), own)].append(slug)
    entities = [
        _entity_page(book, shared, RelativePath(path), named, [one for slug in named for one in about.get(slug, ())])
        for path, named in sorted(by_path.items())
    ]
    return (*entities, *_bank_pages(shared))


def _entity_page(
    book: Book, shared: SharedMemories, path: RelativePath, slugs: Sequence[EntitySlug], memories: Sequence[Memory]
) -> GeneratedPage:
    unique = sorted({one.id: one for one in memories}.values(), key=_newest_first)
    sections = [
        _section(shared, heading, [one for one in unique if one.line.network is network], path, MAX_OF_ENTITY)
        for network, heading in _HEADINGS.items()
    ]
    titles = [book.pages[slug].name for slug in slugs if slug in book.pages]
    title = titles[0] if titles else spelling(slugs[0], unique, slugs[0])
    return GeneratedPage(path, title, _describe(unique), tuple(filter(None, sections)))


def _bank_pages(shared: SharedMemories) -> Iterable[GeneratedPage]:
    memories = list(shared.memories.values())
    for path, title, network in (
        (WORLD, "World", Network.WORLD),
        (EXPERIENCE, "Experience", Network.EXPERIENCE),
    ):
        of_network = [one for one in memories if one.line.network is network]
        section = _section(shared, _HEADINGS[network], of_network, path, MAX_OF_BANK)
        yield GeneratedPage(path, title, "", (section,) if section else ())
    beliefs = [one for one in memories if is_belief(one.kind) and one.id not in shared.outdated]
    beliefs.sort(key=lambda one: (one.slugs, *_newest_first(one)))
    section = PageSection("Opinions", *cut([_opinion(shared, one) for one in beliefs], MAX_OF_BANK))
    yield GeneratedPage(OPINIONS, "Opinions", "", (section,) if beliefs else ())


def _section(
    shared: SharedMemories, heading: str, memories: Sequence[Memory], path: RelativePath, most: int
) -> PageSection | None:
    """Return current memories with what they supersede below them; None where there are none.

    A page does not repeat what a person wrote on it.
    """
    elsewhere = (one for one in memories if all(source.path != path for source in one.sources))
    current = [one for one in elsewhere if one.id not in shared.outdated]
    entries, left_out = cut([_entry(shared, one) for one in current], most)
    return PageSection(heading, entries, left_out) if entries else None


def _entry(shared: SharedMemories, memory: Memory) -> PageEntry:
    earlier = [shared.memories[one] for one in shared.predecessors.get(memory.id, ())]
    label = _day_suffix(memory)
    if is_belief(memory.kind):
        label = f"{label}, confidence {shared.confidence(memory):.2f}"
    below = tuple(_page_entry(one, f"until then{_day_suffix(one)}") for one in earlier[:MAX_BEFORE])
    return _page_entry(memory, label.removeprefix(", "), below)


def _opinion(shared: SharedMemories, memory: Memory) -> PageEntry:
    belief = shared.beliefs.get(memory.id)
    updated = (belief.last_updated if belief else None) or _day(memory)
    names = " ".join(f"@{name}" for name in memory.line.entities)
    label = ", ".join(filter(None, (f"{shared.confidence(memory):.2f}", str(updated or ""), names)))
    below: list[PageEntry] = []
    if belief is not None:
        below += _evidence(shared, "for", belief.supporting, memory.id)
        below += _evidence(shared, "against", belief.opposing, memory.id)
    return _page_entry(memory, label, tuple(below))


def _evidence(shared: SharedMemories, word: str, steps: Iterable[Step], except_id: MemoryId) -> Iterable[PageEntry]:
    ids = dict.fromkeys(step.evidence for step in steps)
    # a memory of one agent alone moves the opinion, and is not shown to the others
    memories = [shared.memories[one] for one in ids if one in shared.memories and one != except_id]
    for memory in sorted(memories, key=_newest_first)[:MAX_EVIDENCE]:
        yield _page_entry(memory, f"{word}{_day_suffix(memory)}")


def _page_entry(memory: Memory, label: str, below: tuple[PageEntry, ...] = ()) -> PageEntry:
    sources = tuple(source.citation for source in memory.sources)
    return PageEntry(memory.id, label, memory.text, sources, below)


def _describe(memories: Sequence[Memory]) -> str:
    if not memories:
        return ""
    days = [source.day for one in memories for source in one.sources if date_in_name(source.path)]
    count = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}."
    return f"First seen {min(days)}, last seen {max(days)}; {count}" if days else f"Seen in {count}"


def _day(memory: Memory) -> date | None:
    """Return the newest day in the name of a document that states a memory; None where none has one.

    When a line without a date was first seen is known to the ledger alone, and pages must not depend on it.
    """
    return max((source.day for source in memory.sources if date_in_name(source.path)), default=None)


def _day_suffix(memory: Memory) -> str:
    day = _day(memory)
    return "" if day is None else f", {day}"


def _newest_first(memory: Memory) -> tuple[int, str]:
    """Sort what has a date before what has none."""
    day = _day(memory)
    return (0 if day is None else -day.toordinal()), memory.id


_HEADINGS = {
    Network.WORLD: "Facts",
    Network.OPINION: "Opinions",
    Network.EXPERIENCE: "What was done",
    Network.OBSERVATION: "Observations",
}


MAX_LOST_SHARE = 0.25
"""Share of the entries of a page that one run may take away."""
LOSSES_ALWAYS_ALLOWED = 2
"""Entries that may go, whatever their share: of a small page a person takes one line out, and that is its half."""


class CitedFiles(Struct, frozen=True):
    """Files that are cited and not in the index: `gone` from the disk, or `private`, there and not to be read."""

    gone: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


def source_paths(shared: SharedMemories) -> dict[ShortId, frozenset[str]]:
    """Return the short ids of all memories that pages may hold, with the paths of the lines that state each."""
    return {short_id(one.id): frozenset(source.path for source in one.sources) for one in shared.memories.values()}


def why_refused(block: str, page: GeneratedPage, stated: Mapping[ShortId, frozenset[str]], files: CitedFiles) -> str:
    """Return why the old block of a page may not be overwritten; empty if it may."""
    cited: defaultdict[ShortId, set[str]] = defaultdict(set)
    for memory, path in citations_in(block):
        cited[memory].add(path)
    gone = set[str]()
    for memory, paths in cited.items():
        missing, moved = paths & files.gone, stated.get(memory, frozenset()) - paths
        # the memory may be stated in another file now, as after a rename
        if len(missing) > len(moved):
            gone |= missing
    if gone:
        others = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"it cites {min(gone)}{others}, which is no longer there"
    lost = [memory for memory, paths in cited.items() if memory not in stated and not paths & files.private]
    count = len(lost) - _count_edited(lost, cited, page)
    if count > max(LOSSES_ALWAYS_ALLOWED, MAX_LOST_SHARE * len(cited)):
        return f"it would lose {count} of its {len(cited)} entries"
    return ""


def _count_edited(lost: list[ShortId], cited: dict[ShortId, set[str]], page: GeneratedPage) -> int:
    """Count the lost entries whose files have a line now that the page did not have before."""
    new: Counter[str] = Counter()
    for entry in page.entries:
        if short_id(entry.memory) not in cited:
            new.update(source.path for source in entry.sources[:1])
    edited = 0
    for memory in lost:
        path = next((path for path in sorted(cited[memory]) if new[path]), None)
        if path is not None:
            new[path] -= 1
            edited += 1
    return edited
