"""What the stable block holds of memories: pins, and what a person said for every session, lessons and preferences.

It is known by lines alone, whatever the question, the time, and how often they were used: what stands in front of every
prompt may move with a line only. A lesson is told if it starts core, a preference or opinion if it is of who speaks;
what somebody noted of others (`Anna likes tea`) is told when it is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import Struct, field

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.abstracts import shorter
from memoryd.domain.memories.book import Book, Memory, changed_memories
from memoryd.domain.memories.bundle import BundlePart
from memoryd.domain.memories.capture.corrections import surplus_pins
from memoryd.domain.memories.kinds import Kind, MemoryId, default_importance, is_belief, short_id
from memoryd.domain.memories.line import BY_PEOPLE, Provenance, RetainedLine
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.scopes import Visibility
from memoryd.domain.memories.tiers import Tier, first_tier
from memoryd.domain.memories.versions import Older, newness
from memoryd.domain.text.words import STOP_WORDS, spoken_words

STATED_MAX: Final = 50
"""Lessons and preferences: of more the receipt of every bundle would be a list."""
MIN_CONFIDENCE: Final = 0.5
"""Of what somebody is less sure than this, nobody needs to be told unasked."""
_HAN: Final = expression("[\u4e00-\u9fff]")
_WORDS_OF_SIDES = """
not never no with without always over than don doesn isn won now love hate like dislike enjoy
不 别 勿 要 请 用 喜 欢 讨 厌
"""
_SIDES: Final = STOP_WORDS | frozenset(_WORDS_OF_SIDES.split())
"""Words that say which side somebody is on, or nothing."""
_OF_AUTHOR: Final = caseless(
    r"\A\W*(?:[\w'’-]+,?\s+){0,3}?(?:(?:i|we|my|our)\b|the\suser\b)|\A\W*[\u4e00-\u9fff，,]{0,6}?(?:我|咱|本人|用户)"
)
"""Somebody speaks of themselves, behind three words at most that lead in: `In the morning I take tea`, `早上我喝茶`."""


def is_for_every_session(line: RetainedLine) -> bool:
    """Tell whether a line is a lesson that starts core, or what a person prefers or thinks themselves."""
    if line.kind is Kind.LESSON:
        # whoever makes a lesson less important than lessons are takes it out
        return first_tier(line) is Tier.CORE and line.importance >= default_importance(Kind.LESSON)
    return is_belief(line.kind) and line.attributes.provenance in BY_PEOPLE and _is_own(line)


def _is_own(line: RetainedLine) -> bool:
    confidence = line.attributes.confidence
    if confidence is not None and confidence < MIN_CONFIDENCE:
        return False
    # what is captured of what somebody says has a form of the first person
    return line.attributes.provenance is Provenance.USER or _OF_AUTHOR.match(line.text) is not None


class StableParts(Struct, frozen=True):
    """What is pinned, what is beyond the bound of its kind, and what is stated for every session: the oldest first."""

    pinned: Sequence[BundlePart] = ()
    beyond: Sequence[BundlePart] = ()
    stated: Sequence[BundlePart] = ()


class StableLine(Struct, frozen=True):
    """A memory that the stable block may hold, with what is made of its text alone."""

    memory: Memory
    shorter: tuple[tuple[str, str], ...]
    """What tells it in less room."""
    matter: frozenset[str]
    """What it speaks of, whichever side it takes."""


class StableLines(Struct, frozen=True):
    """The memories of a book that its stable block may hold; `of` makes those of a later one."""

    book: Book = field(default_factory=Book)
    lines: Mapping[MemoryId, StableLine] = field(default_factory=dict)

    def of(self, book: Book) -> "StableLines":
        """Return those of a later book; what did not change is not looked at again."""
        changed = changed_memories(self.book, book)
        stay = {key: one for key, one in self.lines.items() if key not in changed}
        come = {
            key: _stable_line(memory)
            for key in changed & book.memories.keys()
            if (line := (memory := book.memories[key]).line).attributes.is_pinned or is_for_every_session(line)
        }
        return StableLines(book, stay | come)


def stable_parts(known: StableLines, older: Older, visibility: Visibility) -> StableParts:
    """Return what is pinned or stated, and within reach, the oldest first: what comes later moves nothing before it.

    `older` tells what supersedes what in the book. Where room is short, what weighs most comes in first, and of these
    the newest.
    """
    filters = RecallFilters(visibility=visibility)
    kept, every = known.lines, known.book.memories
    outdated = {
        old
        for new, olds in older.items()
        if not kept.keys().isdisjoint(olds) and filters.standing(every[new])
        for old in olds
    }
    current = [one for key, one in kept.items() if key not in outdated and filters.standing(one.memory)]
    pinned = [one for one in current if one.memory.line.attributes.is_pinned]
    beyond = surplus_pins([one.memory for one in pinned])
    stated = _newest_sides(one for one in current if not one.memory.line.attributes.is_pinned)
    return StableParts(
        _parts(one for one in pinned if one.memory.id not in beyond),
        _parts(one for one in pinned if one.memory.id in beyond),
        _parts(stated, has_kind=True),
    )


def _newest_sides(stated: Iterable[StableLine]) -> list[StableLine]:
    """Return the most important of what is stated; of two sides in the same words (`with`, `without`) the last."""
    by_newness = sorted(stated, key=lambda one: newness(one.memory))
    last = {(one.memory.line.attributes.scope, one.matter): one for one in by_newness}.values()
    return sorted(last, key=_weight, reverse=True)[:STATED_MAX]


def _stable_line(memory: Memory) -> StableLine:
    text = memory.line.text
    words = _HAN.findall(text) if _HAN.search(text) else spoken_words(text)
    return StableLine(memory, shorter(text), frozenset(words) - _SIDES)


def _parts(kept: Iterable[StableLine], *, has_kind: bool = False) -> list[BundlePart]:
    oldest_first = sorted(kept, key=lambda one: (one.memory.first_recorded, one.memory.id))
    weighed = sorted(oldest_first, key=_weight, reverse=True)
    ranks = {one.memory.id: rank for rank, one in enumerate(weighed, start=1)}
    parts: list[BundlePart] = []
    for one in oldest_first:
        # no lines of the file: an edit elsewhere would move them, and with them the bytes that a prompt cache holds
        line, memory = one.memory.line, one.memory.id
        note = ", ".join([line.kind.value] * has_kind + [*line.entities])
        parts.append(BundlePart(short_id(memory), line.text, note=note, shorter=one.shorter, rank=ranks[memory]))
    return parts


def _weight(one: StableLine) -> tuple[float, date, int, MemoryId]:
    return (one.memory.line.importance, *newness(one.memory))
