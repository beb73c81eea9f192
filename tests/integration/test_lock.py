"""The lock: one daemon per state directory, whatever the file says and however the last daemon ended."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memoryd.config.paths import LOCK_NAME
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import AlreadyRunning, NotPermitted, StoreUnavailable
from tests.warm.programs import started

SOCKET = Path("/run/user/1/memoryd/memoryd.sock")

HOLDER = """
import subprocess, sys
from pathlib import Path
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import AlreadyRunning
try:
    with DaemonLock(Path(sys.argv[1]), socket=Path("/s")):
        child = subprocess.Popen(["sleep", "60"], close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        print("held", child.pid, flush=True)
        sys.stdin.read()
        child.kill()
        child.wait()
except AlreadyRunning:
    print("refused 0", flush=True)
"""


def start_holder(state: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(state)]
    return started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_words(holder: subprocess.Popen[str]) -> tuple[str, int]:
    assert holder.stdout is not None
    word, pid = holder.stdout.readline().split()
    return word, int(pid)


@contextmanager
def another_holder(state: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with start_holder(state) as holder:
        word, child = first_words(holder)
        assert word == "held"
        yield holder, child
        holder.communicate(timeout=60)


def test_f060_second_daemon_learns_pid_and_socket_of_first(tmp_path: Path) -> None:
    """The second daemon gets pid and socket of the first, and the lock when that has ended."""
    with (
        another_holder(tmp_path) as (holder, _),
        pytest.raises(AlreadyRunning) as caught,
        DaemonLock(tmp_path, socket=SOCKET),
    ):
        pass
    assert f"pid {holder.pid}" in str(caught.value)
    assert "/s" in str(caught.value)
    with DaemonLock(tmp_path, socket=SOCKET) as lock:
        assert lock.is_held()


def test_f060_lock_ends_with_its_holder_despite_children(tmp_path: Path) -> None:
    """The lock is free when its holder was killed, though a child of it lives."""
    with start_holder(tmp_path) as holder:
        word, child = first_words(holder)
        assert word == "held"
        holder.kill()
        holder.wait(timeout=60)
        try:
            os.kill(child, 0)  # still alive, and it was started with every descriptor that is inherited
            with DaemonLock(tmp_path, socket=SOCKET) as lock:
                assert lock.is_held()
        finally:
            os.kill(child, 9)


def test_f126_one_of_twenty_simultaneous_starts_wins(tmp_path: Path) -> None:
    """Of twenty that request the lock at once one gets it."""
    holders = [start_holder(tmp_path / "state") for _ in range(20)]
    words = [first_words(holder)[0] for holder in holders]
    for holder in holders:
        holder.communicate(timeout=60)
    assert sorted(words) == ["held"] + ["refused"] * 19


def test_f127_pid_of_another_process_in_file_is_ignored(tmp_path: Path) -> None:
    """The lock is taken and the file rewritten, though it named a living process."""
    (tmp_path / LOCK_NAME).write_text(f"{os.getppid()}\n/old/and/much/longer/than/the/new/one.sock\n" + "x" * 600)
    with DaemonLock(tmp_path, socket=SOCKET):
        assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n{SOCKET}\n"


def test_garbage_in_the_file_does_not_prevent_refusal(tmp_path: Path) -> None:
    with DaemonLock(tmp_path, socket=SOCKET):
        (tmp_path / LOCK_NAME).write_bytes(b"\xff\x00")
        with pytest.raises(AlreadyRunning), DaemonLock(tmp_path, socket=SOCKET):
            pass
        (tmp_path / LOCK_NAME).write_bytes(b"")
        with pytest.raises(AlreadyRunning, match="pid unknown"), DaemonLock(tmp_path, socket=SOCKET):
            pass


def test_lock_file_is_private_and_stays(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with DaemonLock(tmp_path / "a" / "b", socket=SOCKET) as lock:
            assert stat.S_IMODE(lock.path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert lock.path.exists()
    assert not lock.is_held()
    assert [stat.S_IMODE((tmp_path / part).stat().st_mode) for part in ("a", "a/b")] == [0o700, 0o700]


def test_removed_or_replaced_lock_file_is_noticed(tmp_path: Path) -> None:
    with DaemonLock(tmp_path, socket=SOCKET) as lock:
        lock.path.unlink()
        assert not lock.is_held()
        with DaemonLock(tmp_path, socket=SOCKET) as other:
            assert other.is_held()
            assert not lock.is_held()


def test_removed_lock_file_is_locked_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with DaemonLock(state, socket=SOCKET) as lock:
        lock.keep()
        lock.path.unlink()
        state.rmdir()
        lock.keep()
        assert lock.is_held()
        with pytest.raises(AlreadyRunning), DaemonLock(state, socket=SOCKET):
            pass


def test_f060_lock_taken_by_another_daemon_is_reported(tmp_path: Path) -> None:
    """When its file is gone and another daemon holds a new one, the holder gets an error."""
    with DaemonLock(tmp_path, socket=SOCKET) as lock:
        lock.path.unlink()
        with another_holder(tmp_path) as (holder, _):
            with pytest.raises(AlreadyRunning, match=f"pid {holder.pid}"):
                lock.keep()
            assert not lock.is_held()


def test_symlink_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / LOCK_NAME).symlink_to(tmp_path / "precious")
    with pytest.raises(StoreUnavailable), DaemonLock(tmp_path, socket=SOCKET):
        pass
    assert (tmp_path / "precious").read_text() == "text"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory away")
def test_state_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(NotPermitted, match="uid 65534"), DaemonLock(tmp_path, socket=SOCKET):
        pass


def test_uncreatable_state_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="Not a directory"), DaemonLock(tmp_path / "file" / "x", socket=SOCKET):
        pass
