from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.selection import Decay, age_in_days, decay_day, decay_factor, decay_of

DAY_NS = 86_400 * 1_000_000_000
SAVED = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()) * 1_000_000_000


@given(st.floats(-1e6, 1e6), st.floats(-1e3, 1e6) | st.just(float("nan")))
def test_factor_stays_between_0_and_1(age: float, half_life: float) -> None:
    assert 0 <= decay_factor(age, half_life) <= 1


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0.1, 1e4))
def test_older_document_never_gets_higher_factor(first: float, second: float, half_life: float) -> None:
    young, old = sorted((first, second))
    assert decay_factor(old, half_life) <= decay_factor(young, half_life)


@pytest.mark.parametrize(
    ("path", "source", "day"),
    [
        ("memory/2026-10-18.md", "memory", date(2026, 10, 18)),
        ("memory/trips/2026-10-18-north.md", "memory", date(2026, 10, 18)),
        ("../team/2026-10-18.md", "memory", date(2026, 10, 18)),
        ("memory/network.md", "memory", None),
        ("MEMORY.md", "memory", None),
        ("memory.md", "memory", None),
        ("SOUL.md", "memory", None),
        ("bank/2026-10-18.md", "memory", None),
        ("bank/entities/2026-10-18.md", "memory", None),
        ("../team/guide.md", "memory", None),
        ("sessions/main/abc.jsonl", "sessions", date(2026, 3, 1)),
        ("sessions/main/2026-10-18.jsonl", "sessions", date(2026, 3, 1)),
    ],
)
def test_only_dated_notes_and_transcripts_have_a_decay_day(path: str, source: str, day: date | None) -> None:
    assert decay_day(path, source, SAVED) == day


def test_day_of_transcript_is_in_time_zone_of_owner() -> None:
    west = timezone(timedelta(hours=-5))
    assert decay_day("sessions/abc.md", "sessions", SAVED, west) == date(2026, 2, 28)


def test_future_and_undated_documents_have_age_zero() -> None:
    assert age_in_days(date(2026, 10, 19), date(2026, 10, 18)) == 0
    assert age_in_days(None, date(2026, 10, 18)) == 0
    assert age_in_days(date(2026, 10, 1), date(2026, 10, 18)) == 17


def test_decay_counts_days_in_time_zone_of_caller() -> None:
    now = datetime(2026, 10, 19, 1, tzinfo=UTC)
    west = now.astimezone(timezone(timedelta(hours=-5)))
    assert decay_of("memory/2026-10-18.md", "memory", SAVED, half_life_days=1, now=now) == Decay(0.5, 1)
    assert decay_of("memory/2026-10-18.md", "memory", SAVED, half_life_days=1, now=west) == Decay(1.0, 0)
    assert decay_of("bank/world.md", "memory", SAVED, half_life_days=1, now=now) == Decay(1.0, None)
