"""Names of sessions: safe file names on every file system, and unique."""

import unicodedata
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.names import MAX_BYTES, belongs, is_over, safe_id, session_id

DAY = date(2026, 1, 30)
NOW = datetime(2026, 1, 30, 18, tzinfo=UTC)
RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{digit}" for name in ("com", "lpt") for digit in "0123456789¹²³")}
HOSTILE = (
    "../../etc/passwd",
    "a/b",
    "a\\b",
    ".",
    "..",
    "",
    " ",
    ".hidden",
    "con",
    "NUL",
    "com1",
    "x" * 400,
    "汉" * 300,
)
NAMES = st.text() | st.sampled_from(HOSTILE) | st.from_regex(r"agent:[a-z]{1,3}:(discord|cron):(dm|group):\w{0,9}")


def first_id(key: str) -> str:
    return session_id(key, DAY, lambda _: True)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("agent:main:discord:channel:常规", "discord-常规-20260130"),
        ("agent:main:telegram:dm:42", "telegram-42-20260130"),
        ("telegram:direct:42", "telegram-42-20260130"),
        ("agent:main:main", "main-20260130"),
        ("agent:main:cron:backup", "cron-backup-20260130"),
    ],
)
def test_name_has_channel_peer_and_day(key: str, name: str) -> None:
    assert first_id(key) == name


def test_keys_that_differ_in_punctuation_or_case_have_different_names() -> None:
    keys = ["d:group:a.b", "d:group:a-b", "d:group:A-B", "d:group:a/b", "d:group:ａ-b", "d:a-b:", "d:group:a--b"]
    names = [first_id(key) for key in keys]
    assert len({name.lower() for name in names}) >= len(keys) - 1
    assert first_id("d:group:a-b") == "d-a-b-20260130"


def test_duplicate_name_gets_a_number() -> None:
    taken = {"main-20260130", "main-20260130-2"}
    assert session_id("agent:main:main", DAY, lambda name: name not in taken) == "main-20260130-3"


@given(NAMES)
def test_name_is_safe_for_every_file_system(name: str) -> None:
    found = safe_id(name)
    assert 0 < len(found.encode()) <= MAX_BYTES
    assert all(char in "_-" or unicodedata.category(char)[0] in "LNM" for char in found)
    assert found == found.lower() == unicodedata.normalize("NFC", found)
    assert found not in RESERVED
    assert not found.startswith((".", "-"))
    assert safe_id(found) == found == safe_id(name)
    assert safe_id(first_id(name)) == first_id(name)


@given(st.lists(NAMES, max_size=6, unique=True))
def test_two_keys_never_share_a_session(keys: list[str]) -> None:
    taken: set[SessionId] = set()
    for key in keys:
        taken.add(session_id(key, DAY, lambda name: name not in taken))
    assert len(taken) == len(keys)


def test_session_ends_after_six_idle_hours() -> None:
    assert not is_over(NOW, NOW + timedelta(hours=6, seconds=-1))
    assert is_over(NOW, NOW + timedelta(hours=6))
    assert not is_over(NOW, NOW - timedelta(days=1))


def test_late_message_belongs_to_session_within_six_idle_hours() -> None:
    begun, last = NOW, NOW + timedelta(hours=2)
    assert [belongs(begun, last, begun + timedelta(hours=hours)) for hours in (-6, -5, 1, 7, 8)] == [
        False,
        True,
        True,
        True,
        False,
    ]
