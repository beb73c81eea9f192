"""What an import reads from the files of other programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from memoryd.cli.importing import files
from memoryd.cli.importing.lines import ImportLine
from memoryd.cli.importing.sources import entries
from memoryd.errors import InvalidRequest


def read(path: Path, source: str) -> dict[str, ImportLine]:
    """Return what a source gives, by its place."""
    return {line.where: line for line in entries(path, of=source)}


def write_projects(folder: Path, *projects: dict[str, Any]) -> Path:
    (folder / "projects.json").write_text(json.dumps(projects))
    return folder


def test_private_document_of_claude_stays_private(tmp_path: Path) -> None:
    private = {"filename": "a.md", "content": "---\nmemory: false\n---\nThe gazpacho plan"}
    lines = read(write_projects(tmp_path, {"uuid": "p", "name": "soup", "docs": [private]}), "claude")
    assert [line.trouble for line in lines.values()] == ["its front matter keeps it private"]


def test_projects_and_documents_of_the_same_name_are_all_imported(tmp_path: Path) -> None:
    docs = [{"uuid": f"{name}-0000-0000", "filename": "Plan.md", "content": name} for name in ("aaaaaaaa", "bbbbbbbb")]
    projects = [{"uuid": f"{name}-0000", "name": "Soup", "docs": docs} for name in ("11111111", "22222222")]
    lines = read(write_projects(tmp_path, *projects), "claude").values()
    assert [line.note and line.note["path"].removeprefix("memory/imported/claude/projects/") for line in lines] == [
        "Soup/Plan.md",
        "Soup/Plan bbbbbbbb.md",
        "Soup 22222222/Plan.md",
        "Soup 22222222/Plan bbbbbbbb.md",
    ]


def test_pages_of_claude_have_distinct_paths(tmp_path: Path) -> None:
    docs = [{"uuid": f"aaaaaaaa-{number}", "filename": "Plan.md", "content": f"plan {number}"} for number in range(4)]
    write_projects(tmp_path, {"uuid": "p", "name": "Soup", "docs": docs})
    remembered = [{"conversations_memory": f"The harbour {number}"} for number in range(3)]
    (tmp_path / "memories.json").write_text(json.dumps(remembered))
    paths = [line.note and line.note["path"] for line in read(tmp_path, "claude").values()]
    assert len(set(paths)) == len(paths) == 7


def test_ignored_files_of_a_workspace_are_not_imported(tmp_path: Path) -> None:
    for name in ("memory/private/diary.md", "memory/day.md", "memory/old/Plan.md", "memory/old/new.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".memoryignore").write_text("memory/private/\n")
    (tmp_path / "memory" / "old" / ".memoryignore").write_text("Plan.md\n")
    for source in ("openclaw", "obsidian"):
        troubles = {where: line.trouble for where, line in read(tmp_path, source).items()}
        private = ".memoryignore there keeps it private"
        assert troubles == {
            "memory/private/diary.md": private,
            "memory/day.md": "",
            "memory/old/Plan.md": private,
            "memory/old/new.md": "",
        }
    (tmp_path / ".memoryignore").write_text("memory/[private/\n")
    with pytest.raises(InvalidRequest, match="memoryignore: line 1"):
        read(tmp_path, "obsidian")


def test_broken_entry_of_a_json_file_does_not_affect_the_others(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_bytes(
        b'[{"memory": "half \\ud83d", "score": NaN}, {"memory": "\xff"}, 7, {"memory": "whole \xc3\xa9"},'
        b' {"memory": "no time", "created_at": NaN}, {"memory": "cut'
    )
    lines = list(entries(path, of="mem0"))
    assert [line.memory and line.memory["text"] for line in lines] == ["half ?", None, None, "whole é", None, None]
    assert [line.where for line in lines[:2]] == ["mem0.json, entry 1", "mem0.json, entry 2"]
    for line, reason in zip(
        (lines[1], lines[2], *lines[4:]),
        ("it is no such entry", "it is no such entry", "its time cannot be read", "it is no JSON, from there on"),
        strict=True,
    ):
        assert line.trouble.startswith(reason)
    path.write_bytes(b'{"vectors": [1, 2], "results": [{"memory": "a"}, {"memory": "b"}]} {}')
    lines = list(entries(path, of="mem0"))
    assert [line.where for line in lines] == ["mem0.json, results 1", "mem0.json, results 2", "mem0.json"]


def test_reading_stops_at_the_maximum_of_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ENTRIES_MAX", 3)
    (tmp_path / "mem0.json").write_text("[{}, {}, {}, {}, {}]")
    *_, last = entries(tmp_path / "mem0.json", of="mem0")
    assert (last.number, last.trouble) == (4, "it has more than 3 entries: the rest is left out")
