"""File names, times, formats, records and tails of transcripts."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.openclaw import generated_sessions
from memoryd.domain.sessions.transcripts.reading import (
    START,
    Tail,
    read_tail,
    recognise_format,
    record_of,
    written_tail,
)
from memoryd.domain.sessions.transcripts.records import (
    LeftOut,
    TranscriptFormat,
    as_instant,
    is_transcript_name,
    plausible_time,
)

CHECKPOINT = "s.checkpoint.01234567-89ab-4cde-8f01-23456789abcd.jsonl"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s.jsonl", True),
        ("a b ü.jsonl", True),
        ("s.jsonl.reset.2026-01-01T00-00-00.000Z", True),
        ("s.jsonl.deleted.2026-01-01T00-00-00Z", True),
        ("s.checkpoint.mine.jsonl", True),
        ("s.jsonl.bak.2026-01-01T00-00-00.000Z", False),
        ("s.jsonl.reset.now", False),
        (".jsonl.reset.2026-01-01T00-00-00Z", False),
        ("s.trajectory.jsonl", False),
        (CHECKPOINT, False),
        (CHECKPOINT.upper().replace("JSONL", "jsonl"), False),
        (".s.jsonl", False),
        (".jsonl", False),
        ("s.jsonl~", False),
        ("s.jsonl.tmp", False),
        ("sessions.json", False),
        ("s.JSONL", False),
    ],
)
def test_transcript_name_is_recognised(name: str, expected: bool) -> None:
    assert is_transcript_name(name) is expected


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-01-02T03:04:05.678Z", datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)),
        ("2026-01-02T03:04:05+08:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=8)))),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1_700_000_000.5, datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        (1_700_000_000_500, datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        ("1999-12-31T23:59:59Z", None),
        ("2000-01-01T00:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
        ("2261-12-31T23:59:59Z", datetime(2261, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2262-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_instant_parses(value: object, instant: datetime | None) -> None:
    assert as_instant(value) == instant


@pytest.mark.parametrize(
    "value", ["", "once", 0, -1, True, None, [], float("nan"), float("inf"), 9e15, 10**400, "2026-13-01T00:00:00Z"]
)
def test_invalid_instant_is_none(value: object) -> None:
    assert as_instant(value) is None


@pytest.mark.parametrize(("ahead", "is_believed"), [(-9999, True), (0, True), (23, True), (25, False), (9999, False)])
def test_time_more_than_a_day_ahead_is_none(ahead: int, is_believed: bool) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert plausible_time(now + timedelta(hours=ahead), now) == (now + timedelta(hours=ahead) if is_believed else None)
    assert plausible_time(None, now) is None


OPENCLAW, CLAUDE = TranscriptFormat.OPENCLAW, TranscriptFormat.CLAUDE_CODE


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"type": "session", "version": 3, "id": "x"}, OPENCLAW),
        ({"type": "message", "message": {"role": "toolResult"}}, OPENCLAW),
        ({"type": "user", "message": {"content": "x"}}, CLAUDE),
        ({"type": "assistant", "message": {"role": "assistant", "content": []}}, CLAUDE),
        ({"type": "summary", "leafUuid": "x"}, CLAUDE),
        ({"type": "file-history-snapshot", "messageId": "x"}, CLAUDE),
        ({"type": "system", "isSidechain": False, "sessionId": "x"}, CLAUDE),
        ({"type": "session", "id": "x"}, None),
        ({"type": "session_meta", "payload": {}}, None),
        ({"type": "message", "role": "user", "content": "x"}, None),
        ({"type": "user", "content": "x"}, None),
        ({"type": "summary"}, None),
        ({"type": ["user"]}, None),
        ({}, None),
    ],
)
def test_format_is_recognised(record: dict[str, Any], expected: TranscriptFormat | None) -> None:
    assert recognise_format([LeftOut.UNREADABLE, {"type": "custom"}, record]) is expected


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (b'{"a": 1}\r\n', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}\n', {"a": 1}),
        (b'\0\0\0{"a": 1}\n', {"a": 1}),
        (b'{"a": "\xff"}\n', {"a": "\ufffd"}),
        (b"\r\n", LeftOut.NO_MESSAGE),
        (b"\0\0\n", LeftOut.NO_MESSAGE),
        (b'{"a": \n', LeftOut.UNREADABLE),
        (b"[1]\n", LeftOut.UNREADABLE),
        (b"[" * 100_000, LeftOut.UNREADABLE),
        (b'{"a":' * 100_000, LeftOut.UNREADABLE),
        (b"1" * 100_000, LeftOut.UNREADABLE),
        ('{"a": "\u2028"}'.encode("utf-16"), LeftOut.UNREADABLE),
    ],
)
def test_line_becomes_a_record(line: bytes, record: object) -> None:
    assert record_of(line) == record


def test_generated_sessions_are_found_in_session_list() -> None:
    document = {
        "agent:main:main": {"sessionId": "said"},
        "agent:main:cron:42:run:7": {"sessionId": "timer", "sessionFile": "/x/sessions/other.jsonl"},
        "agent:main:subagent:1": {"sessionId": "child", "spawnedBy": "agent:main:cron:42:run:7"},
        "agent:main:dreaming-narrative-1": {"sessionId": 7},
        "agent:main:cron:1:run:1": None,
    }
    assert generated_sessions(json.loads(json.dumps(document))) == {"timer", "other", "child"}
    assert generated_sessions([]) == frozenset()


def test_tail_round_trips() -> None:
    tail = Tail(FileStat(1, 2, 3, -4, 5), 6, 7, b"\0\xff", b"x" * 32, OPENCLAW, is_generated=True)
    assert read_tail(written_tail(tail)) == tail
    assert read_tail(written_tail(START)) == START
    for damaged in ("", "{", "[]", "null", "7", written_tail(tail).replace("openclaw", "other"), "[[1],[2],[3]]"):
        assert read_tail(damaged) == START
