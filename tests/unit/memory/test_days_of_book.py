"""The index of memories by day finds the same as a check of each memory."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.book import MemorySource, book_of
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.recall_filters import span_of
from memoryd.domain.memories.recall_order import Nearness, nearness_of
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.memory.recall.eligible import MemoryDays

FIRST = date(2025, 9, 1)
days = st.integers(0, 60).map(lambda number: FIRST + timedelta(days=number))
spans = st.tuples(days, days).map(lambda pair: DaySpan(min(pair), max(pair))) | st.builds(
    DaySpan, days, st.just(date.max)
)


@st.composite
def lines(draw: st.DrawFn) -> MemorySource:
    line, day = RetainedLine(Kind.WORLD, draw(st.sampled_from("abcdef"))), draw(days)
    path = draw(st.sampled_from([f"memory/{day}.md", "bank/world.md"]))
    return MemorySource(path, 1, 1, line, day, draw(st.none() | spans), draw(st.integers(1, 99)))


@given(st.lists(lines(), max_size=10), spans)
def test_memories_of_days_equal_those_found_one_by_one(found: list[MemorySource], span: DaySpan) -> None:
    book = book_of(found)
    meeting = list(MemoryDays().of(book).meeting(span))
    expected = {key for key, memory in book.memories.items() if any(span_of(s).overlaps(span) for s in memory.sources)}
    assert len(meeting) == len(expected)
    assert {memory.id for memory in meeting} == expected
    inside = [max(nearness_of(source, span) for source in memory.sources) is Nearness.INSIDE for memory in meeting]
    assert inside == sorted(inside, reverse=True), "memories mostly about these days come first"


@given(st.lists(lines(), max_size=8), st.lists(lines(), max_size=8), spans)
def test_updated_index_equals_a_new_one(before: list[MemorySource], after: list[MemorySource], span: DaySpan) -> None:
    book = book_of(after)
    followed, made = MemoryDays().of(book_of(before)).of(book), MemoryDays().of(book)
    assert followed.last_written == made.last_written
    assert list(followed.meeting(span)) == list(made.meeting(span))
