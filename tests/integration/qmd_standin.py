"""The stand-in for qmd in tests: an executable in a folder, its behaviour, and its living processes."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil

from tests.integration.tiny_gguf import gguf

LEASE = {"docid": "#000000", "score": 1, "file": "qmd://memory-root-main/memory/2026-10-06.md", "line": 3}
QUESTION = "who holds the lease"
ANSWER = "memory/2026-10-06.md"

SOURCE = Path(__file__).parents[1] / "data" / "qmd" / "standin.py"


def write_embed_model(folder: Path) -> Path:
    """Write the embedding model of qmd below the home of a test."""
    model = folder / "home" / ".cache" / "qmd" / "models" / "hf_ggml-org_embeddinggemma-300M-Q8_0.gguf"
    model.parent.mkdir(parents=True)
    model.write_bytes(gguf())
    return model


class StandIn:
    """A program `qmd` in `folder` that behaves as configured, from the next run or message on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.program = folder / "qmd"
        self.program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{SOURCE}" "{folder}" "$@"\n')
        self.program.chmod(0o755)
        self._held: dict[str, object] = {}
        self.behave()

    def behave(self, **ways: object) -> None:
        """Change how commands behave; `mcp_query` stands for the tool `query` of the server."""
        self._held |= {name.replace("mcp_", "mcp "): way for name, way in ways.items()}
        fresh = self.folder / "behaviour.new"
        fresh.write_text(json.dumps(self._held))
        fresh.replace(self.folder / "behaviour.json")

    def calls(self, command: str) -> list[dict[str, object]]:
        """Return the runs of a command so far, oldest first."""
        return [call for call in self._calls() if command in call["argv"] and "mcp" not in call]

    def noted(self, what: str) -> list[Any]:
        """Return the values that the runs recorded under a name, oldest first."""
        return [call[what] for call in self._calls() if what in call]

    def _calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls.jsonl"
        written = path.read_text() if path.exists() else ""
        # the last line may be incomplete
        return [json.loads(line) for line in written.splitlines(keepends=True) if line.endswith("\n")]

    def questions(self) -> list[dict[str, object]]:
        """Return the arguments of the questions to the server, oldest first."""
        path = self.folder / "calls.jsonl"
        held = [json.loads(line) for line in path.read_text().splitlines()]
        asked = [call["mcp"]["params"] for call in held if call.get("mcp", {}).get("method") == "tools/call"]
        return [one["arguments"] for one in asked]

    def alive(self) -> list[psutil.Process]:
        """Return the living processes of every process group that a run led."""
        path = self.folder / "calls.jsonl"
        groups = {json.loads(line)["pid"] for line in path.read_text().splitlines()} if path.exists() else set()
        return [one for one in psutil.process_iter() if _is_living(one, groups)]


def _is_living(process: psutil.Process, groups: set[int]) -> bool:
    try:
        return os.getpgid(process.pid) in groups and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
