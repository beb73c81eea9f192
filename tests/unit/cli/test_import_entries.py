"""What an import reads of the files of other programs, before anything is sent."""

import json
from pathlib import Path
from typing import Any

from memoryd.cli.importing.lines import ImportLine
from memoryd.cli.importing.sources import entries


def read(path: Path, source: str) -> dict[str, ImportLine]:
    """Return what a source gives, by its place."""
    return {line.where: line for line in entries(path, of=source)}


def write_projects(folder: Path, *projects: dict[str, Any]) -> Path:
    (folder / "projects.json").write_text(json.dumps(projects))
    return folder


def test_private_document_of_claude_stays_private(tmp_path: Path) -> None:
    private = {"filename": "a.md", "content": "---\nmemory: false\n---\nThe gazpacho plan"}
    lines = read(write_projects(tmp_path, {"uuid": "p", "name": "soup", "docs": [private]}), "claude")
    assert [line.trouble for line in lines.values()] == ["its front matter says memory: false"]
