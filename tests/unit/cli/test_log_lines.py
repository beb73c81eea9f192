"""Lines of the log as a person asks for them and sees them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memoryd.cli.local.logs import LogFilter, log_line, shown_line, since_time

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)


def said(level: str = "info", **fields: object) -> str:
    return json.dumps({"event": "ready", "level": level, "timestamp": "2026-11-20T08:00:00.5Z", **fields})


def test_event_is_shown_with_its_details_and_stack() -> None:
    shown = shown_line(log_line(said("error", path="/a b", count=3, exception="Traceback\n  boom")))
    assert "error" in shown
    assert 'ready  path="/a b" count=3' in shown
    assert shown.endswith("\n    Traceback\n      boom")


def test_what_is_no_event_is_shown_as_it_is_without_control_characters() -> None:
    assert shown_line(log_line("Thread 0x1 (most recent call first):\x1b[2J")).startswith("Thread 0x1")
    assert "\x1b" not in shown_line(log_line("\x1b[2J"))
    assert "\x1b" not in shown_line(log_line(said(path="\x1b[2J")))


@pytest.mark.parametrize("text", ["", "{", "[1]", '"text"', "null", '{"no": "event"}', "[" * 100_000])
def test_no_line_is_too_odd(text: str) -> None:
    assert log_line(text).fields == {}


def test_level_and_time_choose() -> None:
    line = log_line(said())
    assert LogFilter(("info",)).takes(line)
    assert not LogFilter(("warning", "error")).takes(line)
    assert LogFilter(("info",), NOW - timedelta(hours=1)).takes(line)
    assert not LogFilter(("info",), NOW).takes(line)
    assert LogFilter(("error",)).takes(log_line("a stack")), "it belongs to an error"
    assert not LogFilter(("error",), NOW).takes(log_line("a stack")), "nobody knows when it was said"


def test_time_is_as_long_ago_or_of_the_local_clock() -> None:
    assert since_time(None, NOW) is None
    assert since_time("1h30m", NOW) == NOW - timedelta(minutes=90)
    assert since_time("2026-11-20 08:30", NOW) == datetime(2026, 11, 20, 8, 30).astimezone()
    with pytest.raises(ValueError, match="soon"):
        since_time("soon", NOW)
