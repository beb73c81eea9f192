"""The output of a backup and its errors, without a daemon."""

import os
import shlex
import sys
from contextlib import closing
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess

import apsw
import pytest

from memoryd.config.paths import workspace_state_dir
from memoryd.store.ledger.database import LEDGER
from memoryd.store.migrations import new_database
from memoryd.wire import Exit
from tests.warm.programs import ran

MEMORYCTL = (sys.executable, "-c", "from memoryd.cli.main import main; main()")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a configuration and a ledger."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MEMORYD_CONFIG", str(tmp_path / "config.json5"))
    (tmp_path / "config.json5").write_text('{agents: {defaults: {workspace: "~/notes"}}}')
    (tmp_path / "notes").mkdir()
    ledger = ledger_in(tmp_path)
    ledger.parent.mkdir(parents=True, mode=0o700)
    ledger.write_bytes(new_database(LEDGER, page_bytes=8192))
    ledger.chmod(0o600)
    return tmp_path


def ledger_in(home: Path) -> Path:
    return workspace_state_dir(home / "notes") / "ledger.sqlite"


def backed_up(*words: str, stdout: int = PIPE) -> CompletedProcess[str]:
    return ran(
        [*MEMORYCTL, "backup", *words], stdout=stdout, stderr=PIPE, text=True, env=dict(os.environ), stdin=DEVNULL
    )


def test_pipe_link_and_folder_are_not_overwritten(home: Path) -> None:
    os.mkfifo(home / "pipe")
    (home / "link").symlink_to(home / "pipe")
    for name, said in {"pipe": "no regular file", "link": "a link", "notes": "a folder"}.items():
        done = backed_up(str(home / name), "--force")
        assert (done.returncode, said in done.stderr) == (Exit.ERROR, True)
    assert (home / "pipe").is_fifo()
    assert (home / "link").is_symlink()
    (home / "b.tar").write_text("old")
    assert backed_up(str(home / "b.tar"), "--force").returncode == Exit.DONE
    assert (home / "b.tar").stat().st_size > 8192


def test_backup_without_the_notes_replaces_none_that_has_them(home: Path) -> None:
    (home / "b.tar").write_text("old")
    (home / "notes").rmdir()
    done = backed_up(str(home / "b.tar"), "--notes", "--force")
    assert (done.returncode, f"there is no folder {home / 'notes'}" in done.stderr) == (Exit.CANNOT_CREATE, True)
    assert (home / "b.tar").read_text() == "old"
    (home / "notes").mkdir()
    (home / "config.json5").write_text(
        '{agents: {defaults: {workspace: "~/notes", memorySearch: {extraPaths: ["."]}}}}'
    )
    assert "extraPaths names are not in it" in backed_up(str(home / "b.tar"), "--notes", "--force").stderr


def test_printed_restore_command_is_shell_quoted(home: Path) -> None:
    done = backed_up(str(home / "of today.tar"))
    (command,) = (line.partition("back: ")[2] for line in done.stderr.splitlines() if "to bring it back" in line)
    assert shlex.split(command) == ["memoryctl", "restore", str(home / "of today.tar")]


def test_full_output_and_closed_pipe_are_reported(home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    for output in (writer, full):
        done = backed_up("-", stdout=output)
        os.close(output)
        assert done.returncode == Exit.CANNOT_CREATE
        assert "standard output cannot be written" in done.stderr
        assert "Traceback" not in done.stderr


def test_newer_ledger_is_refused_and_nothing_written(home: Path) -> None:
    with closing(apsw.Connection(str(ledger_in(home)))) as db:
        db.pragma("user_version", LEDGER.version + 1)
    done = backed_up(str(home / "b.tar"))
    assert done.returncode == Exit.CANNOT_CREATE
    assert "newer memoryd" in done.stderr
    assert "ignored" not in done.stderr
    assert not (home / "b.tar").exists()
