"""Relative paths of the file start at the folder of the file, not at whatever folder the daemon was started in."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoryd.config.loading.raw import Raw
from memoryd.config.paths import expand

ANCHORED: Final = (
    ("workspace",),
    ("memory", "embedder", "local", "model_dir"),
    ("memorySearch", "local", "modelPath"),
    ("memorySearch", "local", "modelCacheDir"),
    ("memorySearch", "store", "vector", "extensionPath"),
)
"""The others are relative to the workspace: `extraPaths`, `exclude`, `store.path`."""

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""`hf:`, `https:` and `pypi:` name a model, not a file."""


def anchor(raw: Raw, folder: Path) -> None:
    """Make the paths of agents absolute, and `~` with them; values of a wrong type are left for validation."""
    for agent in _agents(raw):
        for *above, name in ANCHORED:
            holder: object = agent
            for part in above:
                holder = holder.get(part) if isinstance(holder, dict) else None
            if isinstance(holder, dict):
                _anchor_value(holder, name, folder)
        for socket in _dicts_in(agent, "sockets"):
            _anchor_value(socket, "path", folder)


def _dicts_in(holder: object, name: str) -> list[Raw]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _anchor_value(holder: Raw, name: str, folder: Path) -> None:
    text = holder.get(name)
    if isinstance(text, str) and text.strip() and not SCHEME.match(text):
        holder[name] = str(expand(text, folder))


def _agents(raw: Raw) -> Iterator[object]:
    agents = raw.get("agents")
    if isinstance(agents, dict):
        yield agents.get("defaults")
        entries = agents.get("list")
        yield from entries if isinstance(entries, list) else ()
