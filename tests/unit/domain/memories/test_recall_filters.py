"""Filters of recall and visibility between agents."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.book import EntityPage, Memory, MemorySource, book_of
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import Kind, Visibility, network_of
from memoryd.domain.memories.line import Attributes, RetainedLine
from memoryd.domain.memories.recall_filters import RecallFilters, invisible_memories, kinds_named, named_entity
from memoryd.domain.memories.times.spans import DaySpan

FIRST = date(2025, 9, 1)
days = st.integers(0, 90).map(lambda number: FIRST + timedelta(days=number))
spans = st.tuples(days, days).map(lambda pair: DaySpan(min(pair), max(pair)))
scopes = st.sampled_from(
    ["", "global", "agent:alpha", "agent:beta", "agent:alpha:cron", "agent:beta:cron", "team", "agent:"]
)
scope_admits = st.builds(
    Visibility, st.sampled_from(["alpha", "beta"]), st.sampled_from([None, "cron", "telegram"]), st.booleans()
)


@st.composite
def sources(draw: st.DrawFn) -> MemorySource:
    names = draw(st.lists(st.sampled_from(["Peter", "王芳", "Heron"]), max_size=2, unique=True))
    text = draw(st.sampled_from(["prefers tea", "moved", "door code 4172"]))
    line = RetainedLine(draw(st.sampled_from(list(Kind))), text, tuple(names), Attributes(scope=draw(scopes)))
    day = draw(days)
    path = draw(st.sampled_from([f"memory/{day}.md", "bank/world.md"]))
    return MemorySource(path, 1, 1, line, day, draw(st.none() | spans), draw(st.integers(1, 9999)))


books = st.lists(sources(), max_size=12).map(book_of)
filters = st.builds(
    RecallFilters,
    visibility=scope_admits,
    since=st.none() | days,
    until=st.none() | days,
    as_of=st.none() | days,
    known_by=st.none() | days,
    entities=st.none() | st.sampled_from([frozenset({slug_of("peter")}), frozenset({slug_of("heron")})]),
    kinds=st.none() | st.sampled_from([frozenset({Kind.OPINION, Kind.PREFERENCE}), frozenset({Kind.WORLD})]),
    scope=st.sampled_from(["", "workspace", "global", "agent:alpha"]),
    is_alone=st.booleans(),
)


@given(st.lists(sources(), max_size=12), filters)
def test_filters_admit_no_excluded_line(lines: list[MemorySource], recall: RecallFilters) -> None:
    for memory in book_of(lines).memories.values():
        for source in recall.eligible(memory):
            assert source in recall.visible_sources(memory)
            scope, event = source.line.attributes.scope, source.event or DaySpan(source.day, source.day)
            assert recall.visibility.admits(scope)
            assert recall.since is None or event.last >= recall.since
            assert recall.until is None or event.first <= recall.until
            assert recall.known_by is None or source.day <= recall.known_by
            if recall.as_of is not None and recall.known_by is not None:
                assert event.first <= recall.as_of
            elif recall.as_of is not None and source.path.startswith("memory/"):
                assert source.day <= recall.as_of
            elif recall.as_of is not None and source.event is not None:
                assert source.event.first <= recall.as_of
            assert recall.entities is None or recall.entities & set(memory.slugs)
            assert recall.kinds is None or memory.kind in recall.kinds


@given(st.lists(sources(), max_size=12), scope_admits)
def test_memories_of_other_agents_are_invisible(lines: list[MemorySource], visibility: Visibility) -> None:
    book = book_of(lines)
    invisible = invisible_memories(book, visibility)
    other = "beta" if visibility.agent == "alpha" else "alpha"
    for key, memory in book.memories.items():
        scope = memory.line.attributes.scope
        if scope.startswith(f"agent:{other}"):
            assert key in invisible
        if scope in ("", "global", f"agent:{visibility.agent}"):
            assert key not in invisible
        assert (key in invisible) == (not RecallFilters(visibility=visibility).visible_sources(memory))


@pytest.mark.parametrize(
    ("visibility", "visible"),
    [
        (Visibility("alpha"), {"", "global", "team", "agent:alpha"}),
        (Visibility("alpha", "cron"), {"", "global", "team", "agent:alpha", "agent:alpha:cron"}),
        (Visibility("alpha", is_owner=True), {"", "global", "team", "agent:alpha", "agent:alpha:cron", "crew"}),
        (Visibility("beta"), {"", "global", "team", "agent:beta"}),
    ],
)
def test_visibility_admits_scopes(visibility: Visibility, visible: set[str]) -> None:
    asked = ("", "global", "agent:alpha", "agent:alpha:cron", "agent:beta", " Agent:Beta", "team", "crew")
    assert {scope for scope in asked if visibility.admits(scope)} == visible


def memory_of(scope: str) -> Memory:
    line = RetainedLine(Kind.FACT, "stands", (), Attributes(scope=scope))
    return Memory(line.id, (MemorySource("memory/x.md", 1, 1, line, FIRST, None, 1),))


def test_scope_of_single_agent_includes_memories_without_scope() -> None:
    own = RecallFilters(visibility=Visibility("alpha"), scope="agent:alpha")
    assert own.eligible(memory_of(""))
    assert not RecallFilters(visibility=Visibility("alpha"), scope="agent:alpha", is_alone=False).eligible(
        memory_of("")
    )
    assert not RecallFilters(visibility=Visibility("alpha"), scope="workspace").eligible(memory_of("agent:alpha"))


def test_kind_filter_is_a_network_or_a_kind() -> None:
    assert kinds_named("Opinion") == frozenset(kind for kind in Kind if network_of(kind).value == "opinion")
    assert kinds_named("preference") == frozenset({Kind.PREFERENCE})
    assert kinds_named("nonsense") is None


def test_entity_filter_accepts_any_name() -> None:
    book = book_of([], [EntityPage("bank/entities/the-castle.md", "the-castle", ("城堡",))])
    assert named_entity(book, "城堡") == named_entity(book, "@The-Castle") == {slug_of("the-castle"), slug_of("城堡")}
