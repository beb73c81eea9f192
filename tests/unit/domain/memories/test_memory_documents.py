"""Memories as documents: lookup, filters, counts, pages and forecasts."""

from collections.abc import Sequence
from datetime import UTC, date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.book import Memory, MemorySource, newest_first
from memoryd.domain.memories.documents import (
    DecayedDocument,
    DocumentFilters,
    DocumentPage,
    MemoryDocument,
    day_start,
    days_of,
    find_memory,
    largest_losses,
    page_of,
    relevance_forecast,
    shown_scope,
    stats_of,
)
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Attributes, RetainedLine
from memoryd.domain.memories.tiers import RelevanceTerms, Tier, TierFacts, TierReason, TierSettings, terms_of

DAY = date(2026, 11, 18)
KINDS = (Kind.WORLD, Kind.FACT, Kind.PREFERENCE, Kind.LESSON)


def document(number: int, *, scope: str = "", age: float = 0.0, is_alone: bool = False) -> MemoryDocument:
    """Return a document whose properties depend on its number."""
    attributes = Attributes(scope=scope, is_pinned=number % 5 == 0, tags=("Tea",) if number % 2 else ())
    line = RetainedLine(KINDS[number % 4], f"The cup {number} is 蓝色的", ("Peter",), attributes)
    source = MemorySource("memory/2026-11-18.md", number + 1, number + 1, line, DAY - timedelta(number), None, number)
    facts = TierFacts(0.6, attributes.is_pinned, 0, age)
    return MemoryDocument(
        memory=Memory(line.id, (source,)),
        scope=shown_scope(scope, "main", is_alone=is_alone),
        created_at=0.0,
        accessed_at=0.0,
        accessed_day=DAY,
        terms=terms_of(Tier.WORKING if number % 3 else Tier.CORE, TierReason.STAYS, facts, TierSettings()),
    )


def page(documents: Sequence[MemoryDocument], memories: Sequence[Memory], filters: DocumentFilters) -> DocumentPage:
    by_id = {one.memory.id: one for one in documents}
    return page_of(memories, filters, lambda memory: by_id[memory.id], lambda memory: by_id[memory.id].terms.tier)


@given(
    count=st.integers(0, 30),
    limit=st.integers(1, 40),
    offset=st.integers(0, 40),
    tier=st.sampled_from([None, *Tier]),
    is_pinned=st.sampled_from([None, True, False]),
    kinds=st.sampled_from([None, frozenset({Kind.FACT})]),
    tag=st.sampled_from(["", "tea", "other"]),
)
def test_page_has_admitted_documents_newest_first(
    count: int,
    limit: int,
    offset: int,
    tier: Tier | None,
    is_pinned: bool | None,
    kinds: frozenset[Kind] | None,
    tag: str,
) -> None:
    documents = [document(number) for number in range(count)]
    filters = DocumentFilters(kinds=kinds, tier=tier, pinned=is_pinned, tag=tag, limit=limit, offset=offset)
    memories = [one.memory for one in documents if filters.admits(one.memory, one.scope)]
    found = page(documents, memories, filters)
    admitted = [
        one
        for one in documents
        if tier in (None, one.terms.tier)
        and is_pinned in (None, one.memory.line.attributes.is_pinned)
        and (kinds is None or one.memory.kind in kinds)
        and (not tag or tag in [each.lower() for each in one.memory.line.attributes.tags])
    ]
    assert found.total == len(admitted)
    assert list(found.documents) == admitted[offset : offset + limit]
    assert bool(found.next) == (offset + limit < len(admitted))


@given(count=st.integers(0, 30), limit=st.integers(1, 7))
def test_pages_by_cursor_contain_all_documents(count: int, limit: int) -> None:
    documents = [document(number) for number in range(count)]
    expected = sorted(one.memory.id for one in documents)
    shown: list[MemoryDocument] = []
    after = ""
    while True:
        found = page(documents, [one.memory for one in documents], DocumentFilters(limit=limit, after=after))
        shown += found.documents
        # the last document shown is deleted before the next page
        documents = [one for one in documents if one is not shown[-1]] if shown else documents
        if not (after := found.next):
            break
    assert sorted(one.memory.id for one in shown) == expected


def test_pages_skip_no_memory_beside_conflict_copies() -> None:
    copy = "memory/2026-11-18.sync-conflict-20261118-101010-ABCDEFG.md"
    documents = [document(number) for number in range(24)]
    for at, one in enumerate(documents):
        (source,) = one.memory.sources
        moved = replace(source, day=DAY, path=copy if at % 2 else source.path)
        documents[at] = replace(one, memory=replace(one.memory, sources=(moved,)))
    memories = newest_first(one.memory for one in documents)
    shown, found = list[Memory](), DocumentPage(next="")
    while not shown or found.next:
        found = page(documents, memories, DocumentFilters(limit=4, after=found.next))
        shown += [one.memory for one in found.documents]
    assert shown == list(memories)


def test_forecast_covers_a_year_and_the_day_of_leaving_the_tier() -> None:
    terms = document(1).terms

    def in_days(days: float) -> RelevanceTerms:
        tier = Tier.WORKING if days < 33 else Tier.PERIPHERAL
        return replace(terms, tier=tier, relevance=1 - days / 400)

    forecast = relevance_forecast(in_days)
    assert (len(forecast["relevance"]), forecast["relevance"][0], forecast["relevance"][2]) == (74, 1, 1 - 10 / 400)
    assert (forecast["leaves_in_days"], forecast["goes_to"]) == (33, Tier.PERIPHERAL)
    assert relevance_forecast(lambda _days: terms)["leaves_in_days"] is None


@given(st.integers(0, 30))
def test_stats_count_all_documents(count: int) -> None:
    stats = stats_of([document(number, scope="global" if number % 2 else "") for number in range(count)])
    assert stats["total"] == count
    assert {sum(stats[part].values()) for part in ("by_tier", "by_kind", "by_scope")} == {count}
    assert set(stats["by_scope"]) <= {"global", "workspace"}
    assert stats["pinned"] == len(range(0, count, 5))


@pytest.mark.parametrize(
    ("scope", "is_alone", "filters"),
    [
        ("", False, {"": True, "workspace": True, "agent:main": False, "global": False}),
        ("", True, {"": True, "workspace": True, "agent:main": True, "global": False}),
        ("global", True, {"": True, "workspace": False, "agent:main": False, "global": True}),
        ("agent:main:cron", True, {"agent:main": False, "agent:main:cron": True}),
    ],
)
def test_scope_is_filtered_as_shown(scope: str, is_alone: bool, filters: dict[str, bool]) -> None:
    one = document(1, scope=scope, is_alone=is_alone)
    assert {wanted: DocumentFilters(scope=wanted).admits(one.memory, one.scope) for wanted in filters} == filters


@pytest.mark.parametrize(
    ("query", "is_found"),
    [("cup peter", True), ("CUP  tea", True), ("蓝色", True), ("cup anna", False), ("１", True)],
)
def test_query_matches_text_entities_and_tags(query: str, is_found: bool) -> None:
    assert DocumentFilters(query=query).admits(document(1).memory, "workspace") == is_found


def test_memory_is_found_by_at_least_eight_characters() -> None:
    memories = [document(number).memory for number in range(20)]
    target = memories[7]
    for name in (target.id, target.id.upper(), f" {target.id[:8]} ", target.id[:13]):
        assert find_memory(memories, name) is target
    for name in ("", target.id[:7], "0" * 8, target.id + "0", "%", target.id[:8] + "*"):
        with pytest.raises(ValueError, match="there is no memory"):
            find_memory(memories, name)
    with pytest.raises(ValueError, match="at least 8 signs of its id"):
        find_memory(memories, target.id[:7])
    with pytest.raises(ValueError, match="beginning of 2 ids"):
        find_memory([target, target], target.id[:8])


@pytest.mark.parametrize(("text", "days"), [("90d", 90), ("12w", 84), ("6m", 180), (" 1Y ", 365), ("7", 7), ("0d", 0)])
def test_days_are_parsed(text: str, days: float) -> None:
    assert days_of(text) == days


@pytest.mark.parametrize("text", ["", "d", "-1d", "1.5d", "90 days", "999999d", "１d"])
def test_invalid_number_of_days_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no number of days"):
        days_of(text)


def test_largest_losses_are_first() -> None:
    now = [document(number) for number in range(1, 8)]
    then = [document(number, age=float(number)).terms for number in range(1, 8)]
    decayed, changing, moving = largest_losses(map(DecayedDocument, now, then), limit=4)
    assert (changing, moving) == (5, 0)
    losses = [one.loss for one in decayed]
    assert losses == sorted(losses, reverse=True)
    assert all(loss > 0 for loss in losses)
    assert len(decayed) == 4


def test_day_starts_in_zone_of_owner() -> None:
    assert day_start(date(1970, 1, 2), UTC) == 86_400
    assert day_start(date.min, None) <= 0
