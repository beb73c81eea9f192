"""The index of qmd shared with others: locked by another process, updated by hand, and asked many questions at once."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.daemon import RunningDaemon, write_workspace
from tests.system.qmd_daemon import by_hand, found, paths, qmd_of, updated_after, wait_for_qmd, with_qmd
from tests.waiting import eventually

ANSWER = "memory/2026-10-06.md"


@pytest.fixture(scope="module")
def daemon_of_the_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("shared")
    with with_qmd(home, write_workspace(home / "workspace"), update={"debounceMs": 0}) as running:
        yield running


@pytest.fixture
def daemon(daemon_of_the_module: RunningDaemon) -> Iterator[RunningDaemon]:
    """Return a daemon for tests after which their notes are deleted; qmd answers."""
    wait_for_qmd(daemon_of_the_module)
    memory = daemon_of_the_module.workspace / "memory"
    before = {*memory.iterdir()}
    yield daemon_of_the_module
    for note in {*memory.iterdir()} - before:
        note.unlink()
    assert daemon_of_the_module.client().sync(wait="indexed", timeout_ms=60_000)["complete"]


@contextmanager
def locked(daemon: RunningDaemon) -> Iterator[None]:
    """Hold the write lock of the index of qmd."""
    path = Path(qmd_of(daemon)["home"]) / "xdg-cache" / "qmd" / "index.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield
        database.execute("ROLLBACK")


def test_f093_locked_index_delays_the_update_but_no_answer(daemon: RunningDaemon) -> None:
    """While qmd's index is locked, qmd and the new note still answer; the update follows later."""
    before = qmd_of(daemon)["lastUpdateAt"]
    with locked(daemon):
        (daemon.workspace / "memory" / "ocelot.md").write_text("The ocelot holds no lease.\n")
        eventually(lambda: is_running(daemon, "update"))
        daemon.client().sync(wait="indexed")
        reply = found(daemon, "lease")
        assert (reply["backend"], set(paths(reply))) == ("qmd", {ANSWER, "memory/ocelot.md"})
        assert reply["tookMs"] < 5000
        assert qmd_of(daemon)["lastUpdateAt"] == before
    updated_after(daemon, before)
    reply = found(daemon, "ocelot")
    assert (reply["backend"], paths(reply)) == ("qmd", ["memory/ocelot.md"])


def is_running(daemon: RunningDaemon, command: str) -> bool:
    return any(command in child.cmdline() for child in psutil.Process(daemon.pid).children())


@pytest.mark.torture
def test_f093_simultaneous_updates_by_hand_break_nothing(daemon: RunningDaemon) -> None:
    """During updates by hand, every new note is found at once, and by qmd later."""
    with ThreadPoolExecutor(1) as pool:
        by_others = pool.submit(lambda: [by_hand(daemon, "update", check=False) for _ in range(6)])
        for number in range(12):
            (daemon.workspace / "memory" / f"walk-{number}.md").write_text(f"Saw heron number{number}.\n")
            daemon.client().sync(wait="indexed")
            assert paths(found(daemon, f"number{number}")) == [f"memory/walk-{number}.md"]
        by_others.result()
        eventually(lambda: answers_all(daemon, 12))


def answers_all(daemon: RunningDaemon, count: int) -> bool:
    """Tell whether qmd finds every note without help."""
    agent = daemon.agent()
    replies = [found(daemon, f"number{number}") for number in range(count)]
    assert all(paths(reply) for reply in replies)
    return agent["degraded"] == [] and all(reply["backend"] == "qmd" for reply in replies)


def test_f090_fifty_questions_at_once_need_one_server(daemon: RunningDaemon) -> None:
    """Fifty questions at once are answered by a single server process of qmd."""
    # wait for the server, which starts with the first question after an update
    eventually(lambda: found(daemon, "lease")["backend"] == "qmd")
    with ThreadPoolExecutor(50) as pool:
        asking = [pool.submit(found, daemon, "lease") for _ in range(50)]
        replies = [answer.result() for answer in asking]
        assert all(paths(reply)[0] == ANSWER for reply in replies)
        assert {reply["backend"] for reply in replies} >= {"qmd"}
        servers = [child for child in psutil.Process(daemon.pid).children() if "mcp" in child.cmdline()]
        assert len(servers) == 1


@pytest.mark.parametrize("lost", ["configuration", "index"])
def test_lost_file_of_qmd_is_created_again(daemon: RunningDaemon, lost: str) -> None:
    home = Path(qmd_of(daemon)["home"])
    config = home / "xdg-config" / "qmd" / "index.yml"
    before, written = qmd_of(daemon)["lastUpdateAt"], config.read_bytes()
    if lost == "configuration":
        config.unlink()
    else:
        for part in (home / "xdg-cache" / "qmd").glob("index.sqlite*"):
            part.unlink()
    (daemon.workspace / "memory" / "ocelot.md").write_text("The ocelot holds no lease.\n")
    daemon.client().sync(wait="indexed")
    assert set(paths(found(daemon, "lease"))) == {ANSWER, "memory/ocelot.md"}
    updated_after(daemon, before)
    # the update may have started before the file was lost
    eventually(lambda: config.read_bytes() == written)
    eventually(lambda: qmd_finds(daemon, "lease") == {ANSWER, "memory/ocelot.md"})


def qmd_finds(daemon: RunningDaemon, question: str) -> set[str]:
    reply = found(daemon, question)
    return set(paths(reply)) if reply["backend"] == "qmd" and not daemon.degraded() else set()
