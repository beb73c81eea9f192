"""The real daemon with the real qmd as its backend, and what tests ask of both."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.leftovers import processes_of
from tests.real_qmd import real_qmd
from tests.waiting import eventually


@contextmanager
def with_qmd(
    home: Path, workspace: Path, model: Path | None = None, command: str | None = None, **qmd: object
) -> Iterator[RunningDaemon]:
    """Run the daemon with qmd as its backend; nothing that qmd started may outlive it."""
    with daemon_for(home, workspace, model, command, **qmd) as running:
        running.client().sync(wait="indexed")
        yield running
    eventually(lambda: not processes_below(home))


def daemon_for(
    home: Path, workspace: Path, model: Path | None = None, command: str | None = None, **qmd: object
) -> RunningDaemon:
    """Return the daemon, not started yet."""
    settings = {"command": command or real_qmd(), "update": {"debounceMs": 200}, **qmd}
    config = write_config(home, workspace, model, memory={"backend": "qmd", "qmd": settings})
    return RunningDaemon(home, config, workspace)


def processes_below(home: Path) -> list[psutil.Process]:
    """Return who lives in the qmd folder of this daemon."""
    return processes_of(home / "state" / "memoryd")


def qmd_of(daemon: RunningDaemon) -> Any:
    """Return what the status says of qmd."""
    return daemon.agent()["qmd"]


def wait_for_qmd(daemon: RunningDaemon) -> None:
    """Wait until it answers: it is up to date, and its server has started."""
    eventually(lambda: is_ready(daemon.agent()))


def is_ready(agent: Any) -> bool:
    return (agent["backend"], agent["qmd"]["server"]) == ("qmd", "ready")


def found(daemon: RunningDaemon, question: str) -> Any:
    with Client(daemon.socket) as client:
        return client.search(question)


def paths(reply: Any) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def updated_after(daemon: RunningDaemon, moment: str | None) -> None:
    eventually(lambda: qmd_of(daemon)["lastUpdateAt"] not in (None, moment))


def by_hand(daemon: RunningDaemon, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run qmd in a shell as `memoryctl qmd env` tells a person to."""
    exports = daemon.memoryctl("qmd", "env").stdout
    command = shlex.join([*qmd_of(daemon)["command"], "--index", "index", *arguments])
    script = f"{exports}\nexec {command}"
    return subprocess.run(["sh", "-c", script], env=daemon.env, capture_output=True, timeout=60, check=check)


def is_served_by_another(daemon: RunningDaemon, pid: int) -> bool:
    found(daemon, "lease")
    return qmd_of(daemon)["pid"] not in (None, pid)
