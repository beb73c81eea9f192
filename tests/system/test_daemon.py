"""The life of the daemon: it starts, refuses a second one, recovers from crashes, and stops cleanly."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from memoryd.client import Client
from memoryd.errors import NotNow
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.system.agents import daemon_of_agents
from tests.waiting import SECONDS, eventually

QUICK = {"sync": {"watchDebounceMs": 50, "settleMs": 20, "deleteGraceMs": 100, "reconcileSeconds": 1}}
MISSING = "the folder of the workspace is missing (memoryctl status names it)"
Launch = Callable[..., RunningDaemon]
PASSER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, "-m", "memoryd.daemon.main", *sys.argv[2:]])
"""


@pytest.fixture
def launch(tmp_path: Path, workspace: Path) -> Iterator[Launch]:
    """Make daemons without a model in one home; stop those that still run at the end."""
    made: list[RunningDaemon] = []

    def make(**sections: object) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, search=QUICK, **sections)
        made.append(RunningDaemon(tmp_path, config, workspace))
        return made[-1]

    yield make
    for daemon in made:
        daemon.stop()


def paths_found(daemon: RunningDaemon, query: str) -> list[str]:
    with Client(daemon.socket) as client:
        return [hit["path"] for hit in client.search(query)["results"]]


def failed_start(daemon: RunningDaemon, *arguments: str) -> tuple[int, str]:
    """Start a daemon that must not come up; return its exit code and output."""
    start = daemon.log.stat().st_size if daemon.log.exists() else 0
    code = daemon.spawn(*arguments).wait(SECONDS)
    output = daemon.log.read_text()[start:]
    assert "Traceback" not in output
    return code, output


def test_stop_leaves_no_process_and_no_socket(daemon: RunningDaemon) -> None:
    daemon.client().sync(wait="embedded")
    children = psutil.Process(daemon.pid).children(recursive=True)
    assert children, "the embedding worker runs"
    assert daemon.stop() == Exit.DONE
    assert not [child for child in children if child.is_running()]
    assert not daemon.socket.exists()
    assert "Traceback" not in daemon.log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_stop_with_success(launch: Launch, number: signal.Signals) -> None:
    daemon = launch()
    daemon.start()
    assert daemon.process is not None
    daemon.process.send_signal(number)
    assert daemon.process.wait(60) == Exit.DONE
    daemon.process = None


def test_f060_of_two_daemons_on_one_state_directory_the_first_gives_way(launch: Launch) -> None:
    """If the state directory was removed with its lock, the older daemon ends, and the newer one answers.

    Removing it also removes the socket, so nothing keeps the second one from starting.
    """
    first, second = launch(), launch()
    first.start()
    first.client().sync()
    start = first.log.stat().st_size
    # the first must not notice before the second has started
    os.kill(first.pid, signal.SIGSTOP)
    shutil.rmtree(first.state)
    first.socket.unlink()
    second.start()
    os.kill(first.pid, signal.SIGCONT)
    assert first.process is not None
    assert first.process.wait(SECONDS) == Exit.ALREADY_RUNNING
    first.process = None
    text = first.log.read_text()[start:]
    assert f"memoryd is already running (pid {second.pid})" in text
    assert "Traceback" not in text
    second.client().sync()
    assert paths_found(second, "GW-4172") == ["memory/2026-10-06.md"]


def test_removed_state_directory_is_created_again(launch: Launch) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    # rename first: the daemon creates its folders again while they are deleted
    gone = daemon.state.rename(daemon.state.with_name("gone"))
    shutil.rmtree(gone, ignore_errors=True)
    lock = daemon.state / "memoryd.lock"
    eventually(lambda: lock.exists() and lock.read_text().startswith(f"{daemon.pid}\n"))
    code, output = failed_start(daemon)
    assert code == Exit.ALREADY_RUNNING
    assert f"pid {daemon.pid}" in output
    eventually(lambda: not daemon.degraded())
    daemon.client().sync()
    assert paths_found(daemon, "GW-4172") == ["memory/2026-10-06.md"]


def test_regular_file_at_the_socket_path_is_not_removed(launch: Launch) -> None:
    daemon = launch()
    daemon.socket.parent.mkdir(mode=0o700, parents=True)
    daemon.socket.write_text("precious")
    code, _ = failed_start(daemon)
    assert code not in (Exit.DONE, Exit.CONFIG)
    assert daemon.socket.read_text() == "precious"


def test_index_survives_a_crash(launch: Launch) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    before = daemon.agent()
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()
    daemon.client().sync()
    after = daemon.agent()
    assert after["files"] == before["files"] == 3
    assert after["chunks"] == before["chunks"]
    assert paths_found(daemon, "GW-4172") == ["memory/2026-10-06.md"]


def test_sighup_scans_at_once(launch: Launch, tmp_path: Path, workspace: Path) -> None:
    unwatched = {"watch": False, "reconcileSeconds": 0, "onSearch": False}
    config = write_config(tmp_path, workspace, None, search={"sync": unwatched, "query": {"freshMs": 0}})
    daemon = launch()
    daemon.config = config
    daemon.start()
    daemon.client().sync()
    (workspace / "memory" / "new.md").write_text("The quetzal is on the roof.\n")
    os.kill(daemon.pid, signal.SIGHUP)
    eventually(lambda: paths_found(daemon, "quetzal") == ["memory/new.md"])


def test_saved_edited_and_deleted_notes_are_followed_by_events(launch: Launch, workspace: Path) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    eventually(lambda: daemon.agent()["watcher"]["mode"] == "events")
    (workspace / "memory" / "new.md").write_text("The quetzal is on the roof.\n")
    eventually(lambda: paths_found(daemon, "quetzal") == ["memory/new.md"])
    (workspace / "memory" / "new.md").write_text("The ibex is on the roof.\n")
    eventually(lambda: paths_found(daemon, "ibex") == ["memory/new.md"])
    assert paths_found(daemon, "quetzal") == []
    (workspace / "memory" / "new.md").unlink()
    eventually(lambda: paths_found(daemon, "ibex") == [])


def test_missing_workspace_is_reported_and_indexed_when_it_appears(launch: Launch, workspace: Path) -> None:
    shutil.move(workspace, workspace.with_name("elsewhere"))
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    reply = daemon.client().search("gateway")
    assert reply["results"] == []
    assert reply["reason"] == MISSING
    eventually(lambda: [*daemon.degraded()] == ["workspace"])
    shutil.move(workspace.with_name("elsewhere"), workspace)
    eventually(lambda: paths_found(daemon, "gateway") == ["MEMORY.md"])
    assert not daemon.degraded()
    eventually(lambda: daemon.agent()["watcher"]["ok"])
    (workspace / "MEMORY.md").write_text("The quetzal is here.\n")
    eventually(lambda: paths_found(daemon, "quetzal") == ["MEMORY.md"])


def test_vanished_workspace_keeps_its_index(launch: Launch, workspace: Path) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    shutil.move(workspace, workspace.with_name("elsewhere"))
    daemon.client().sync()
    assert "workspace" in daemon.degraded()
    # the rows stay, but no hit is shown whose file cannot be compared
    assert daemon.agent()["files"] == 3
    for reply in (daemon.client().search("gateway"), daemon.client().recall("gateway")):
        assert (reply["verdict"], reply["reason"]) == ("none", MISSING)
    shutil.move(workspace.with_name("elsewhere"), workspace)
    assert paths_found(daemon, "gateway") == ["MEMORY.md"]


def test_all_configuration_errors_are_reported_with_their_exit_code(launch: Launch) -> None:
    daemon = launch()
    daemon.config.write_text(
        json.dumps(
            {
                "agents": {"defaults": {"memorySearch": {"chunkng": {}, "query": {"maxResults": "many"}}}},
                "limits": {"maxFileBytes": -1},
            }
        )
    )
    code, output = failed_start(daemon)
    assert code == Exit.CONFIG
    for problem in ("chunkng", "chunking", "query.maxResults", "limits.maxFileBytes"):
        assert problem in output


@pytest.mark.parametrize("text", ["{agents: {}", "[]", "{agents: 5}"])
def test_broken_configuration_file_is_named(launch: Launch, text: str) -> None:
    daemon = launch()
    daemon.config.write_text(text)
    code, output = failed_start(daemon)
    assert code == Exit.CONFIG
    assert daemon.config.name in output


def test_foreign_sections_are_ignored_with_a_notice(launch: Launch) -> None:
    daemon = launch(channels={"telegram": {"token": "x"}})
    daemon.start()
    assert any("channels" in notice for notice in daemon.client().status()["config"]["notices"])


def test_database_of_another_program_is_refused_and_unchanged(launch: Launch, tmp_path: Path, workspace: Path) -> None:
    theirs = tmp_path / "theirs.sqlite"
    theirs.write_bytes(b"SQLite format 3\x00" + bytes(84))
    before = theirs.read_bytes()
    daemon = launch()
    daemon.config = write_config(tmp_path, workspace, None, search={"store": {"path": str(theirs)}})
    code, output = failed_start(daemon)
    assert code == Exit.CANNOT_CREATE
    assert "is not an index of memoryd" in output
    assert theirs.read_bytes() == before
    assert not daemon.socket.exists(), "no socket is opened before the index"


def test_socket_that_cannot_be_opened_closes_the_others(tmp_path: Path, workspace: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("not a socket")
    paths = [tmp_path / "agents" / "first.sock", occupied]
    listed = [{"id": "main", "sockets": [{"path": str(path)} for path in paths]}]
    daemon = daemon_of_agents(tmp_path, listed, workspace)
    code, output = failed_start(daemon)
    assert code == Exit.NOT_PERMITTED
    assert "occupied" in output
    assert occupied.read_text() == "not a socket"
    assert not daemon.socket.exists()
    assert not paths[0].exists()


def test_socket_of_the_service_manager_is_never_removed(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    theirs = tmp_path / "theirs.sqlite"
    theirs.write_bytes(b"SQLite format 3\x00" + bytes(84))
    write_config(tmp_path, daemon.workspace, None, search={"store": {"path": str(theirs)}})
    passed = tmp_path / "passed.sock"
    with socket.socket(socket.AF_UNIX) as manager:
        manager.bind(str(passed))
        manager.listen()
        assert start_activated(daemon, manager).wait(SECONDS) == Exit.CANNOT_CREATE
        assert passed.is_socket()
        write_config(tmp_path, daemon.workspace, None)
        running = start_activated(daemon, manager)
        with Client(passed) as client:
            eventually(lambda: client.health()["ok"])
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == Exit.DONE
        assert passed.is_socket()
        assert not daemon.socket.exists()


def start_activated(daemon: RunningDaemon, manager: socket.socket) -> subprocess.Popen[bytes]:
    """Start the program as a service manager does that listens for it."""
    arguments = [sys.executable, "-c", PASSER, str(manager.fileno())]
    with daemon.log.open("ab") as log:
        return subprocess.Popen(arguments, env=daemon.env, pass_fds=[manager.fileno()], stdout=log, stderr=log)


def test_index_deleted_while_open_is_rebuilt(launch: Launch) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    index = Path(daemon.agent()["database"]["path"])
    shutil.rmtree(index.parent)
    eventually(index.exists)

    def is_found_again() -> bool:
        with contextlib.suppress(NotNow):
            return paths_found(daemon, "GW-4172") == ["memory/2026-10-06.md"]
        return False

    eventually(is_found_again)


def test_note_that_is_not_utf8_is_indexed_with_the_rest(launch: Launch, workspace: Path) -> None:
    (workspace / "memory" / "latin.md").write_bytes("Das Münchner Büro hat einen Xylophonisten.\n".encode("latin-1"))
    (workspace / "memory" / "utf16.md").write_bytes("The okapi sleeps.\n".encode("utf-16"))
    (workspace / "memory" / "binary.md").write_bytes(bytes(range(256)) * 40)
    os.close(os.open(os.fsencode(workspace / "memory") + b"/caf\xe9.md", os.O_CREAT | os.O_WRONLY))
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    assert paths_found(daemon, "Xylophonisten") == ["memory/latin.md"]
    assert paths_found(daemon, "okapi") == ["memory/utf16.md"]
    assert paths_found(daemon, "GW-4172") == ["memory/2026-10-06.md"]
    assert {"path": "memory/caf\\xe9.md", "reason": "its name is not UTF-8"} in daemon.agent()["skipped"]


def test_note_with_modification_time_in_the_far_future_is_indexed(launch: Launch, workspace: Path) -> None:
    for name, seconds in (("future.md", 10**10), ("past.md", -(10**9))):
        (workspace / "memory" / name).write_text(f"The quetzal of the {name.removesuffix('.md')} sings.\n")
        os.utime(workspace / "memory" / name, (seconds, seconds))
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    assert sorted(paths_found(daemon, "quetzal")) == ["memory/future.md", "memory/past.md"]
    assert daemon.client().search("quetzal", since="30d")["results"]


def test_two_agents_on_one_workspace_share_one_index(tmp_path: Path, workspace: Path) -> None:
    with daemon_of_agents(tmp_path, ({"id": name} for name in "ab"), workspace, search=QUICK) as daemon:
        daemon.client().sync()
        first, second = daemon.client().status()["agents"]
        assert (first["id"], second["id"]) == ("a", "b")
        assert first["database"] == second["database"]
        assert first["files"] == second["files"] == 3
        for name in ("a", "b"):
            hits = daemon.client().search("GW-4172", agent=name)["results"]
            assert [hit["path"] for hit in hits] == ["memory/2026-10-06.md"]


def test_agents_on_two_workspaces_do_not_see_each_other(tmp_path: Path, workspace: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("The quetzal is private.\n")
    agents: list[dict[str, str]] = [{"id": "a"}, {"id": "b", "workspace": str(other)}]
    with daemon_of_agents(tmp_path, agents, workspace, search=QUICK) as daemon:
        daemon.client().sync()
        assert daemon.client().search("quetzal", agent="b")["results"]
        assert not daemon.client().search("quetzal", agent="a")["results"]
        assert not daemon.client().search("GW-4172", agent="b")["results"]


def test_daemon_does_not_touch_the_notes(launch: Launch, workspace: Path) -> None:
    def manifest() -> dict[str, tuple[bytes, int, int]]:
        files = [path for path in workspace.rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in files}

    before = manifest()
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    daemon.client().search("gateway")
    daemon.client().reindex(force=True)
    daemon.client().sync()
    daemon.stop()
    assert manifest() == before


def test_files_of_the_daemon_are_private(launch: Launch) -> None:
    daemon = launch()
    daemon.start()
    daemon.client().sync()
    for path in [daemon.socket, *daemon.state.rglob("*"), daemon.state]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_service_manager_is_notified_of_start_reload_and_stop(launch: Launch, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(10)
        daemon = launch()
        daemon.env["NOTIFY_SOCKET"] = str(tmp_path / "notify")
        daemon.start()
        assert b"READY=1" in manager.recv(4096)
        os.kill(daemon.pid, signal.SIGHUP)
        assert manager.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert b"READY=1" in manager.recv(4096)
        daemon.config.write_text(daemon.config.read_text()[:-1] + ', "memory": {"citations": "on"}}')
        os.kill(daemon.pid, signal.SIGHUP)
        assert manager.recv(4096).startswith(b"RELOADING=1")
        assert daemon.stop() == Exit.DONE
        assert b"STOPPING=1" in b"".join(_received(manager))


def _received(manager: socket.socket) -> Iterator[bytes]:
    manager.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            yield manager.recv(4096)
