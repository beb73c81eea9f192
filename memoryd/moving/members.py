"""The names that a backup may have in it, and where each belongs. What is named otherwise belongs nowhere.

config                        the configuration
state/FOLDER/ledger.sqlite    a ledger below the state folder, and its key
ledgers/N/ledger.sqlite       a ledger elsewhere
workspaces/N/PATH             a file of a workspace: conversations, what is forgotten, and notes
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CONFIG: Final = "config"
FORGOTTEN: Final = ".memory/forgotten"
MAIN_FILE: Final = "memory/qa-index.json"
"""Made of the sessions: one of another time must not stand beside them."""
_LEDGER: Final = r"(?:[^/\x00-\x1f\x7f]{1,150}-)?ledger\.sqlite"
_LEDGER_FILE: Final = rf"(?P<file>{_LEDGER}(?:\.forgotten-key)?)"
_STATE: Final = re.compile(rf"state/(?P<folder>[a-z0-9-]{{1,60}})/{_LEDGER_FILE}\Z")
_ELSEWHERE: Final = re.compile(rf"ledgers/(?P<number>\d{{1,4}})/{_LEDGER_FILE}\Z")
_WORKSPACE: Final = re.compile(r"workspaces/(?P<number>\d{1,4})/(?P<path>[^\x00-\x1f\x7f]{1,1000})\Z")
_SESSION: Final = re.compile(r"memory/(?:sessions|archive)/[^/]+\.json\Z")
_NOTE: Final = re.compile(r"(?:(?:MEMORY|memory|SOUL)\.md|\.memoryignore|(?:memory|bank)/.+\.md)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BackupPlaces:
    """Where the parts of a backup belong on this machine; `folders` and `workspaces` are counted in its manifest."""

    config: Path
    state: Path
    folders: tuple[Path, ...]
    workspaces: tuple[Path, ...]


def place_of(name: str, places: BackupPlaces) -> Path | None:
    """Return where what has this name belongs, None if it belongs nowhere."""
    if name == CONFIG:
        return places.config
    if found := _STATE.match(name):
        return places.state / "workspaces" / found["folder"] / found["file"]
    if found := _ELSEWHERE.match(name):
        folder = _numbered(places.folders, found["number"])
        return folder / found["file"] if folder else None
    if found := _WORKSPACE.match(name):
        workspace = _numbered(places.workspaces, found["number"])
        return workspace / found["path"] if workspace and may_be_kept(found["path"]) else None
    return None


def may_be_kept(path: str) -> bool:
    """Tell whether a path below a workspace, with `/`, names a conversation, what is forgotten, or a note."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or any(part.startswith(".") for part in parts[1:]):
        return False
    if any("\ud800" <= sign <= "\udfff" for sign in path):
        # no text: it could not stand in the manifest
        return False
    return path == FORGOTTEN or is_conversation_file(path) or is_note_file(path)


def is_conversation_file(path: str) -> bool:
    """Tell whether a file of a workspace holds questions and answers, or what is chosen of their topics."""
    return path == "memory/topics.txt" or _SESSION.match(path) is not None


def is_note_file(path: str) -> bool:
    """Tell whether a file of a workspace is a note, or the rules of which are private."""
    return _NOTE.match(path) is not None


def is_ledger(name: str) -> bool:
    """Tell whether what has this name in a backup is a ledger, and no key of one."""
    return name.startswith(("state/", "ledgers/")) and name.endswith("ledger.sqlite")


def is_workspace_file(name: str) -> bool:
    """Tell whether what has this name in a backup belongs into a workspace."""
    return name.startswith("workspaces/")


def _numbered(paths: tuple[Path, ...], number: str) -> Path | None:
    return paths[int(number)] if int(number) < len(paths) else None
