"""kill -9 of the real qmd while it works: each question is answered in time, and qmd recovers by itself.

The process is stopped as soon as it is seen at work, then killed.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.daemon import RunningDaemon, write_workspace
from tests.system.qmd_daemon import daemon_for, found, paths, processes_below, qmd_of, wait_for_qmd, with_qmd
from tests.waiting import eventually

QUESTION, ANSWER = "lease GW-4172", "memory/2026-10-06.md"
DEADLINE = 5.0
MANY = 400
"""Notes that keep an update busy for about a second."""
AT_ONCE = 20
"""Two more questions than may wait for qmd."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Return a daemon for tests that all leave qmd recovered."""
    home = tmp_path_factory.mktemp("killed")
    with with_qmd(home, write_workspace(home / "workspace")) as running:
        wait_for_qmd(running)
        yield running


def test_server_killed_while_questions_wait(daemon: RunningDaemon) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answer_reason(daemon, "qmd")
        server = psutil.Process(qmd_of(daemon)["pid"])
        server.suspend()
        asking = [pool.submit(timed_answer, daemon) for _ in range(AT_ONCE)]
        refused = next(as_completed(asking)).result()
        assert "busy" in reason_of(refused), "the others wait, the first of them for the stopped server"
        server.kill()
        replies = [answer.result() for answer in asking]
        assert any("SIGKILL" in reason_of(reply) for reply in replies)
        assert {(reply["backend"], reply["fallback"] is None) for reply in replies} <= {
            ("qmd", True),
            ("builtin", False),
        }
        wait_until_recovered(daemon)


def test_process_of_one_question_killed(daemon: RunningDaemon) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer_reason(daemon, "qmd")
        psutil.Process(qmd_of(daemon)["pid"]).kill()
        eventually(lambda: qmd_of(daemon)["server"] == "waiting", step=0.02)
        asking = pool.submit(timed_answer, daemon)
        suspend_at(daemon, "query", has_opened=False).kill()
        reply = asking.result()
        assert reply["backend"] == "builtin"
        assert "killed by SIGKILL" in reason_of(reply)
        wait_until_recovered(daemon)


@pytest.mark.torture
def test_first_update_killed(tmp_path: Path, workspace: Path) -> None:
    write_many(workspace)
    with started(tmp_path, workspace) as daemon:
        update = suspend_at(daemon, "update")
        daemon.client().sync(wait="indexed")
        assert "starting" in answer_reason(daemon, "builtin")
        update.kill()
        eventually(lambda: "qmd update failed: killed by SIGKILL" in str(daemon.agent()["fallback"]))
        answer_reason(daemon, "builtin")
        wait_until_recovered(daemon)


def test_later_update_killed(daemon: RunningDaemon) -> None:
    write_many(daemon.workspace)
    update = suspend_at(daemon, "update")
    (daemon.workspace / "memory" / "ocelot.md").write_text("The ocelot sleeps.\n")
    daemon.client().sync(wait="indexed")
    assert paths(found(daemon, "ocelot")) == ["memory/ocelot.md"]
    assert answer_reason(daemon, None) == ""
    update.kill()
    eventually(lambda: "killed by SIGKILL" in str(daemon.agent()["degraded"]))
    assert paths(found(daemon, "ocelot")) == ["memory/ocelot.md"]
    wait_until_recovered(daemon)
    eventually(lambda: (reply := found(daemon, "ocelot"))["backend"] == "qmd" and paths(reply))


@pytest.mark.torture
def test_embed_killed(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    with started(tmp_path, workspace, starter_model, searchMode="vsearch") as daemon:
        embed = suspend_at(daemon, "embed")
        daemon.client().sync(wait="indexed")
        assert "no vectors yet" in answer_reason(daemon, "builtin")
        embed.kill()
        eventually(lambda: "embed failed: killed by SIGKILL" in str(qmd_of(daemon)["vectorReason"]))
        assert "killed by SIGKILL" in answer_reason(daemon, "builtin")
        wait_until_recovered(daemon)
        assert qmd_of(daemon)["vectors"]


@contextmanager
def started(home: Path, workspace: Path, model: Path | None = None, **qmd: object) -> Iterator[RunningDaemon]:
    """Run the daemon without waiting for qmd."""
    with daemon_for(home, workspace, model, None, **qmd) as daemon:
        yield daemon
    eventually(lambda: not processes_below(home))


def write_many(workspace: Path) -> None:
    for number in range(MANY):
        text = f"# Walk {number}\n\n" + f"Saw heron {number} at the weir. " * 20
        (workspace / "memory" / f"walk-{number}.md").write_text(text)


def suspend_at(daemon: RunningDaemon, command: str, *, has_opened: bool = True) -> psutil.Process:
    """Suspend the real qmd as soon as it runs this command, if requested with its index open; return it."""
    caught: list[psutil.Process] = []

    def catch() -> bool:
        for child in psutil.Process(daemon.pid).children():
            with suppress(psutil.Error):
                if is_at(child, command) and (not has_opened or has_index_open(child)):
                    child.suspend()
                    caught.append(child)
        return bool(caught)

    eventually(catch, step=0.01)
    eventually(lambda: caught[0].status() == psutil.STATUS_STOPPED)
    return caught[0]


def is_at(process: psutil.Process, command: str) -> bool:
    words = process.cmdline()
    return command in words and Path(words[0]).name == "node"


def has_index_open(process: psutil.Process) -> bool:
    return any(Path(file.path).name == "index.sqlite" for file in process.open_files())


def timed_answer(daemon: RunningDaemon) -> Any:
    """Ask; the answer must be right and in time."""
    start = time.monotonic()
    reply = found(daemon, QUESTION)
    assert time.monotonic() - start < DEADLINE
    assert paths(reply)[0] == ANSWER
    return reply


def reason_of(reply: Any) -> str:
    return str(reply["fallback"]["reason"]) if reply["fallback"] else ""


def answer_reason(daemon: RunningDaemon, engine: str | None) -> str:
    """Ask, expect the answer from this engine, and return the reason of the fallback."""
    reply = timed_answer(daemon)
    assert engine in (None, reply["backend"])
    assert (reply["fallback"] is None) == (reply["backend"] == "qmd")
    return reason_of(reply)


def wait_until_recovered(daemon: RunningDaemon) -> None:
    """Wait until qmd answers again, while every answer is right and in time."""
    eventually(lambda: timed_answer(daemon)["backend"] == "qmd")
    assert daemon.agent()["backend"] == "qmd"
