"""`make month` as a developer runs it: two short days of three persons, and their protocol."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bench.month import playing
from bench.month.__main__ import main
from bench.month.days import LANGUAGES
from bench.month.playing import TIDIED, clock_library


def has_clock() -> bool:
    """Tell whether libfaketime is available."""
    try:
        return bool(clock_library())
    except click.UsageError:
        return False


@pytest.mark.torture
@pytest.mark.skipif(not has_clock(), reason="libfaketime is not installed")
def test_month_is_played_by_day_and_summarized(tmp_path: Path) -> None:
    protocol = tmp_path / "month.jsonl"
    played = CliRunner().invoke(main, ["--days", "2", "--messages", "5", "--protocol", str(protocol)])
    assert played.exit_code == 0, played.output
    rows = [json.loads(line) for line in protocol.read_text().splitlines()]
    days = {(row["day"], row["person"]): 0 for row in rows}
    assert days.keys() == {(day, person) for day in ("2026-11-24", "2026-11-25") for person in LANGUAGES}
    assert sum(row["kind"] != TIDIED for row in rows) == 5 * len(days)
    items = [item for row in rows for item in row.get("items", ())]
    assert items
    assert all(item["text"] for item in items)
    # what was stated on the first day is in its log, with the simulated date
    stated = [row["text"] for row in rows if row["kind"] == "fact"]
    new = [text for row in rows if row["kind"] == TIDIED and row["day"] == "2026-11-24" for text in row["new"]]
    assert any(text.rpartition(": ")[2] in new for text in stated)
    read = CliRunner().invoke(main, ["--read", "--sample", "3", "--protocol", str(protocol)])
    assert read.stdout.count("told: ") == min(3, len(items))


def test_month_is_refused_without_libfaketime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "LIBRARIES", ())
    refused = CliRunner().invoke(main, ["--protocol", str(tmp_path / "month.jsonl")])
    assert refused.exit_code == 2
    assert "apt-get install faketime" in refused.output
    assert not list(tmp_path.iterdir())
