"""How `memoryctl logs` filters and shows lines."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memoryd.cli.local.logs import LogFilter, log_line, shown_line, since_time

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


def event_line(level: str = "info", **fields: object) -> str:
    return json.dumps({"event": "ready", "level": level, "timestamp": "2026-11-20T08:00:00.5Z", **fields})


def test_event_is_shown_with_its_details_and_stack() -> None:
    shown = shown_line(log_line(event_line("error", path="/a b", count=3, exception="Traceback\n  boom")))
    assert "error" in shown
    assert 'ready  path="/a b" count=3' in shown
    assert shown.endswith("\n    Traceback\n      boom")


def test_other_lines_are_shown_without_control_characters() -> None:
    assert shown_line(log_line("Thread 0x1 (most recent call first):\x1b[2J")).startswith("Thread 0x1")
    assert "\x1b" not in shown_line(log_line("\x1b[2J"))
    assert "\x1b" not in shown_line(log_line(event_line(path="\x1b[2J")))


@pytest.mark.parametrize("text", ["", "{", "[1]", '"text"', "null", '{"no": "event"}', "[" * 100_000])
def test_malformed_line_has_no_fields(text: str) -> None:
    assert log_line(text).fields == {}


def test_filter_uses_level_and_time() -> None:
    line = log_line(event_line())
    assert LogFilter(("info",)).takes(line)
    assert not LogFilter(("warning", "error")).takes(line)
    assert LogFilter(("info",), NOW - timedelta(hours=1)).takes(line)
    assert not LogFilter(("info",), NOW).takes(line)
    assert LogFilter(("error",)).takes(log_line("a stack")), "it belongs to an error"
    assert not LogFilter(("error",), NOW).takes(log_line("a stack")), "its time is unknown"


def test_since_is_a_duration_or_a_local_time() -> None:
    assert since_time(None, NOW) is None
    assert since_time("1h30m", NOW) == NOW - timedelta(minutes=90)
    assert since_time("2026-11-20 08:30", NOW) == datetime(2026, 11, 20, 8, 30).astimezone()
    with pytest.raises(ValueError, match="soon"):
        since_time("soon", NOW)
