"""A workspace with the real daemon, and the queries that fault tests need."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from memoryd.client import Client
from memoryd.errors import NotNow
from memoryd.replies.status import AgentStatus
from tests.daemon import write_config
from tests.fault import check
from tests.fault.check import ChunkLine, Rebuild
from tests.fault.faults import FaultyDaemon
from tests.waiting import SECONDS, eventually

QUICK: Mapping[str, object] = {
    "watchDebounceMs": 30,
    "settleMs": 50,
    "deleteGraceMs": 500,
    "rootGraceSeconds": 30,
    "reconcileSeconds": 0.5,
}
"""Short times, so that a test takes tenths of a second."""
EVENTS_ONLY: Mapping[str, object] = {**QUICK, "reconcileSeconds": 3600, "onSearch": False}
"""Only scans triggered by events; without `onSearch`, questions do not wait for a scan."""
SCAN_ONLY: Mapping[str, object] = {**QUICK, "watch": False}
NEITHER: Mapping[str, object] = {**EVENTS_ONLY, "watch": False}
"""Only explicit scans, and those after a jump of the clocks."""


class Stage:
    """`workspace` has a few notes; `start` runs the daemon, which the fixture stops."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.memory = self.workspace / "memory"
        self.memory.mkdir(parents=True)
        self.write("MEMORY.md", "# Memory\n\nThe gateway is called alder.\n")
        self.write("memory/first.md", "# First\n\nThe lease of birch ends in May.\n")
        self._daemon: FaultyDaemon | None = None
        self._checks = 0

    @property
    def daemon(self) -> FaultyDaemon:
        assert self._daemon is not None
        return self._daemon

    @property
    def client(self) -> Client:
        return self.daemon.client()

    def prepare(
        self,
        sync: Mapping[str, object] = QUICK,
        *,
        model: Path | None = None,
        environment: Mapping[str, str] | None = None,
        search: Mapping[str, object] | None = None,
        **sections: object,
    ) -> FaultyDaemon:
        """Write the configuration and return the daemon, not yet started."""
        found = {"sync": dict(sync), **(search or {})}
        if not sync.get("onSearch", True):
            found.setdefault("query", {"freshMs": 0})
        config = write_config(self.home, self.workspace, model, search=found, **sections)
        self._daemon = FaultyDaemon(self.home, config, self.workspace, environment=environment)
        return self._daemon

    def start(self, sync: Mapping[str, object] = QUICK, **options: Any) -> FaultyDaemon:
        """Start the daemon and wait until the first notes are indexed."""
        self.prepare(sync, **options)
        self.daemon.start()
        self.sync()
        return self.daemon

    def end(self) -> None:
        """Stop the daemon if a test left it running."""
        if self._daemon is not None and self._daemon.is_running():
            self._daemon.resume()
            self._daemon.stop()

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file below the workspace."""
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def sync(self, *, embedded: bool = False) -> None:
        """Wait until the index equals the disk."""
        with Client(self.daemon.socket, timeout=90) as client:
            check.sync(client, embedded=embedded)

    def places(self, word: str) -> list[str]:
        """Return the paths of the documents in which a search finds a word; empty while the index is not open."""
        try:
            with Client(self.daemon.socket, timeout=30) as client:
                hits = client.search(word, max_results=20)["results"]
        except NotNow:
            return []
        return [hit["path"] for hit in hits if word.lower() in hit["snippet"].lower()]

    def finds(self, word: str) -> bool:
        """Tell whether a search finds a word."""
        return bool(self.places(word))

    def eventually_finds(self, word: str, seconds: float = SECONDS) -> None:
        """Wait until a search finds a word, without a sync."""
        eventually(lambda: self.finds(word), seconds=seconds, step=0.05)

    def status(self) -> AgentStatus:
        """Return the status of the agent."""
        return self.daemon.agent()

    def skipped(self) -> dict[str, str]:
        """Return the skipped paths with their reasons."""
        return {item["path"]: item["reason"] for item in self.status()["skipped"]}

    def degraded(self) -> dict[str, str]:
        """Return the degraded parts with their reasons."""
        return {item["part"]: item["reason"] for item in self.status()["degraded"]}

    def paths(self) -> set[str]:
        """Return the documents in the index."""
        return {line.path for line in check.dump(check.index_of(self.daemon))}

    def converges(self, *, is_embedded: bool = False, rebuilt: Rebuild = check.rebuilt_here) -> list[ChunkLine]:
        """Check that the index equals a rebuild and is sound, and that no note was changed."""
        self._checks += 1
        folder = self.home / f"rebuild{self._checks}"
        return check.check_converged(self.daemon, folder, is_embedded=is_embedded, rebuilt=rebuilt)

    def generation(self) -> int:
        """Return the generation of the index, which grows with each index run."""
        with Client(self.daemon.socket, timeout=20) as client:
            return client.sync(wait="none")["generation"]

    def cpu_seconds(self) -> float:
        """Return the processor time of the daemon, which does not depend on other load of the machine."""
        used = psutil.Process(self.daemon.pid).cpu_times()
        return used.user + used.system

    def write_count(self) -> int:
        """Return how many bytes the daemon has written to disk."""
        text = Path(f"/proc/{self.daemon.pid}/io").read_text()
        return int(text.split("write_bytes: ")[1].split("\n")[0])

    def descriptors(self) -> int:
        """Return the number of open descriptors of the daemon."""
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))  # noqa: PTH208

    def watched_folders(self) -> int:
        """Return the number of inotify watches of the daemon."""
        found = 0
        for info in Path(f"/proc/{self.daemon.pid}/fdinfo").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found += info.read_text().count("inotify wd:")
        return found
