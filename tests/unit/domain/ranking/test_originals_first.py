"""Hits of a conflict copy are moved behind those of its original; the order of others is kept."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import is_conflict_copy, original_of
from memoryd.domain.ranking.selection import COPY_WEIGHT, Decay, decay_day, originals_first

COPY = "memory/{}.sync-conflict-20260101-120000-ABCDEFG.md"
PATHS = st.sampled_from([f"memory/{one}.md" for one in "abc"] + [COPY.format(one) for one in "abc"])


@given(st.lists(PATHS))
def test_copy_never_precedes_its_original(paths: list[str]) -> None:
    numbered = list(enumerate(paths))
    order = originals_first(numbered, lambda item: item[1])
    assert sorted(order) == numbered
    found = [path for _, path in order]
    for at, path in enumerate(found):
        if is_conflict_copy(path):
            assert original_of(path) not in found[at:]
    originals = [item for item in numbered if not is_conflict_copy(item[1])]
    assert [item for item in order if not is_conflict_copy(item[1])] == originals


def test_copy_is_moved_no_further_than_needed() -> None:
    order = [COPY.format("a"), COPY.format("b"), "memory/a.md", "memory/c.md"]
    assert originals_first(order, str) == [COPY.format("b"), "memory/a.md", COPY.format("a"), "memory/c.md"]


def test_copy_counts_half_and_ages_like_its_original() -> None:
    assert Decay(is_copy=True).factor == COPY_WEIGHT == 0.5
    assert decay_day("MEMORY (conflicted copy 2026-11-02 120000).md", "memory", 0) is None
    day = decay_day("memory/2026-11-02 (conflicted copy 2026-11-05 120000).md", "memory", 0)
    assert day == datetime(2026, 11, 2, tzinfo=UTC).date()
