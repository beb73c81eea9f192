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
    ("memorySearch", "query", "rerank", "modelPath"),
    ("memorySearch", "store", "vector", "extensionPath"),
)
"""The others are relative to the workspace: `extraPaths`, `exclude`, `store.path`."""

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""`hf:`, `https:` and `pypi:` name a model, not a file."""


def anchor(raw: Raw, folder: Path) -> None:
    """Make the paths of agents, transcripts, the text model and the token file absolute, and `~` with them.

    Values of a wrong type are left for validation.
    """
    for folder_of_transcripts in _transcript_folders(raw):
        _anchor_value(folder_of_transcripts, "path", folder)
    if isinstance(exports := _at(raw, "memory", "qmd", "sessions"), dict):
        _anchor_value(exports, "exportDir", folder)
    if isinstance(http := raw.get("http"), dict):
        _anchor_value(http, "tokenFile", folder)
    text_model = _at(raw, "memory", "llm")
    # what an endpoint calls its model is no path
    if isinstance(text_model, dict) and text_model.get("provider") == "local":
        _anchor_value(text_model, "model", folder)
    for agent in _agents(raw):
        for *above, name in ANCHORED:
            if isinstance(holder := _at(agent, *above), dict):
                _anchor_value(holder, name, folder)
        sockets = agent.get("sockets") if isinstance(agent, dict) else None
        for socket in sockets if isinstance(sockets, list) else ():
            if isinstance(socket, dict):
                _anchor_value(socket, "path", folder)


def _transcript_folders(raw: Raw) -> Iterator[Raw]:
    folders = _at(raw, "memory", "sessions", "folders")
    yield from (one for one in folders if isinstance(one, dict)) if isinstance(folders, list) else ()


def _at(holder: object, *path: str) -> object:
    """Return what stands at a path, None if nothing does."""
    for part in path:
        holder = holder.get(part) if isinstance(holder, dict) else None
    return holder


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
