"""The folder that qmd lives in for one agent: the configuration that memoryd writes, the index, the environment."""

import contextlib
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from memoryd.config.paths import qmd_variables
from memoryd.files.writing import replace_file
from memoryd.qmd.collections import Collection
from memoryd.sidecar.process import allowed_environment

MARKER: Final = "memoryd.json"


class QmdHome:
    """Below `root`: `xdg-config/qmd/index.yml`, `xdg-cache/qmd/index.sqlite`, models, notes, an empty folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config_home = root / "xdg-config"
        self.cache_home = root / "xdg-cache"
        self.config_file = self.config_home / "qmd" / "index.yml"
        self.index_file = self.cache_home / "qmd" / "index.sqlite"
        self.models = root / "models"
        self.notes = root / "notes"
        """What it reads: a folder for each collection."""
        self.directory = root / "empty"
        """Where it runs."""

    def prepare(self) -> None:
        """Make the folders, open to their owner alone."""
        for folder in (self.config_file.parent, self.index_file.parent, self.notes, self.directory):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root.chmod(0o700)

    def environment(self, outside: Mapping[str, str], *, busy_seconds: float) -> dict[str, str]:
        """Return all that qmd may know; `busy_seconds` is how long it waits for another writer of its index."""
        return {
            **allowed_environment(outside),
            **qmd_variables(self.root),
            "HOME": str(self.root),
            "PWD": str(self.directory),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "QMD_SQLITE_BUSY_TIMEOUT": str(int(busy_seconds * 1000)),
            "LLAMA_LOG_LEVEL": "error",
            "GGML_LOG_LEVEL": "error",
            "GGML_BACKEND_SILENT": "1",
        }

    def configured(self) -> set[str]:
        """Return the names of the collections in the file; nothing if it is missing or broken."""
        try:
            held = yaml.safe_load(self.config_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            return set()
        collections = held.get("collections") if isinstance(held, dict) else None
        return {str(name) for name in collections} if isinstance(collections, dict) else set()

    def write_config(self, collections: Sequence[Collection], models: Mapping[str, Path]) -> bool:
        """Write the configuration whole, unless it is as it should be; return whether it was written.

        `models` has the path of each role. All three must be named: qmd fills in what is missing, and would fetch it.
        """
        wanted = _yaml(self.notes, collections, models)
        with contextlib.suppress(OSError):
            if self.config_file.read_bytes() == wanted:
                return False
        replace_file(self.config_file, wanted)
        return True

    def remove_index(self) -> None:
        """Delete the index, which can be made again from the notes."""
        for path in self.index_file.parent.glob(f"{self.index_file.name}*"):
            path.unlink(missing_ok=True)
        self._remember(updatedAt=None, isClean=True)

    def remove_notes(self) -> None:
        """Delete all that qmd reads or keeps of the notes."""
        self.remove_index()
        shutil.rmtree(self.notes, ignore_errors=True)

    def index_identity(self) -> tuple[int, int] | None:
        """Return which file the index is, by device and inode; None if there is none."""
        try:
            found = self.index_file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def updated_at(self) -> float | None:
        """Return when the last update that succeeded began, in seconds of the system's clock."""
        held = self._remembered().get("updatedAt")
        return float(held) if isinstance(held, int | float) and self.index_file.exists() else None

    def note_update(self, began: float) -> None:
        """Remember when an update began that succeeded."""
        self._remember(updatedAt=began)

    def is_clean(self) -> bool:
        """Tell whether the index holds nothing that was withdrawn from it; in doubt it does."""
        return self._remembered().get("isClean") is True or not self.index_file.exists()

    def note_new(self) -> None:
        """Remember of an index that is to be made that it begins with nothing."""
        if not self.index_file.exists():
            self.note_clean(True)

    def note_clean(self, is_clean: bool) -> None:
        """Remember that something is to be withdrawn from the index, or that all of it is gone from its bytes."""
        if is_clean != self._remembered().get("isClean"):
            self._remember(isClean=is_clean)

    def _remembered(self) -> dict[str, object]:
        try:
            held = json.loads((self.root / MARKER).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) else {}

    def _remember(self, **news: object) -> None:
        # read, changed and written without a lock: the loop of the upkeep alone calls this, one thread at a time
        replace_file(self.root / MARKER, json.dumps(self._remembered() | news).encode())


def _yaml(notes: Path, collections: Sequence[Collection], models: Mapping[str, Path]) -> bytes:
    held = {
        "collections": {one.name: _told(one, notes) for one in collections},
        "models": {role: str(path) for role, path in models.items()},
    }
    text: str = yaml.safe_dump(held, sort_keys=False, allow_unicode=True, width=10_000)
    return text.encode()


def _told(one: Collection, notes: Path) -> dict[str, object]:
    if one.is_exported:
        # a person who asks by hand, and names no collection, asks the notes
        return {"path": one.root, "pattern": one.pattern, "includeByDefault": False}
    return {"path": str(notes / one.name), "pattern": one.pattern}
