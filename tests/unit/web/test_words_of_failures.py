"""Errors on a page say what a person can do, without commands, calls and folders, in local time."""

import time

import pytest

from memoryd.errors import Denied, NotFound, NotNow
from memoryd.web.site import _explain


def test_hints_for_programs_become_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for hint in (
        "GET /v1/told lists what was",
        "memoryctl disagreements lists all of them",
        "ask on the owner's socket",
    ):
        explained = _explain(NotFound("there is none in /home/ann/notes/a.md", hint=hint))
        assert explained["message"] == "There is none in …/a.md."
        assert explained["hint"] == "It may have been changed, moved or forgotten: search for it again."
    kept = _explain(Denied("nothing is written", hint="set memory.readOnly: false"))
    assert kept["hint"] == "Set memory.readOnly: false."
    assert _explain(NotNow("not now"))["hint"].startswith("Try again")


def test_times_are_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        explained = _explain(NotNow("away since 2026-11-28T20:15:30.5Z, it seems"))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert explained["message"] == "Away since 2026-11-29 05:15, it seems."
