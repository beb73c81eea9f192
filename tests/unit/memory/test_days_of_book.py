"""Memories by the days that they speak of: the same as by looking at each."""

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
def test_memories_of_days_are_those_that_a_look_at_each_gives(found: list[MemorySource], span: DaySpan) -> None:
    book = book_of(found)
    met = list(MemoryDays().of(book).meeting(span))
    expected = {key for key, one in book.memories.items() if any(span_of(s).overlaps(span) for s in one.sources)}
    assert len(met) == len(expected)
    assert {memory.id for memory in met} == expected
    inside = [max(nearness_of(source, span) for source in memory.sources) is Nearness.INSIDE for memory in met]
    assert inside == sorted(inside, reverse=True), "what speaks of these days mostly comes first"


@given(st.lists(lines(), max_size=8), st.lists(lines(), max_size=8), spans)
def test_days_that_follow_their_book_are_those_of_it(
    before: list[MemorySource], after: list[MemorySource], span: DaySpan
) -> None:
    book = book_of(after)
    followed, made = MemoryDays().of(book_of(before)).of(book), MemoryDays().of(book)
    assert followed.last_written == made.last_written
    assert list(followed.meeting(span)) == list(made.meeting(span))
