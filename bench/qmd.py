"""Questions to qmd and to the builtin index over the same notes in the same run: how long, and with how much memory."""

from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.corpus import Writer, write_notes
from bench.measurement import Bench, Row
from bench.questions import ask
from bench.stage import MIB, settle
from bench.timing import poll, sampled
from memoryd.client import Client
from memoryd.config.paths import cache_dir
from tests.daemon import RunningDaemon, write_config

PROGRAM = cache_dir() / "qmd-2.8.3" / "node_modules" / ".bin" / "qmd"
WAIT_SECONDS = 900.0
SAMPLE_SECONDS = 0.02


def rows(bench: Bench) -> Iterator[Row]:
    """Measure words through both engines, then meaning through both; nothing where there is no qmd."""
    if not PROGRAM.exists():
        yield Row("qmd is not installed: make qmd", 0, "")
        return
    count = bench.pick(500, 60)
    writer = Writer(5)
    questions = [writer.question() for _ in range(bench.pick(120, 60))]
    for kind, mode, model in (("words", "search", None), ("meaning", "vsearch", bench.model)):
        for backend in ("builtin", "qmd"):
            home = bench.folder / f"{backend}-{mode}"
            with _daemon(home, backend, mode, model, count) as daemon:
                name = f"{kind}, {backend}"
                indexing = Memory(daemon)
                with sampled(indexing.look, step=SAMPLE_SECONDS):
                    _wait(daemon, backend, mode)
                # sampling takes processor time, so the times are taken without it
                yield from ask(daemon, questions).rows(name, note=f"{count} notes")
                asking = Memory(daemon)
                with sampled(asking.look, step=SAMPLE_SECONDS):
                    ask(daemon, questions)
                yield indexing.row(f"{name}: peak memory, indexing")
                yield asking.row(f"{name}: peak memory, asking")


class Memory:
    """The most that a daemon and all below it have held at once, in MiB; `look` takes a sample."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self._own = psutil.Process(daemon.pid)
        self._most = 0.0
        self._most_below = 0.0

    def look(self) -> float:
        """Add up what is resident now."""
        below = sum(_resident(process) for process in self._own.children(recursive=True))
        total = _resident(self._own) + below
        self._most, self._most_below = max(self._most, total), max(self._most_below, below)
        return total

    def row(self, name: str) -> Row:
        """Return the peak of all; the note tells that of the processes below the daemon."""
        return Row(name, self._most, "MiB", note=f"below the daemon at most {self._most_below:.0f} MiB")


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss / MIB)
    except psutil.NoSuchProcess:
        return 0.0


def _daemon(home: Path, backend: str, mode: str, model: Path | None, count: int) -> RunningDaemon:
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    write_notes(workspace / "memory", count=count, size=count * 1_000)
    settings = {"command": str(PROGRAM), "searchMode": mode, "update": {"embedTimeoutMs": 600_000}}
    config = write_config(home, workspace, model, memory={"backend": backend, "qmd": settings})
    return RunningDaemon(home, config, workspace, environment={"MEMORYD_LOG_LEVEL": "INFO"})


def _wait(daemon: RunningDaemon, backend: str, mode: str) -> None:
    """Wait until the engine that is measured answers, with what it needs in memory."""
    client = daemon.client()
    settle(client, embedded=backend == "builtin" and mode == "vsearch")
    poll(lambda: _is_answered_by(client, backend), seconds=WAIT_SECONDS, step=0.2)


def _is_answered_by(client: Client, backend: str) -> bool:
    return client.search("what was written about the gateway")["backend"] == backend
