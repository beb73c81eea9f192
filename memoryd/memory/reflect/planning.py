"""What a run of reflect proposes, and which notes must be read for that; no note is read or written here."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, newest_first
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.generated import has_no_marker
from memoryd.domain.memories.reflect.core import CoreChanges, CoreFile, core_changes
from memoryd.domain.memories.reflect.evidence import DoubtedOpinion
from memoryd.domain.memories.reflect.inference import (
    Recurrence,
    has_retain,
    inferred_lines,
    recurrences,
    recurring_names,
)
from memoryd.domain.memories.reflect.pages import SharedMemories
from memoryd.domain.memories.reflect.proposals import (
    ProposedChange,
    contradiction_change,
    markers_change,
    observation_change,
    retain_change,
    source_of,
)
from memoryd.domain.memories.sections import is_daily_log
from memoryd.domain.ranking.filters import date_in_name
from memoryd.memory.reflect.pages import PageState
from memoryd.search.ranking import commonness

MAX_LOGS: Final = 400
"""Logs of one run for which lines may be inferred, the newest first."""
COMMON_WORD: Final = 0.02
"""Share of usual texts that hold a word which does not say what recurred."""

Notes = Mapping[str, str]
"""The texts of notes by path; what could not be read is none of them."""


class ProposalGround(Struct, frozen=True):
    """What proposals are made of: all memories, those for everybody, and the first day that is looked at."""

    book: Book
    shared: SharedMemories
    since: date
    doubted: tuple[DoubtedOpinion, ...]
    recurred: tuple[Recurrence, ...]
    logs: tuple[RelativePath, ...]
    """Those of the window that hold no memory."""

    @property
    def paths(self) -> frozenset[str]:
        """The notes that are to be read."""
        memories = self.book.memories
        doubted = (source_of(memories[one.evidence], one.day).path for one in self.doubted)
        recurred = (one.memories[-1].sources[-1].path for one in self.recurred)
        return frozenset((*doubted, *recurred, *self.logs))


def ground_of(
    book: Book, shared: SharedMemories, since: date, doubted: Iterable[DoubtedOpinion], known: Collection[str]
) -> ProposalGround:
    """Find what may be proposed; `known` are all documents of the workspace."""
    # what is for one agent alone is proposed to nobody: a person who reviews it may not be the one it is for
    shown = [one for one in doubted if one.evidence in shared.memories and one.opinion in shared.memories]
    stating = {source.path for memory in book.memories.values() for source in memory.sources}
    logs = [path for path in known if path not in stating and _is_of_window(path, since)]
    recurred = recurrences(shared.memories.values(), since, lambda word: commonness(word) > COMMON_WORD)
    return ProposalGround(
        book=book,
        shared=shared,
        since=since,
        doubted=tuple(shown),
        recurred=recurred,
        logs=tuple(RelativePath(path) for path in sorted(logs, reverse=True)[:MAX_LOGS]),
    )


def proposal_plan(
    ground: ProposalGround, core: CoreFile, notes: Notes, pages: Sequence[PageState], forgotten: Tombstones
) -> CoreChanges:
    """Return what is proposed, in one order: what concerns what all sessions see first."""
    core_ones = core_changes(core, ground.shared, ground.since)
    others = (
        *_contradictions(ground, notes),
        *_retained(ground, notes, forgotten),
        *_observations(ground, notes),
        *(
            markers_change(state.page.path, state.text)
            for state in pages
            if state.text is not None and state.page.sections and has_no_marker(state.text)
        ),
    )
    return CoreChanges((*core_ones.changes, *filter(None, others)), core_ones.left_out)


def _contradictions(ground: ProposalGround, notes: Notes) -> Iterator[ProposedChange | None]:
    for one in ground.doubted:
        opinion, evidence = ground.book.memories[one.opinion], ground.book.memories[one.evidence]
        if (text := notes.get(source_of(evidence, one.day).path)) is not None:
            yield contradiction_change(opinion, evidence, one.day, text)


def _observations(ground: ProposalGround, notes: Notes) -> Iterator[ProposedChange | None]:
    for found in ground.recurred:
        text = notes.get(found.memories[-1].sources[-1].path)
        if text is not None and found.line.id not in ground.book.memories:
            yield observation_change(found, text)


def _retained(ground: ProposalGround, notes: Notes, forgotten: Tombstones) -> Iterator[ProposedChange | None]:
    texts = {path: notes[path] for path in ground.logs if path in notes and not has_retain(notes[path])}
    names = _Names(ground.book, recurring_names(texts.values()))
    for path, text in sorted(texts.items()):
        lines = inferred_lines(text, names.of, ground.book.memories, lambda line: forgotten.hold(line.id, line.text))
        yield retain_change(path, lines, text)


class _Names:
    """Finds the entities that a sentence names: those of the book, and words that recur as names."""

    def __init__(self, book: Book, recurring: Collection[str]) -> None:
        self._book = book
        self._recurring = recurring
        self._spelled: dict[EntitySlug, str] = {slug: page.name for slug, page in book.pages.items()}
        for memory in newest_first(book.memories.values()):
            for name in memory.line.entities:
                self._spelled.setdefault(slug_of(name), name)

    def of(self, sentence: str) -> tuple[str, ...]:
        slugs = self._book.entities_in(sentence)
        found = [self._spelled.get(slug, str(slug)) for slug in slugs]
        others = [word.strip(".,;:!?()“”\"'’") for word in sentence.split()]
        taken = {slug_of(name) for name in found}
        found += [word for word in others if word in self._recurring and slug_of(word) not in taken]
        return tuple(dict.fromkeys(found))


def _is_of_window(path: str, since: date) -> bool:
    day = date_in_name(path) if is_daily_log(path) else None
    return day is not None and day >= since
