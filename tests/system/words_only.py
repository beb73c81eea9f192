"""Run the real daemon over two notes without a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.daemon import RunningDaemon, indexed_daemon


@contextmanager
def words_only(home: Path, **sections: Any) -> Iterator[RunningDaemon]:
    """Run it in `home`, indexed; `sections` are added to the configuration beside `agents`."""
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe gateway runs on alder.\n")
    (workspace / "memory" / "2026-11-18.md").write_text("# Wednesday\n\nError GW-4172 came back.\n")
    with indexed_daemon(home, workspace, **sections) as running:
        yield running
