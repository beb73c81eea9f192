"""Rows 121 to 131 of the fault catalogue: the life of the process. The number is in each name.

More on locks (126, 127) and the watchdog (124) is in tests/integration; torture (121) has its own file.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memoryd
from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, MemorydError, NotNow
from memoryd.wire import Exit
from tests.fault import check
from tests.fault.faults import fired, injected, spawn_behind, spawn_program, spawned_traced
from tests.fault.stage import EVENTS_ONLY, QUICK, Stage
from tests.sweeps import swept, whole_or
from tests.waiting import SECONDS, eventually
from tests.warm.programs import NURSERY, started


@pytest.mark.torture
def test_f122_first_scan_makes_progress_despite_kills(stage: Stage) -> None:
    """Each start indexes more notes than the killed one before, and the last all."""
    for number in range(600):
        stage.write(f"bank/{number}.md", f"# Note {number}\n\n" + f"word{number} " * 40)
    stage.prepare(QUICK)
    seen = 0
    for _ in range(3):
        stage.daemon.start()
        eventually(lambda seen=seen: stage.status()["files"] > seen)  # type: ignore[misc]  # default unknown
        stage.daemon.kill()
        seen = len({line.path for line in check.dump(check.index_of(stage.daemon))})
    stage.daemon.start()
    stage.converges()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_f123_stop_signal_under_load_stops_cleanly(stage: Stage, number: signal.Signals) -> None:
    """TERM and INT under load stop the daemon within 10 s, without a remaining socket or log."""
    stage.start()
    for note in range(200):
        stage.write(f"bank/{note}.md", f"note {note}")
    started = time.monotonic()
    os.kill(stage.daemon.pid, number)
    assert stage.daemon.reap() == 0
    assert time.monotonic() - started < 10
    assert not stage.daemon.socket.exists()
    index = check.index_of(stage.daemon)
    assert not index.with_name("index.sqlite-wal").exists()
    check.check_inside(index)


@swept(
    ("path", "piece", "count"),
    [("bank/world.md", "- a{}\n", 800_000), ("memory/large.md", "many words of one line ", 600_000)],
    1,
)
def test_f123_stop_signal_does_not_wait_for_a_large_note(stage: Stage, path: str, piece: str, count: int) -> None:
    """TERM while a large note of any kind is read stops the daemon in time."""
    stage.start(QUICK)
    stage.write(path, "".join(map(piece.format, range(count))))
    eventually(lambda: stage.status()["pendingFiles"], step=0.02)
    time.sleep(1.0)  # the fault itself: in the middle of the note
    begun = time.monotonic()
    os.kill(stage.daemon.pid, signal.SIGTERM)
    assert stage.daemon.reap() == 0
    assert time.monotonic() - begun < 6
    stage.write(path, "# Small\n\n- willow\n")
    stage.daemon.start()
    stage.converges()


def test_f123_hang_up_scans_and_broken_pipe_is_ignored(stage: Stage) -> None:
    """HUP finds a new note without any other scan, PIPE does nothing, USR1 writes the stacks."""
    stage.start({**QUICK, "watch": False, "reconcileSeconds": 3600, "onSearch": False})
    stage.write("memory/new.md", "seen at the signal: willow")
    os.kill(stage.daemon.pid, signal.SIGPIPE)
    os.kill(stage.daemon.pid, signal.SIGHUP)
    stage.eventually_finds("willow")
    os.kill(stage.daemon.pid, signal.SIGUSR1)
    eventually(lambda: "Thread 0x" in stage.daemon.log.read_text())
    assert stage.finds("alder")


AT_WORK = """
import threading, time
from memoryd.daemon import main
def deep(steps):
    return steps and deep(steps - 1)
def work():
    while True:
        deep(220)
main._harden()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
print(flush=True)
time.sleep(60)
"""


@pytest.mark.sweep
def test_f123_stacks_of_working_threads_are_logged_safely() -> None:
    """Repeated USR1 while stacks change does not end the process; ABRT then does."""
    with started([sys.executable, "-c", AT_WORK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(whole_or(100, 300)):
            process.send_signal(signal.SIGUSR1)
            time.sleep(0.003)  # the fault itself: at any moment of their work
        process.send_signal(signal.SIGABRT)
        assert process.wait(60) == -signal.SIGABRT


HUNG_UP_AT_START = """
import os, signal
from memoryd.daemon import main
real = main.complete_interrupted
def finish(folder):
    os.kill(os.getpid(), signal.SIGHUP)
    return real(folder)
main.complete_interrupted = finish
main.main()
"""


def test_f123_hang_up_during_the_start_reloads_afterwards(stage: Stage) -> None:
    """HUP right after the lock is taken does not end the daemon, and the configuration is reloaded."""
    stage.prepare(QUICK)
    stage.daemon.process = spawn_program(stage.daemon, "-c", HUNG_UP_AT_START)
    eventually(lambda: stage.daemon.answers() or not stage.daemon.is_running())
    eventually(lambda: '"event": "reloaded"' in stage.daemon.log.read_text())
    assert stage.finds("alder")


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGABRT])
def test_f123_crash_signal_leaves_a_sound_index(stage: Stage, number: signal.Signals) -> None:
    """QUIT and ABRT end the daemon with their signal, ABRT with a stack, and the next start converges."""
    stage.start()
    os.kill(stage.daemon.pid, number)
    assert stage.daemon.reap() == -number
    assert ("Fatal Python error: Aborted" in stage.daemon.log.read_text()) == (number is signal.SIGABRT)
    stage.daemon.start()
    stage.converges()


def test_f123_second_stop_signal_ends_at_once(stage: Stage, strace: None) -> None:
    """A second TERM ends a daemon that waits for its disk, and the next start converges."""
    stage.start()
    with injected(stage.daemon.pid, stage.home / "log", "fdatasync:delay_enter=3000000"):
        for note in range(50):
            stage.write(f"bank/{note}.md", f"note {note}")
        os.kill(stage.daemon.pid, signal.SIGTERM)
        eventually(lambda: "stopping" in stage.daemon.log.read_text())
        with contextlib.suppress(ProcessLookupError):
            os.kill(stage.daemon.pid, signal.SIGTERM)
        eventually(lambda: not stage.daemon.is_running(), seconds=8)
    assert stage.daemon.reap() in (0, -signal.SIGTERM)
    stage.daemon.start()
    stage.converges()


@pytest.mark.parametrize("path", ["probe", "probe/cookie", "run", "workspaces"])
def test_f125_obstacle_in_the_state_directory_is_harmless(stage: Stage, path: str) -> None:
    """With an obstacle in its state folder the daemon starts, indexes and finds a later note."""
    stage.prepare()
    target = stage.daemon.state / path
    target.parent.mkdir(parents=True)
    if path == "probe/cookie":
        target.mkdir()
    elif path == "workspaces":
        target.mkdir(mode=0o700)
        (target / "rubbish").write_text("not a folder")
    else:
        target.write_text("not a folder")
    stage.daemon.start()
    stage.sync()
    stage.write("memory/new.md", "all the same: willow")
    stage.eventually_finds("willow")


FAULTY = """
import asyncio, importlib, sys
from pathlib import Path

module, name, method = sys.argv.pop(1).split()
where = importlib.import_module(module)
owner = where if name == "-" else getattr(where, name)
real, fault = getattr(owner, method), Path(sys.argv.pop(1))

async def dies(*arguments):
    living = asyncio.ensure_future(real(*arguments))
    try:
        while not living.done():
            await asyncio.sleep(0.02)
            if fault.exists():
                fault.unlink()
                raise ValueError("a fault of ours")
        return living.result()
    finally:
        living.cancel()

setattr(owner, method, dies)
importlib.import_module("memoryd.daemon.main").main()
"""
"""The daemon with one loop that dies when a file exists."""
ESSENTIAL = [
    "memoryd.index.indexer Indexer run",
    "memoryd.index.keeper Keeper run",
    "memoryd.daemon.heartbeats - watch_clocks",
    "memoryd.daemon.heartbeats - collect_when_quiet",
    "memoryd.api.http.server Server run",
]
OPTIONAL = {
    "watcher": "memoryd.index.watcher FileWatcher run",
    "probe": "memoryd.index.watcher FileWatcher run_probe",
    "embedding main": "memoryd.index.embedding_loop EmbeddingLoop run",
    "outside main": "memoryd.agents.workspace.index OutsideCounter run",
    "memories main": "memoryd.memory.book MemoryCache run",
}


def _start_faulty(stage: Stage, loop: str, fault: Path) -> None:
    stage.daemon.process = spawn_program(stage.daemon, "-c", FAULTY, loop, str(fault))
    eventually(lambda: stage.daemon.answers() or not stage.daemon.is_running())
    stage.sync()


@swept("loop", [*ESSENTIAL], 2)
def test_f125_essential_loop_that_dies_ends_the_daemon(stage: Stage, loop: str) -> None:
    """When an essential loop dies the daemon ends with an error and its reason; the next start works."""
    stage.prepare()
    fault = stage.home / "fault"
    _start_faulty(stage, loop, fault)

    def has_ended() -> bool:
        # repeatedly: the keeper of the conversations may take the fault, too, and is restarted
        fault.touch()
        return not stage.daemon.is_running()

    eventually(has_ended)
    assert stage.daemon.reap() > 0
    assert "a fault of ours" in stage.daemon.log.read_text()
    assert not stage.daemon.socket.exists()
    stage.write("memory/new.md", "after the fault: willow")
    stage.daemon.start()
    stage.sync()
    assert stage.finds("willow")


@swept("name", [*OPTIONAL], 2)
def test_f125_optional_loop_that_dies_is_reported_and_restarted(stage: Stage, name: str) -> None:
    """A loop that dies is named in status and restarted, and the daemon keeps answering."""
    stage.prepare(EVENTS_ONLY)
    fault = stage.home / "fault"
    _start_faulty(stage, OPTIONAL[name], fault)

    def is_reported() -> bool:
        if not fault.exists():
            # again: the loop of the conversations may take the fault, too
            fault.touch()
        return "a fault of ours" in stage.degraded().get(name, "")

    eventually(is_reported)
    fault.unlink(missing_ok=True)
    assert stage.finds("alder")
    eventually(lambda: name not in stage.degraded())
    stage.write("memory/new.md", "after the fault: willow")
    stage.eventually_finds("willow")
    assert stage.daemon.stop() == 0


@swept("at", range(1, 9), 2)
def test_f125_f136_failed_thread_start_ends_the_daemon_or_is_harmless(stage: Stage, strace: None, at: int) -> None:
    """A thread that cannot be started ends the daemon with an error or leaves it working; then it converges."""
    log = stage.home / "strace.log"
    with spawned_traced(stage.prepare(), log, f"clone3:error=EAGAIN:when={at}"):
        # the number of threads of a start varies: concurrent questions start the rest
        eventually(lambda: fired(log) or _fires(stage, log))
        eventually(lambda: _is_ready(stage) or not stage.daemon.is_running())
        stage.write("memory/new.md", "after the fault: willow")
        if stage.daemon.is_running():
            stage.eventually_finds("willow")
            assert stage.daemon.stop() == 0
        else:
            assert stage.daemon.reap() != 0
    stage.daemon.start()
    stage.converges()


def _fires(stage: Stage, log: Path) -> bool:
    """Ask eight questions at once, and tell whether a fault has fired."""

    def ask(_number: int) -> None:
        # the question that meets the fault may fail
        with contextlib.suppress(MemorydError), Client(stage.daemon.socket, timeout=5) as client:
            client.search("alder")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(8)))
    return bool(fired(log))


def _is_ready(stage: Stage) -> bool:
    with contextlib.suppress(DaemonNotRunning, NotNow), Client(stage.daemon.socket, timeout=5) as client:
        return client.health()["ready"]
    return False


@swept(
    "bare", [{"LANG": "C", "LC_ALL": "C"}, {"LANG": "de_DE.ISO-8859-1", "PYTHONUTF8": "0", "HOME": "/proc/nowhere"}], 1
)
def test_f133_bare_environment_reads_notes_as_utf8(stage: Stage, bare: dict[str, str]) -> None:
    """Without a HOME, or with a missing one, and another locale, a note with accents is indexed, found and read."""
    stage.write("memory/größe.md", "Die Größe: 漢字 weißdorn\n")
    stage.prepare(environment=bare)
    for name in {"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} - bare.keys():
        stage.daemon.env.pop(name)
    stage.daemon.start()
    stage.sync()
    assert stage.places("weißdorn") == ["memory/größe.md"]
    with stage.client as client:
        assert client.get("memory/größe.md")["text"] == "Die Größe: 漢字 weißdorn\n"
    stage.converges()


def test_f138_slow_disk_delays_no_answer(stage: Stage, strace: None) -> None:
    """While every sync of the disk takes seconds, answers take their usual time."""
    stage.start(search={"query": {"freshMs": 100}})
    log = stage.home / "strace.log"
    took: list[float] = []

    def is_delayed() -> bool:
        # the text of a removed note is moved out of the log, with a sync of the disk
        stage.write(f"bank/{len(took)}.md", f"note {len(took)}")
        (stage.workspace / "bank" / f"{len(took) - 20}.md").unlink(missing_ok=True)
        started = time.monotonic()
        assert stage.finds("alder")
        took.append(time.monotonic() - started)
        return log.read_text().count("DELAYED") > 2

    with injected(stage.daemon.pid, log, "fdatasync,fsync:delay_enter=2000000"):
        eventually(is_delayed)
    assert max(took) < 2
    stage.converges()


def test_f140_signals_and_interrupted_calls_are_harmless(stage: Stage, strace: None) -> None:
    """During many signals and interrupted calls notes are found and the index converges."""
    stage.start()
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "read,pread64,openat,fdatasync:error=EINTR:when=3+7"):
        for number in range(60):
            os.kill(stage.daemon.pid, signal.SIGCHLD)
            os.kill(stage.daemon.pid, signal.SIGWINCH)
            os.kill(stage.daemon.pid, signal.SIGURG)
            stage.write(f"bank/{number}.md", f"note {number}")
            assert stage.finds("alder")
        assert fired(log)
    assert stage.daemon.is_running()
    stage.converges()


def test_f060_f126_only_one_of_several_daemons_runs(stage: Stage) -> None:
    """Of twenty started at once, and a later one, one runs; the others end with their exit code and one sentence."""
    stage.prepare()
    started = [stage.daemon.spawn() for _ in range(20)]
    eventually(lambda: sum(process.poll() is None for process in started) == 1)
    (running,) = [process for process in started if process.poll() is None]
    stage.daemon.process = running
    assert {process.returncode for process in started if process is not running} == {Exit.ALREADY_RUNNING}
    log_text = stage.daemon.log.read_text()
    assert log_text.count("memoryd: ") == 19
    assert log_text.count(f"(pid {running.pid}") + log_text.count("pid unknown") == 19
    assert "Traceback" not in log_text
    eventually(stage.daemon.socket.exists)
    stage.sync()
    assert stage.daemon.spawn().wait(SECONDS) == Exit.ALREADY_RUNNING
    assert stage.finds("alder")


def test_f127_foreign_pid_in_the_lock_file_is_ignored(stage: Stage) -> None:
    """With the pid of another living process in its lock file, the daemon starts and answers."""
    stage.prepare()
    stage.daemon.state.mkdir(parents=True)
    (stage.daemon.state / "memoryd.lock").write_text(f"{os.getpid()}\n/nowhere\n")
    stage.daemon.start()
    stage.sync()
    assert stage.finds("alder")


def test_f128_full_or_closed_output_is_harmless(stage: Stage) -> None:
    """With full or closed output the daemon indexes, answers and stops."""
    stage.prepare()
    for redirection in (">/dev/full 2>/dev/full", ">&- 2>&- <&-"):
        script = f'exec "$@" {redirection}'
        stage.daemon.process = spawn_behind(stage.daemon, ("sh", "-c", script, "sh"))
        eventually(stage.daemon.answers)
        stage.sync()
        stage.write("memory/new.md", "unheard: willow")
        stage.eventually_finds("willow")
        # Python itself ends with 120 when it cannot flush its output
        assert stage.daemon.stop() in (0, 120)


def test_f129_lasting_trouble_is_logged_rarely_and_without_text(stage: Stage, strace: None) -> None:
    """Seconds of failing writes give fewer than 12 warnings, and no word of a note."""
    stage.start({**QUICK, "reconcileSeconds": 0.1})
    stage.write("memory/secret.md", "nobody may read in a log of the periwinkle")
    index = check.index_of(stage.daemon)
    files = (index, index.with_name("index.sqlite-wal"))
    before = len(stage.daemon.log.read_text())
    with injected(stage.daemon.pid, stage.home / "log", "pwrite64:error=ENOSPC", paths=files):
        stage.write("memory/other.md", "not written")
        eventually(lambda: "index" in stage.degraded())
        end = time.monotonic() + 3
        while time.monotonic() < end:
            stage.finds("periwinkle")
            time.sleep(0.05)
    log_text = stage.daemon.log.read_text()[before:]
    assert log_text.count("warning") < 12
    assert "periwinkle" not in log_text


def test_f130_deleted_program_keeps_working(stage: Stage) -> None:
    """With its program deleted, all calls, a rebuild and a stop still work."""
    stage.prepare()
    copy = stage.home / "program"
    shutil.copytree(Path(memoryd.__file__).parent, copy / "memoryd")
    environment = {**stage.daemon.env, "PYTHONPATH": str(copy)}
    stage.daemon.process = _start_in(stage, copy, environment)
    eventually(lambda: stage.daemon.socket.exists() or not stage.daemon.is_running())
    stage.sync()
    shutil.rmtree(copy)
    stage.write("memory/new.md", "---\nmemory: true\n---\n\nafter the upgrade: willow")
    stage.write(".memoryignore", "memory/private*\n")
    stage.write("memory/private.md", "left out")
    stage.sync()
    with stage.client as client:
        assert client.search("willow", since="2001-01-01", paths=["memory/**"])["results"]
        assert client.get("memory/new.md")["lines"]
        assert client.status()["agents"]
        client.retain("W @Peter: after the upgrade he keeps bees")
        _change_a_key(stage)
        reloaded = client.reload()
        assert reloaded["reloaded"], reloaded
        assert reloaded["changed"] == ["agents.defaults.memorySearch.query.maxResults"]
        recalled = client.recall("bees")
        assert [item["content"] for item in recalled["results"]] == ["after the upgrade he keeps bees"], recalled
        assert "memoryd_" in client.metrics()
        client.reindex(force=True)
        with pytest.raises(Exception, match="no document"):
            client.get("memory/private.md")
    index = check.index_of(stage.daemon)
    shutil.rmtree(index.parent)
    stage.eventually_finds("willow")
    assert "Traceback" not in stage.daemon.log.read_text()
    assert stage.daemon.stop() == 0


def _change_a_key(stage: Stage) -> None:
    given = json.loads(stage.daemon.config.read_text())
    search = given["agents"]["defaults"]["memorySearch"]
    search["query"] = {**search.get("query", {}), "maxResults": 7}
    stage.daemon.config.write_text(json.dumps(given))


def _start_in(stage: Stage, folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    (stage.home / "home").mkdir(exist_ok=True)
    with stage.daemon.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "memoryd.daemon.main"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def test_f115_f123_requests_during_the_stop_are_answered_or_refused(stage: Stage) -> None:
    """While eight clients ask without a pause, TERM stops the daemon; each call is answered or refused."""
    stage.start()
    answered: list[int] = []
    with ThreadPoolExecutor(8) as clients:
        asking = [clients.submit(_ask_to_the_end, stage.daemon.socket, number, answered) for number in range(8)]
        eventually(lambda: len(set(answered)) == len(asking) or any(client.done() for client in asking))
        os.kill(stage.daemon.pid, signal.SIGTERM)
        assert stage.daemon.reap() == 0
        assert [client.result() for client in asking] == [None] * len(asking)
    assert not NURSERY.children()
    assert "Traceback" not in stage.daemon.log.read_text()


def _ask_to_the_end(socket: Path, number: int, answered: list[int]) -> None:
    """Ask until the daemon is gone, and record each answer; raise any error but a refusal."""
    with Client(socket, timeout=20) as client, contextlib.suppress(DaemonNotRunning):
        while True:
            with contextlib.suppress(NotNow):
                if client.search("alder")["results"]:
                    answered.append(number)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{\n agents: ", ":2:"),
        ("{agents: {defaults: {\n memorySerch: {}}}}", ":\n  line 2: agents.defaults.memorySerch"),
        ("[]", ": must hold one object"),
    ],
)
def test_f131_bad_configuration_ends_with_its_exit_code(stage: Stage, text: str, place: str) -> None:
    """A bad configuration ends the daemon with exit code 78, file and line, no traceback and no state folder."""
    stage.prepare()
    stage.daemon.config.write_text(text)
    assert stage.daemon.spawn().wait(SECONDS) == Exit.CONFIG
    assert not stage.daemon.state.exists()
    log_text = stage.daemon.log.read_text()
    assert f"{stage.daemon.config}{place}" in log_text
    assert "Traceback" not in log_text
