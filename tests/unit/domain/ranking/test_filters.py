import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.filters import Filters, date_in_name, document_span, parse_instant

NOW = datetime(2026, 10, 18, 12, tzinfo=UTC)
CHINA, NEW_YORK = timezone(timedelta(hours=8)), timezone(timedelta(hours=-5))
NS = 1_000_000_000
PATHS = st.lists(st.sampled_from(["memory", "bank", "日记", "a b", "[x]", "c#"]), min_size=1, max_size=4).map("/".join)


def at(moment: datetime) -> int:
    return int(moment.timestamp()) * NS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12h", NOW - timedelta(hours=12)),
        ("30d", NOW - timedelta(days=30)),
        ("2w", NOW - timedelta(days=14)),
        ("2026-10-01", datetime(2026, 10, 1, tzinfo=UTC)),
        ("2026-10-01T08:30", datetime(2026, 10, 1, 8, 30, tzinfo=UTC)),
        ("2026-10-01T08:30:00+08:00", datetime(2026, 10, 1, 8, 30, tzinfo=CHINA)),
        (" 2026-10-01 ", datetime(2026, 10, 1, tzinfo=UTC)),
    ],
)
def test_instant_parses(text: str, expected: datetime) -> None:
    assert parse_instant(text, NOW) == expected


def test_date_as_end_means_its_last_instant() -> None:
    end = parse_instant("2026-10-01", NOW, is_end=True)
    assert end.date() == NOW.replace(month=10, day=1).date()
    assert end + timedelta(seconds=1) >= datetime(2026, 10, 2, tzinfo=UTC)
    assert parse_instant("20261001", NOW, is_end=True) == end


@pytest.mark.parametrize("text", ["", "yesterday", "30", "d30", "2026-13-01", "99999999d", "1.5d", "99999y"])
def test_invalid_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_instant(text, NOW)


@given(st.text(max_size=30))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse_instant(text, NOW).tzinfo is not None


@given(path=PATHS, source=st.sampled_from(["memory", "sessions"]), mtime_ns=st.integers(-(2**63), 2**63 - 1))
def test_empty_filter_admits_everything(path: str, source: str, mtime_ns: int) -> None:
    assert Filters().is_empty
    assert Filters().admits(path, source, mtime_ns)


@given(path=PATHS, mtime_ns=st.integers(-(2**63), 2**63 - 1))
def test_any_file_time_can_be_compared(path: str, mtime_ns: int) -> None:
    early, late = (
        Filters(until=NOW).admits(path, "memory", mtime_ns),
        Filters(since=NOW).admits(path, "memory", mtime_ns),
    )
    assert early or late


@given(PATHS)
def test_folder_admits_documents_in_it(path: str) -> None:
    for folder in (path, f"{path}/"):
        assert Filters(paths=(folder,)).admits(f"{path}/note.md", "memory", 0)
        assert not Filters(paths=(folder,)).admits(f"{path}.md", "memory", 0) or "[" in folder


@pytest.mark.parametrize(
    ("pattern", "path", "is_admitted"),
    [
        ("memory/2026-*", "memory/2026-10-18.md", True),
        ("memory/2026-*", "bank/2026-10-18.md", False),
        ("*.md", "memory/a.md", True),
        ("MEMORY.md", "MEMORY.md", True),
        ("memory", "memory-old/a.md", False),
        ("memory/[a]*", "memory/a.md", True),
        ("memory/[a]", "memory/[a]/x.md", True),
    ],
)
def test_path_filter_is_glob_document_or_folder(pattern: str, path: str, is_admitted: bool) -> None:
    assert Filters(paths=(pattern,)).admits(path, "memory", 0) == is_admitted


def test_document_must_pass_all_filters() -> None:
    filters = Filters(sources=("memory",), paths=("bank",), since=NOW)
    assert filters.admits("bank/a.md", "memory", at(NOW))
    assert not filters.admits("bank/a.md", "sessions", at(NOW))
    assert not filters.admits("memory/a.md", "memory", at(NOW))
    assert not filters.admits("bank/a.md", "memory", at(NOW) - NS)


def test_date_in_name_takes_precedence_over_change_time() -> None:
    name, much_later = "memory/2026-10-18-trip.md", at(datetime(2030, 1, 1, tzinfo=UTC))
    assert Filters(until=parse_instant("2026-10-18", NOW, is_end=True)).admits(name, "memory", much_later)
    assert not Filters(since=parse_instant("2026-10-19", NOW)).admits(name, "memory", much_later)


@pytest.mark.parametrize("zone", [CHINA, NEW_YORK, UTC])
def test_day_is_in_time_zone_of_caller(zone: timezone) -> None:
    now = NOW.astimezone(zone)
    filters = Filters(
        since=parse_instant("2026-10-18", now), until=parse_instant("2026-10-18", now, is_end=True), zone=zone
    )
    admitted = [day for day in range(16, 21) if filters.admits(f"memory/2026-10-{day}.md", "memory", 0)]
    assert admitted == [18]


@pytest.mark.parametrize(
    "path", ["memory/2026-02-30.md", "memory/12026-10-18.md", "memory/a-2026-10-18.md", "2026-10-18/a.md"]
)
def test_name_without_valid_date_at_start_has_no_date(path: str) -> None:
    assert date_in_name(path) is None


def test_span_of_a_dated_document_is_its_day() -> None:
    first, last = document_span("memory/2026-10-18.md", 0, UTC)
    assert first == datetime(2026, 10, 18, tzinfo=UTC)
    assert last - first > timedelta(hours=23, minutes=59)
