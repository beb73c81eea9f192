"""Our own log file: bounded, private, and never a cause of failure."""

import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from memoryd import log
from memoryd.cli.local.logs import JournalLog, LogFiles, LogFilter
from memoryd.cli.main import run
from memoryd.config.limits import LogSection
from memoryd.daemon.log_output import LOG_NAME, MAX_BYTES, LogFile, OwnLog, standard_error
from memoryd.wire import Exit

OPENED: list[LogFile | OwnLog] = []
EVERYTHING = LogFilter(("debug", "info", "warning", "error"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state" / "log"
    structlog.reset_defaults()
    while OPENED:
        OPENED.pop().close()


def own_log(folder: Path, **settings: object) -> OwnLog:
    found = OwnLog(folder, {})
    OPENED.append(found)
    found.set_up(LogSection.model_validate({"file": "on", **settings}))
    return found


def log_file(folder: Path, **settings: int) -> LogFile:
    found = LogFile(folder / LOG_NAME, **settings)
    OPENED.append(found)
    return found


def lines(folder: Path) -> list[str]:
    return [line.text for line in LogFiles(folder).last(1000, EVERYTHING)]


def entries(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines(folder)]


def test_f129_an_hour_of_errors_stays_bounded(folder: Path) -> None:
    """A hundred thousand errors of one kind are sixty lines and a count; other events are still logged."""
    own = own_log(folder)
    events = structlog.get_logger("test")
    for number in range(100_000):
        events.error("scan failed", number=number)
    events.info("ready")
    own._report(is_end=True)
    found = entries(folder)
    assert [one["event"] for one in found] == ["scan failed"] * 60 + ["ready", "events were left out"]
    assert (found[-1]["of"], found[-1]["count"]) == ("scan failed", 99_940)
    assert own.state()["leftOut"] == 99_940


def test_f129_log_is_rotated_within_its_limit(folder: Path) -> None:
    """Thirty megabytes of long lines of all kinds leave less than twenty on disk, the last of them among these."""
    own = own_log(folder, maxPerMinute=1_000_000)
    events = structlog.get_logger("test")
    for number in range(600):
        events.error(f"trouble {number}", exception="é" * 50_000)
    events.info("last")
    state = own.state()
    assert state["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert 10_000_000 < state["bytes"] <= state["maxBytes"] == MAX_BYTES < 20_000_000
    assert entries(folder)[-1]["event"] == "last"
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_very_long_line_is_truncated(folder: Path) -> None:
    file = log_file(folder)
    assert file.write("a" * 10_000_000 + "z")
    assert file.bytes() < 100_000
    assert lines(folder)[0].endswith("z")


def test_removed_file_or_folder_is_recreated(folder: Path) -> None:
    file = log_file(folder)
    assert file.write("one")
    (folder / LOG_NAME).unlink()
    assert file.write("two")
    assert lines(folder) == ["two"]
    (folder / LOG_NAME).unlink()
    folder.rmdir()
    assert file.write("three")
    assert lines(folder) == ["three"]


def test_unwritable_log_goes_to_stderr(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder.parent.mkdir()
    folder.write_text("no folder")
    own = own_log(folder)
    structlog.get_logger("test").warning("unheard")
    assert "unheard" in capfd.readouterr().err
    assert own.state()["reason"]
    folder.unlink()
    structlog.get_logger("test").warning("heard")
    assert own.state()["reason"] is None
    assert entries(folder)[0]["event"] == "heard"


def test_full_disk_loses_only_the_line(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / LOG_NAME).symlink_to("/dev/full")
    file = log_file(folder)
    assert not file.write("lost"), "a link is not followed either"
    assert file.trouble
    (folder / LOG_NAME).unlink()
    assert file.write("kept")


def test_unread_pipe_does_not_block(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / LOG_NAME)
    file = log_file(folder)
    assert not file.write("lost")
    assert file.trouble == "it is not a file"
    reader = os.open(folder / LOG_NAME, os.O_RDONLY | os.O_NONBLOCK)
    assert not file.write("lost to whoever reads it, too")
    assert os.read(reader, 100) == b""
    os.close(reader)
    (folder / LOG_NAME).unlink()
    assert file.write("kept")


def test_unread_stderr_does_not_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines for which a pipe has no room are lost and counted; once it is read, lines come again, whole."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        own = OwnLog(folder, {})
        own.set_up(LogSection.model_validate({"file": "off", "maxPerMinute": 1_000_000}))
        events = structlog.get_logger("test")
        for number in range(100):
            events.error("unread", number=number, text="x" * 9_000)
        os.set_blocking(reader, False)
        unread = os.read(reader, 1 << 20)
        own._report(is_end=True)
        events.info("ready")
    read = os.read(reader, 1 << 20)
    os.close(reader)
    assert read.startswith(b"\n") == (not unread.endswith(b"\n")), "a partial line is ended first"
    lost, ready = read.strip().splitlines()
    assert 50 < json.loads(lost)["count"] < 100
    assert json.loads(ready)["event"] == "ready"


def test_f129_logs_of_libraries_are_bounded_too(folder: Path) -> None:
    """A flood of errors of a library is sixty lines of JSON and a count, with their tracebacks."""
    own = own_log(folder)
    root = logging.getLogger()
    before = list(root.handlers)
    log.route_library_logs()
    log.route_library_logs()
    try:
        for number in range(5_000):
            logging.getLogger("asyncio").error("out of %d", number, exc_info=OSError(24, "Too many open files"))
    finally:
        root.handlers[:] = before
    own._report(is_end=True)
    found = entries(folder)
    assert [one["event"] for one in found] == ["asyncio has something to say"] * 60 + ["events were left out"]
    assert (found[0]["said"], found[0]["level"], found[-1]["count"]) == ("out of 0", "error", 4_940)
    assert "Too many open files" in str(found[0]["exception"])


def test_following_continues_after_a_rotation(folder: Path) -> None:
    file = log_file(folder, file_bytes=60)
    file.write("before")
    files = LogFiles(folder)
    assert [line.text for line in files.last(10, EVERYTHING)] == ["before"]
    following = files.following()
    file.write("one")
    assert next(following).text == "one"
    file.write("two " + "x" * 40)
    file.write("three " + "x" * 40)
    assert [next(following).text[:5] for _ in range(2)] == ["two x", "three"]


def test_journal_is_recognised_by_its_stream() -> None:
    found = os.fstat(2)
    assert standard_error({"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}) == "journal"
    assert standard_error({"JOURNAL_STREAM": "1:1"}) != "journal"
    assert standard_error({}) != "journal"


def test_logs_command_works_without_a_daemon(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(folder.parent))
    monkeypatch.setenv("MEMORYD_SOCKET", str(folder.parent / "nobody.sock"))
    monkeypatch.setenv("PATH", "")
    assert run(["logs"]) == Exit.NOTHING_FOUND
    assert "there is no log file" in capsys.readouterr().err
    own_log(folder)
    events = structlog.get_logger("test")
    events.info("ready", socket="/run/a.sock")
    events.warning("socket lost", reason="removed")
    log.configure("ERROR")
    assert run(["logs"]) == Exit.DONE
    ready, lost = capsys.readouterr().out.splitlines()
    assert "ready  socket=/run/a.sock" in ready
    assert "warning" in lost
    assert run(["logs", "-n", "5", "--level", "warning", "--since", "10m", "--json"]) == Exit.DONE
    (only,) = capsys.readouterr().out.splitlines()
    assert json.loads(only)["reason"] == "removed"
    assert run(["logs", "--since", "soon"]) == Exit.ERROR


def test_errors_before_many_other_lines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, held = tmp_path / "journalctl", tmp_path / "held"
    line = '{"timestamp": "2026-11-20T08:30:00Z", "level": "%s", "event": "%s"}\n'
    held.write_text(line % ("error", "disk is full") + line % ("info", "ready") * 3000)
    # prints as many lines as requested
    journal.write_text(f'#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nexec tail -n "$2" {held}\n')
    journal.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert [one.fields["event"] for one in JournalLog().last(5, LogFilter(("error",)))] == ["disk is full"]
    assert len(list(JournalLog().last(5, EVERYTHING))) == 5
