"""memoryctl doctor on memories: malformed lines are listed, without a daemon."""

import json
from pathlib import Path

import pytest

from memoryd.cli.main import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workspace = tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "bank").mkdir()
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(workspace)}}}))
    monkeypatch.setenv("MEMORYD_CONFIG", str(config))
    return workspace


def memory_checks(capsys: Captured) -> list[tuple[str, str]]:
    run(["doctor", "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    return [(check["state"], check["message"]) for check in checks if check["part"] == "memories of main"]


def test_malformed_lines_are_listed_with_line_numbers(notes: Path, capsys: Captured) -> None:
    log = "- 0(c=.9): of no section\n\n## Retain\n- W @Peter: in Marrakech\n- 0(c=.9) @Peter: likes tea\n- prose\n"
    (notes / "memory" / "2025-11-27.md").write_text(log)
    (notes / "memory" / "trip.md").write_text("## Retain\n- 0(c=.9): no log of a day\n")
    (notes / "bank" / "world.md").write_text("- the sea is salty\n<!-- memoryd:begin -->\n")
    assert memory_checks(capsys) == [
        ("ok", "2 lines state a memory"),
        (
            "look",
            "bank/world.md#L2: <!-- memoryd:begin --> is not closed; "
            "put <!-- memoryd:end --> after the generated text, or remove it",
        ),
        ("look", "memory/2025-11-27.md#L5: did you mean O?: 0(c=.9) @Peter: likes tea"),
    ]


def test_private_and_unreadable_notes_are_skipped(notes: Path, capsys: Captured) -> None:
    (notes / "memory" / "2025-11-27.md").write_text("---\nmemory: false\n---\n## Retain\n- 0(c=.9): secret\n")
    (notes / "memory" / "2025-11-28.md").write_bytes(b"\x00" * 40)
    assert memory_checks(capsys) == [("ok", "0 lines state a memory")]


def test_many_malformed_lines_are_counted(notes: Path, capsys: Captured) -> None:
    (notes / "memory" / "2025-11-27.md").write_text("## Retain\n- W: x\n" + "- 0: x\n" * 25)
    found = memory_checks(capsys)
    assert found[0] == ("ok", "1 line states a memory")
    assert len(found) == 12
    assert found[-1] == ("look", "15 more lines like these")
    run(["doctor"])
    assert "look" in capsys.readouterr().out
