"""Questions to qmd and to the builtin index over the same notes in the same run: how long, and at what memory."""

from collections.abc import Iterator
from pathlib import Path

import psutil

from bench.corpus import Writer, write_notes
from bench.measurement import Bench, Row
from bench.questions import ask
from bench.stage import MIB, agent, settle
from bench.timing import poll
from memoryd.client import Client
from memoryd.config.paths import cache_dir
from tests.daemon import RunningDaemon, write_config

PROGRAM = cache_dir() / "qmd-2.8.3" / "node_modules" / ".bin" / "qmd"
WAIT_SECONDS = 300.0


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
                _wait(daemon, backend, mode)
                name = f"{kind}, {backend}"
                yield from ask(daemon, questions).rows(name, note=f"{count} notes")
                yield Row(f"{name}: all processes, resident", _family_mib(daemon), "MiB", note=_note(daemon))


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


def _family_mib(daemon: RunningDaemon) -> float:
    own = psutil.Process(daemon.pid)
    return float(sum(one.memory_info().rss for one in (own, *own.children(recursive=True))) / MIB)


def _note(daemon: RunningDaemon) -> str:
    qmd = agent(daemon.client()).get("qmd")
    if qmd is None or qmd["pid"] is None:
        return ""
    return f"of them qmd {psutil.Process(qmd['pid']).memory_info().rss / MIB:.0f} MiB"
