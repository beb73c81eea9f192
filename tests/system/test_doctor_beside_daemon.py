"""`memoryctl doctor` beside the real daemon: asks it, reads its files, and never writes to them."""

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

Report = dict[str, Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with words_only(tmp_path_factory.mktemp("doctor")) as daemon:
        yield daemon


def doctor(daemon: RunningDaemon, *arguments: str) -> tuple[int, Report]:
    done = daemon.memoryctl("doctor", "--json", *arguments)
    report: Report = json.loads(done.stdout)
    return done.returncode, report


def messages(report: Report, check: str) -> str:
    return " ".join(f"{row['state']}: {row['message']}" for row in report["checks"] if row["check"] == check)


def test_running_daemon_passes_all_checks(running: RunningDaemon) -> None:
    with running.client() as client:
        # heartbeats start a second after the daemon
        eventually(lambda: (report := client.status()["daemon"]) is not None and report["heartbeats"])
    code, report = doctor(running, "--deep")
    assert code == Exit.DONE, report
    assert report["summary"]["wrong"] == 0
    for check in ("socket.answers", "daemon.lock", "daemon.heartbeats", "watcher.alive", "watcher.scan", "index.sound"):
        assert messages(report, check).startswith("ok: "), check
    assert f"pid {running.pid}" in messages(report, "daemon.lock")
    assert "2 notes compared, none differs" in messages(report, "index.disk")


def test_just_saved_note_is_no_difference(running: RunningDaemon) -> None:
    (running.workspace / "memory" / "just-now.md").write_text("# Now\n\nThe kettle is blue.\n")
    code, report = doctor(running, "--section", "index", "--deep")
    assert code == Exit.DONE, report
    assert "3 notes compared, none differs" in messages(report, "index.disk")


def test_fix_rereads_notes_when_index_differs_from_disk(running: RunningDaemon) -> None:
    path = Path(running.agent()["database"]["path"])
    # as if an older index was restored: the hash differs, and the daemon's marks do not
    writer = Connector(path).writer()
    writer.execute("UPDATE files SET sha256 = zeroblob(32) WHERE path = 'MEMORY.md'").fetchall()
    writer.close()
    code, report = doctor(running, "--section", "index", "--deep")
    assert code == Exit.ERROR
    assert "changed since: MEMORY.md" in messages(report, "index.disk")
    assert "gateway" not in json.dumps(report)
    code, report = doctor(running, "--section", "index", "--deep", "--fix")
    assert [fix["done"] for fix in report["fixes"]] == [True]
    assert "reads all notes again" in report["fixes"][0]["told"]
    running.client().sync()
    code, report = doctor(running, "--section", "index", "--deep")
    assert code == Exit.DONE, report


def test_changed_configuration_is_reported_until_reload(running: RunningDaemon) -> None:
    changed = running.config.stat().st_mtime
    os.utime(running.config, (changed + 3600, changed + 3600))
    _, report = doctor(running, "--section", "config")
    assert "was changed" in messages(report, "config.loaded")
    os.utime(running.config, (changed, changed))
    assert running.memoryctl("reload").returncode == Exit.DONE
    _, report = doctor(running, "--section", "config")
    assert messages(report, "config.loaded") == ""


def test_fix_closes_a_socket_open_to_others(running: RunningDaemon) -> None:
    running.socket.chmod(0o666)
    code, report = doctor(running, "--section", "socket")
    assert code == Exit.ERROR
    assert "open to others (mode 0666)" in messages(report, "socket.access")
    code, report = doctor(running, "--section", "socket", "--fix")
    assert code == Exit.DONE
    assert running.socket.stat().st_mode & 0o777 == 0o600
