"""The pages that reflect writes in `bank/` (entities, world, experience, opinions), and a check for lost entries.

The same memories give the same pages: their order is canonical, and no clock is read. Pages contain only memories that
all agents of the workspace may see, since all of them can read the files.

An entry is lost if no line states its memory any longer. Too many losses stop the write, because some memories may
merely be unreadable today. A lost entry counts as edited if the same file states a new one. An entry whose file has
become private must be removed, and is no loss.

A sentence of a text model must be supported by the facts that it cites, as far as its words show: fewer than half of
them may be new, and no name or number.
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
from memoryd.domain.memories.versions import Disagreement, KnownVersions, Older
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.words import Statement, statement_of

SENTENCE_CHARACTERS = 300
"""A sentence of this length is taken to be truncated."""
_ID = expression(r"(?<![0-9a-zA-Z])[0-9a-f]{8}(?![0-9a-zA-Z])")
_NUMBER = expression(r"[0-9]+")
_MARK_UP = ("<", ">", "[", "]", "`", "\u2028", "\u2029", "\ufffd")
"""Characters of comments, links, markers of generated text or line breaks, and the replacement character."""
_BULLET = expression(r"\s*(?:[-*+#>|=~]|[0-9]+[.)]\s)")
"""Beginnings that are no sentence: a bullet, a heading or a quotation."""
_NAME = expression(r"(?<=[\w,;] )[^\W\d_\u4e00-\u9fff]{3,}")
"""A word within a sentence; it is a name if it begins with a capital letter."""
_GENERIC = word_set("user users 用户")
"""Words for the user, whom all facts and sentences are about."""
_STEM = 4
"""Characters compared of each word, so that forms such as `move` and `moved` are equal."""


class CitedFact(Struct, frozen=True):
    """A fact that a text model may use, and the id to cite it by."""

    id: str
    text: str


class CitedSentence(Struct, frozen=True):
    """A sentence, and the ids of the facts that support it: at least one."""

    text: str
    ids: tuple[str, ...]


def sentence_fault(sentence: CitedSentence, facts: Sequence[CitedFact]) -> str:
    """Return why a sentence is refused; empty if it is complete, without mark-up, and supported by cited facts.

    All of its numbers must be in these facts.
    """
    texts = {fact.id: fact.text for fact in facts}
    if not sentence.ids or not texts.keys() >= set(sentence.ids):
        return "it cites no fact, or one that was not given"
    if not sentence.text.isprintable() or any(mark in sentence.text for mark in _MARK_UP):
        return "it holds a line break, mark-up or what is no character"
    if not sentence.text or _BULLET.match(sentence.text):
        return "it is no sentence"
    if len(sentence.text) >= SENTENCE_CHARACTERS:
        return "it is cut off"
    if _ID.search(sentence.text):
        return "it has an id in its text"
    cited = {number for fact_id in sentence.ids for number in _NUMBER.findall(texts[fact_id])}
    if not set(_NUMBER.findall(sentence.text)) <= cited:
        return "it holds a number that is in none of its facts"
    return _why_unsupported(sentence.text, [texts[fact_id] for fact_id in sentence.ids])


def supporting_ids(sentence: str, cites: Iterable[str], facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """Return the distinct ids that a sentence cites, without facts that share no word with it."""
    own = _stems(statement_of(sentence))
    unrelated = {fact.id for fact in facts if own.isdisjoint(_stems(statement_of(fact.text)))}
    return tuple(fact_id for fact_id in dict.fromkeys(cites) if fact_id not in unrelated)


def _why_unsupported(sentence: str, facts: Iterable[str]) -> str:
    own, stated = statement_of(sentence), [statement_of(fact) for fact in facts]
    stems, cited_stems = _stems(own), set[str]().union(*map(_stems, stated))
    if 2 * len(stems & cited_stems) < len(stems):
        return "most of its words are in none of its facts"
    names = {name.casefold()[:_STEM] for name in _NAME.findall(sentence) if name[0].isupper()}
    if names & stems - cited_stems:
        return "it names what is in none of its facts"
    if all(fact.is_negated != own.is_negated for fact in stated):
        return "it says the contrary of its facts"
    return ""


def _stems(statement: Statement) -> set[str]:
    return {word[:_STEM] for word in statement.words - _GENERIC}


WORLD = RelativePath("bank/world.md")
EXPERIENCE = RelativePath("bank/experience.md")
OPINIONS = RelativePath("bank/opinions.md")
MAX_OF_ENTITY = 60
"""Most entries in one section of an entity page."""
MAX_OF_BANK = 200
"""Most entries in `world.md`, `experience.md` and `opinions.md`."""
MAX_EVIDENCE = 5
"""Most memories listed for an opinion, and against it."""
MAX_BEFORE = 5
"""Most earlier versions listed of one fact."""


class SharedMemories(Struct, frozen=True):
    """The memories that all agents of a workspace may see, newest first, and which of them are outdated."""

    memories: Mapping[MemoryId, Memory]
    predecessors: Older
    """The memories that each memory supersedes, newer to older."""
    outdated: frozenset[MemoryId]
    beliefs: Mapping[MemoryId, OpinionState]
    disagreements: tuple[Disagreement, ...] = ()

    def confidence(self, memory: Memory) -> float:
        """Return the confidence of an opinion; 0.5 if none is written."""
        if belief := self.beliefs.get(memory.id):
            return belief.confidence
        written = memory.line.attributes.confidence
        return 0.5 if written is None else written


def is_shared(memory: Memory) -> bool:
    """Return whether all agents of the workspace may see a memory: its lines have no scope, or `global`."""
    return all(source.line.attributes.scope in ("", GLOBAL) for source in memory.sources)


def shared_memories(book: Book, beliefs: Mapping[MemoryId, OpinionState]) -> SharedMemories:
    """Return the memories that pages may contain; only these count as versions of each other."""
    memories = sorted(filter(is_shared, book.memories.values()), key=_newest_first)
    by_id = {memory.id: memory for memory in memories}
    versions = KnownVersions().of(by_id)
    outdated = frozenset(older for older_ids in versions.older.values() for older in older_ids)
    return SharedMemories(by_id, versions.older, outdated, beliefs, versions.disagreements)


def pages_of(book: Book, shared: SharedMemories) -> tuple[GeneratedPage, ...]:
    """Return all pages, entity pages sorted by path; an entity that is no longer mentioned gets an empty page."""
    about = grouped(
        (slug, memory)
        for memory in shared.memories.values()
        for slug in {book.aliases.get(slug, slug) for slug in memory.slugs}
    )
    slugs = {*about, *(book.aliases.get(slug, slug) for slug in book.pages)}
    files = {page.path.lower(): page.path for page in book.pages.values()}
    by_path: defaultdict[str, list[EntitySlug]] = defaultdict(list)
    for slug in sorted(slugs):
        # a page's title may differ from its file name: both name the entity, and the page is written once
        own = entity_page(slug)
        by_path[book.pages[slug].path if slug in book.pages else files.get(own.lower(), own)].append(slug)
    entities = [
        _entity_page(
            book, shared, RelativePath(path), named, [memory for slug in named for memory in about.get(slug, ())]
        )
        for path, named in sorted(by_path.items())
    ]
    return (*entities, *_bank_pages(shared))


def _entity_page(
    book: Book, shared: SharedMemories, path: RelativePath, slugs: Sequence[EntitySlug], memories: Sequence[Memory]
) -> GeneratedPage:
    unique = sorted({memory.id: memory for memory in memories}.values(), key=_newest_first)
    sections = [
        _section(shared, heading, [memory for memory in unique if memory.line.network is network], path, MAX_OF_ENTITY)
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
        of_network = [memory for memory in memories if memory.line.network is network]
        section = _section(shared, _HEADINGS[network], of_network, path, MAX_OF_BANK)
        yield GeneratedPage(path, title, "", (section,) if section else ())
    beliefs = [memory for memory in memories if is_belief(memory.kind) and memory.id not in shared.outdated]
    beliefs.sort(key=lambda memory: (memory.slugs, *_newest_first(memory)))
    section = PageSection("Opinions", *cut([_opinion(shared, memory) for memory in beliefs], MAX_OF_BANK))
    yield GeneratedPage(OPINIONS, "Opinions", "", (section,) if beliefs else ())


def _section(
    shared: SharedMemories, heading: str, memories: Sequence[Memory], path: RelativePath, most: int
) -> PageSection | None:
    """Return current memories, each with those it supersedes below it; None if there are none.

    Memories that a person wrote on the same page are not repeated.
    """
    elsewhere = (memory for memory in memories if all(source.path != path for source in memory.sources))
    current = [memory for memory in elsewhere if memory.id not in shared.outdated]
    entries, left_out = cut([_entry(shared, memory) for memory in current], most)
    return PageSection(heading, entries, left_out) if entries else None


def _entry(shared: SharedMemories, memory: Memory) -> PageEntry:
    earlier = [shared.memories[older] for older in shared.predecessors.get(memory.id, ())]
    label = _day_suffix(memory)
    if is_belief(memory.kind):
        label = f"{label}, confidence {shared.confidence(memory):.2f}"
    below = tuple(_page_entry(older, f"until then{_day_suffix(older)}") for older in earlier[:MAX_BEFORE])
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
    # a memory with a narrower scope affects the opinion, but is not shown to other agents
    memories = [
        shared.memories[memory_id] for memory_id in ids if memory_id in shared.memories and memory_id != except_id
    ]
    for memory in sorted(memories, key=_newest_first)[:MAX_EVIDENCE]:
        yield _page_entry(memory, f"{word}{_day_suffix(memory)}")


def _page_entry(memory: Memory, label: str, below: tuple[PageEntry, ...] = ()) -> PageEntry:
    sources = tuple(source.citation for source in memory.sources)
    return PageEntry(memory.id, label, memory.text, sources, below)


def _describe(memories: Sequence[Memory]) -> str:
    if not memories:
        return ""
    days = [source.day for memory in memories for source in memory.sources if date_in_name(source.path)]
    count = f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'}."
    return f"First seen {min(days)}, last seen {max(days)}; {count}" if days else f"Seen in {count}"


def _day(memory: Memory) -> date | None:
    """Return the newest day in the file names of a memory's sources; None if no file name has a day.

    Only the ledger knows when a line without a date was first seen, and pages must not depend on it.
    """
    return max((source.day for source in memory.sources if date_in_name(source.path)), default=None)


def _day_suffix(memory: Memory) -> str:
    day = _day(memory)
    return "" if day is None else f", {day}"


def _newest_first(memory: Memory) -> tuple[int, str]:
    """Return a sort key: newest first, memories without a day last."""
    day = _day(memory)
    return (0 if day is None else -day.toordinal()), memory.id


_HEADINGS = {
    Network.WORLD: "Facts",
    Network.OPINION: "Opinions",
    Network.EXPERIENCE: "What was done",
    Network.OBSERVATION: "Observations",
}


MAX_REMOVED_SHARE = 0.25
"""Largest share of the entries of a page that one run may remove."""
LOSSES_ALWAYS_ALLOWED = 2
"""Entries that may always be removed: on a small page, one line deleted by a person may be half of it."""


class CitedFiles(Struct, frozen=True):
    """Cited files that are not in the index: `deleted` (deleted), or `private` (present, but not to be read)."""

    deleted: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


def source_paths(shared: SharedMemories) -> dict[ShortId, frozenset[str]]:
    """Return the short ids of all memories that pages may contain, with the paths of the files that state each."""
    return {
        short_id(memory.id): frozenset(source.path for source in memory.sources) for memory in shared.memories.values()
    }


def why_refused(block: str, page: GeneratedPage, stated: Mapping[ShortId, frozenset[str]], files: CitedFiles) -> str:
    """Return why the generated block of a page must not be overwritten; empty if it may be."""
    cited: defaultdict[ShortId, set[str]] = defaultdict(set)
    for memory, path in citations_in(block):
        cited[memory].add(path)
    missing_files = set[str]()
    for memory, paths in cited.items():
        missing, moved = paths & files.deleted, stated.get(memory, frozenset()) - paths
        # the memory may be in another file now, for example after a rename
        if len(missing) > len(moved):
            missing_files |= missing
    if missing_files:
        others = f" and {len(missing_files) - 1} more" if len(missing_files) > 1 else ""
        return f"it cites {min(missing_files)}{others}, which is no longer there"
    lost_ids = [memory for memory, paths in cited.items() if memory not in stated and not paths & files.private]
    count = len(lost_ids) - _count_edited(lost_ids, cited, page)
    if count > max(LOSSES_ALWAYS_ALLOWED, MAX_REMOVED_SHARE * len(cited)):
        return f"it would lose {count} of its {len(cited)} entries"
    return ""


def _count_edited(lost_ids: list[ShortId], cited: dict[ShortId, set[str]], page: GeneratedPage) -> int:
    """Count the lost entries whose files have a new line, which the page did not have before."""
    new: Counter[str] = Counter()
    for entry in page.entries:
        if short_id(entry.memory) not in cited:
            new.update(source.path for source in entry.sources[:1])
    edited = 0
    for memory in lost_ids:
        path = next((path for path in sorted(cited[memory]) if new[path]), None)
        if path is not None:
            new[path] -= 1
            edited += 1
    return edited
