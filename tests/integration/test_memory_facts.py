"""The lines of `tests/data/memories` together: event times, and the current value of each fact."""

from datetime import date
from functools import cache

import pytest

from bench.recall_questions.question_set import WORKSPACE, Change, Place, recall_questions
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, MemorySource, book_of
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.memories.times.parsing import event_span
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.lines import encode_padded

CHANGES = [(one.id, one.change) for one in recall_questions() if one.change]
UNDATED = date(2025, 11, 30)


@cache
def sources() -> tuple[MemorySource, ...]:
    found: list[MemorySource] = []
    for file in sorted(WORKSPACE.rglob("*.md")):
        path = str(file.relative_to(WORKSPACE))
        day = date_in_name(path)
        for placed in memory_sections(encode_padded(file.read_text(encoding="utf-8")), RelativePath(path)).lines:
            event = event_span(placed.line, day)
            where = path, placed.start_line, placed.end_line
            found.append(MemorySource(*where, placed.line, day or UNDATED, event, chunk=len(found)))
    return tuple(found)


@cache
def book() -> Book:
    return book_of(sources())


def memory_at(place: Place) -> MemoryId:
    numbers = place.numbers()
    return next(one.line.id for one in sources() if one.path == place.path and one.start_line == numbers.start)


def superseded_by(memory: MemoryId) -> set[MemoryId]:
    """Return what a memory supersedes, directly or through others."""
    found: set[MemoryId] = set()
    waiting = [memory]
    while waiting:
        new = set(book().superseded.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize("change", [one for _, one in CHANGES], ids=[name for name, _ in CHANGES])
def test_current_value_supersedes_the_old_one(change: Change) -> None:
    current, old = memory_at(change.current), memory_at(change.old)
    assert current == old or old in superseded_by(current)
    assert current not in superseded_by(old)


def test_nothing_else_is_superseded() -> None:
    """Besides these facts only two lines supersede others by id: the tea and the mild dishes, which have no day."""
    stated = {memory_at(one.old) for _, one in CHANGES}
    older = {one for found in book().superseded.values() for one in found} - stated
    texts = sorted(book().memories[one].line.text for one in older)
    assert [text[:5] for text in texts] == ["Peter", "王芳不喜欢"]


@pytest.mark.parametrize(
    ("path", "words", "first", "last"),
    [
        ("09-24", "went to the dentist", "2025-09-23", "2025-09-23"),
        ("11-05", "went to the dentist", "2025-11-04", "2025-11-04"),
        ("09-26", "last night", "2025-09-25", "2025-09-25"),
        ("09-29", "王芳上周六", "2025-09-27", "2025-09-27"),
        ("10-24", "王芳昨天", "2025-10-23", "2025-10-23"),
        ("10-29", "October 28", "2025-10-28", "2025-10-28"),
        ("11-04", "王方上周三", "2025-10-29", "2025-10-29"),
        ("11-18", "January 14", "2026-01-14", "2026-01-14"),
        ("09-18", "12月1日", "2025-12-01", "2025-12-01"),
        ("11-10", "1月20日", "2026-01-20", "2026-01-20"),
        ("11-21", "conference on small rivers", "2025-11-27", "2025-12-01"),
        ("11-24", "妈妈上周六", "2025-11-22", "2025-11-22"),
        ("11-28", "下周三", "2025-12-03", "2025-12-03"),
        ("11-29", "李伟昨天", "2025-11-28", "2025-11-28"),
    ],
)
def test_days_are_parsed(path: str, words: str, first: str, last: str) -> None:
    found = [one for one in sources() if one.path == f"memory/2025-{path}.md" and words in one.line.text]
    assert [one.event for one in found] == [DaySpan(date.fromisoformat(first), date.fromisoformat(last))]
