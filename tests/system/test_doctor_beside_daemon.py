"""memoryctl doctor beside the real daemon: it takes its word, looks into its files, and never writes to them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.store.connection import Connector
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.system.words_only import words_only
from tests.waiting import eventually

Found = dict[str, Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with words_only(tmp_path_factory.mktemp("doctor")) as daemon:
        yield daemon


def doctor(daemon: RunningDaemon, *arguments: str) -> tuple[int, Found]:
    done = daemon.memoryctl("doctor", "--json", *arguments)
    told: Found = json.loads(done.stdout)
    return done.returncode, told


def said(told: Found, check: str) -> str:
    return " ".join(f"{one['state']}: {one['message']}" for one in told["checks"] if one["check"] == check)


def test_all_is_well_beside_a_daemon(running: RunningDaemon) -> None:
    with running.client() as client:
        # listened to for the first time a second after the start
        eventually(lambda: (told := client.status()["daemon"]) is not None and told["heartbeats"])
    code, told = doctor(running, "--deep")
    assert code == Exit.DONE, told
    assert told["summary"]["wrong"] == 0
    for check in ("socket.answers", "daemon.lock", "daemon.heartbeats", "watcher.alive", "watcher.scan", "index.sound"):
        assert said(told, check).startswith("ok: "), check
    assert f"pid {running.pid}" in said(told, "daemon.lock")
    assert "2 notes compared, none differs" in said(told, "index.disk")


def test_note_that_was_just_saved_is_no_difference(running: RunningDaemon) -> None:
    (running.workspace / "memory" / "just-now.md").write_text("# Now\n\nThe kettle is blue.\n")
    code, told = doctor(running, "--section", "index", "--deep")
    assert code == Exit.DONE, told
    assert "3 notes compared, none differs" in said(told, "index.disk")


def test_index_that_tells_otherwise_than_the_disk_is_read_again_by_fix(running: RunningDaemon) -> None:
    path = Path(running.agent()["database"]["path"])
    # as after a copy of an older index was put back: what the daemon goes by is as it was, and what it read is not
    writer = Connector(path).writer()
    writer.execute("UPDATE files SET sha256 = zeroblob(32) WHERE path = 'MEMORY.md'").fetchall()
    writer.close()
    code, told = doctor(running, "--section", "index", "--deep")
    assert code == Exit.ERROR
    assert "changed since: MEMORY.md" in said(told, "index.disk")
    assert "gateway" not in json.dumps(told)
    code, told = doctor(running, "--section", "index", "--deep", "--fix")
    assert [one["done"] for one in told["fixes"]] == [True]
    assert "reads all notes again" in told["fixes"][0]["told"]
    running.client().sync()
    code, told = doctor(running, "--section", "index", "--deep")
    assert code == Exit.DONE, told


def test_configuration_that_the_daemon_does_not_know_is_told_until_it_is_read_again(running: RunningDaemon) -> None:
    changed = running.config.stat().st_mtime
    os.utime(running.config, (changed + 3600, changed + 3600))
    _, told = doctor(running, "--section", "config")
    assert "was changed" in said(told, "config.loaded")
    os.utime(running.config, (changed, changed))
    assert running.memoryctl("reload").returncode == Exit.DONE
    _, told = doctor(running, "--section", "config")
    assert said(told, "config.loaded") == ""


def test_socket_that_others_may_use_is_closed_by_fix(running: RunningDaemon) -> None:
    running.socket.chmod(0o666)
    code, told = doctor(running, "--section", "socket")
    assert code == Exit.ERROR
    assert "open to others (mode 0666)" in said(told, "socket.access")
    code, told = doctor(running, "--section", "socket", "--fix")
    assert code == Exit.DONE
    assert running.socket.stat().st_mode & 0o777 == 0o600
