"""memoryctl doctor without a daemon, on really damaged things; each finding has a hint."""

import asyncio
import fcntl
import json
import os
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from memoryd.cli.checks import daemon, index, machine, service
from memoryd.cli.checks.finding import CheckContext, DoctorCheck, Finding
from memoryd.cli.checks.machine import may_be_listed
from memoryd.cli.invocation import Invocation
from memoryd.cli.local.doctor import checks, run_checks
from memoryd.cli.main import run
from memoryd.config.paths import state_dir, workspace_state_dir
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import StoreUnavailable
from memoryd.service.steps import ServiceState
from memoryd.store.connection import Connector, checksum_vfs
from memoryd.store.index.schema import FLOAT_VERSION, INDEX_VERSION
from memoryd.store.ledger.database import LedgerDatabase
from memoryd.wire import Exit
from tests.integration.contract_server import agent, serving, status
from tests.integration.indexing import staged

Captured = pytest.CaptureFixture[str]
Found = dict[str, Any]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with notes and a configuration without an embedder."""
    (tmp_path / "home").mkdir()
    workspace = tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe gateway runs on alder.\n")
    (workspace / "memory" / "2026-10-06.md").write_text("# Tuesday\n\nError GW-4172 came back.\n")
    config = tmp_path / "config.json5"
    defaults = {"workspace": str(workspace), "memorySearch": {"provider": "none"}}
    config.write_text(json.dumps({"agents": {"defaults": defaults}}))
    monkeypatch.setenv("MEMORYD_CONFIG", str(config))
    monkeypatch.setenv("MEMORYD_SOCKET", str(tmp_path / "run" / "memoryd.sock"))
    (tmp_path / "run").mkdir(mode=0o700)
    return workspace


@pytest.fixture
def indexed(notes: Path) -> Path:
    """Return the index of these notes, made by the real indexer and closed."""
    state = workspace_state_dir(notes)
    state.mkdir(parents=True)
    state.parents[1].chmod(0o700)

    async def read() -> None:
        async with staged(notes, state) as stage:
            await stage.sync()

    asyncio.run(read())
    return state / "index.sqlite"


@pytest.fixture
def ledger(notes: Path) -> Path:
    path = workspace_state_dir(notes) / "ledger.sqlite"

    async def made() -> None:
        with ThreadPoolExecutor(1) as executor:
            database = LedgerDatabase(path, executor, is_private=True)
            await database.open()
            await database.close()

    asyncio.run(made())
    return path


def doctor(capsys: Captured, *arguments: str) -> tuple[int, Found]:
    code = run(["doctor", "--json", *arguments])
    report: Found = json.loads(capsys.readouterr().out)
    return code, report


def states(report: Found, check: str) -> list[str]:
    return [one["state"] for one in report["checks"] if one["check"] == check]


def text_of(report: Found, check: str) -> str:
    return " ".join(f"{one['message']} {one['hint']}" for one in report["checks"] if one["check"] == check)


def flip(path: Path, at: int) -> None:
    """Change one byte of a file, as a faulty disk may."""
    with path.open("r+b") as file:
        file.seek(at)
        before = file.read(1)
        file.seek(at)
        file.write(bytes([before[0] ^ 0x20]))


def test_check_that_fails_to_import_is_one_finding(context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "memoryd.cli.checks.index", None)
    found = {one.check: one for one in run_checks(checks(["notes", "disk"]), context)}
    assert found["disk.space"].state == "ok"
    assert found["notes.imports"].state == "wrong"
    assert "ModuleNotFoundError" in found["notes.imports"].message


def test_healthy_installation_is_summarised(indexed: Path, capsys: Captured) -> None:
    code, report = doctor(capsys)
    assert code == Exit.DONE, report
    assert [one for one in report["checks"] if one["state"] not in ("ok", "off")] == [
        one for one in report["checks"] if one["part"] == "daemon"
    ]
    assert states(report, "index.sound") == ["ok"]
    assert "2 notes compared" in text_of(report, "index.disk")
    assert report["summary"]["wrong"] == 0
    run(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert "ok     index: 2 things looked at, all well" in lines
    assert "off    not in use: replaced, machines, embedder, reranker, llm, qmd, team, http, hooks" in lines
    assert lines[-1].startswith("1 to look at, ")
    run(["doctor", "--verbose", "--section", "index"])
    assert "is sound" in capsys.readouterr().out


def test_checks_change_nothing_on_disk(indexed: Path, ledger: Path, capsys: Captured) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        found = {path: path.stat() for path in indexed.parent.iterdir()}
        return {path.name: (one.st_size, one.st_mtime_ns) for path, one in found.items()}

    before = seen()
    code, report = doctor(capsys, "--deep", "--section", "index", "--section", "ledger")
    assert code == Exit.DONE, report
    assert before
    assert seen() == before


def test_damaged_index_is_found_and_set_aside(indexed: Path, capsys: Captured) -> None:
    with sqlite3.connect(f"file:{indexed}?mode=ro", uri=True) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunks'").fetchone()
        (content,) = database.execute("PRAGMA page_size").fetchone()
    flip(indexed, root * content - 60)
    code, report = doctor(capsys, "--section", "index")
    assert code == Exit.ERROR
    assert states(report, "index.sound") == ["wrong"]
    assert "--fix" in text_of(report, "index.sound")
    _, report = doctor(capsys, "--section", "index", "--fix", "--dry-run")
    assert report["fixes"][0]["told"].startswith("would set ")
    assert indexed.exists()
    code, report = doctor(capsys, "--section", "index", "--fix")
    assert report["fixes"][0]["done"]
    assert code == Exit.DONE, report
    assert not indexed.exists()
    assert [one.name for one in indexed.parent.glob("*.corrupt-*")], "it is kept, not deleted"


def test_missing_row_of_the_word_index_is_found(indexed: Path, capsys: Captured) -> None:
    writer = Connector(indexed).writer()
    writer.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    writer.execute("DELETE FROM chunk_words_docsize WHERE id = (SELECT min(id) FROM chunks)").fetchall()
    writer.close()
    code, report = doctor(capsys, "--section", "index")
    assert code == Exit.ERROR
    assert "damaged" in text_of(report, "index.sound")


def test_foreign_database_is_unchanged(notes: Path, capsys: Captured) -> None:
    path = workspace_state_dir(notes) / "index.sqlite"
    path.parent.mkdir(parents=True, mode=0o700)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    code, report = doctor(capsys, "--section", "index", "--fix")
    assert code == Exit.ERROR
    assert "another program" in text_of(report, "index.sound")
    assert report["fixes"] == []
    assert path.read_bytes() == before


def test_changed_notes_are_named_without_their_text(indexed: Path, notes: Path, capsys: Captured) -> None:
    (notes / "MEMORY.md").write_text("# Memory\n\nThe passphrase is ultramarine.\n")
    (notes / "memory" / "2026-10-06.md").unlink()
    (notes / "memory" / "new.md").write_text("A note that nobody has read.\n")
    (notes / "memory" / "own.md").write_text("---\nmemory: false\n---\nA note that nobody may read.\n")
    code, report = doctor(capsys, "--section", "index", "--deep")
    message = text_of(report, "index.disk")
    assert (code, states(report, "index.disk")) == (Exit.DONE, ["look"])
    assert "changed since: MEMORY.md" in message
    assert "gone from disk: memory/2026-10-06.md" in message
    assert "not indexed: memory/new.md" in message
    assert "own.md" not in message
    assert "ultramarine" not in json.dumps(report)


def test_useless_lines_of_ignore_file_are_named(notes: Path, capsys: Captured) -> None:
    (notes / "memory" / "letters").mkdir()
    lines = [
        "# mine",
        "memory/letters/",
        "memory/2026-10-06.md",
        "*.draft.md",
        "- memory/2026-10-06.md",
        "../memory/x.md",
    ]
    (notes / ".memoryignore").write_text("\n".join(lines))
    _, report = doctor(capsys, "--section", "notes")
    assert states(report, "notes.ignored") == ["look", "look"]
    message = text_of(report, "notes.ignored")
    assert "line 5" in message
    assert "line 6" in message


def test_index_of_previous_version_is_left_for_next_start(indexed: Path, capsys: Captured) -> None:
    """A new index would lose vectors that may have taken hours."""
    with closing(apsw.Connection(str(indexed), vfs=checksum_vfs())) as database:
        database.pragma("user_version", database.pragma("user_version") - INDEX_VERSION + FLOAT_VERSION)
    before = indexed.read_bytes()
    _, report = doctor(capsys, "--section", "index", "--fix", "--yes")
    assert states(report, "index.sound") == ["look"]
    assert "brings it to this one" in text_of(report, "index.sound")
    assert indexed.read_bytes() == before


def test_newer_ledger_is_refused_and_untouched(ledger: Path, capsys: Captured) -> None:
    with sqlite3.connect(ledger) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {version + 7}")
    before = ledger.read_bytes()
    code, report = doctor(capsys, "--section", "ledger", "--fix")
    assert code == Exit.ERROR
    assert "newer memoryd" in text_of(report, "ledger.sound")
    assert ledger.read_bytes() == before


def test_damaged_ledger_is_reported(ledger: Path, capsys: Captured) -> None:
    with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as database:
        (content,) = database.execute("PRAGMA page_size").fetchone()
    with ledger.open("r+b") as file:
        file.seek(content)
        file.write(b"\xff" * content)
    code, report = doctor(capsys, "--section", "ledger")
    assert code == Exit.ERROR
    assert "never deleted" in text_of(report, "ledger.sound")


def test_invalid_configuration_does_not_stop_other_checks(notes: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "config.json5").write_text('{ limits: { maxConections: 1 }, http: { port: "many" } }')
    code, report = doctor(capsys)
    assert code == Exit.ERROR
    problems = [one for one in report["checks"] if one["check"] == "config.valid"]
    assert len(problems) >= 2
    assert all(one["state"] == "wrong" and one["hint"] for one in problems)
    assert states(report, "socket.answers") == ["look"]
    assert states(report, "index.sound") == []


def test_dead_socket_is_removed_only_by_fix(notes: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_SOCKET"])
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    path.chmod(0o600)
    code, report = doctor(capsys, "--section", "socket")
    assert (code, states(report, "socket.answers")) == (Exit.DONE, ["look", "look"])
    assert path.exists()
    code, report = doctor(capsys, "--section", "socket", "--fix")
    assert code == Exit.DONE
    assert [one["told"] for one in report["fixes"]] == [f"removed {path}"]
    assert not path.exists()


def test_file_in_place_of_socket_is_reported_and_kept(notes: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_SOCKET"])
    path.write_text("not a socket")
    code, report = doctor(capsys, "--section", "socket", "--fix")
    assert code == Exit.ERROR
    assert "not a socket" in text_of(report, "socket.answers")
    assert path.read_text() == "not a socket"


@pytest.mark.root
def test_socket_of_another_user_is_reported_and_kept(notes: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_SOCKET"])
    with socket.socket(socket.AF_UNIX) as planted:
        planted.bind(str(path))
    os.chown(path, 54_321, 54_321)
    code, report = doctor(capsys, "--section", "socket", "--fix")
    assert code == Exit.ERROR
    assert "uid 54321" in text_of(report, "socket.answers")
    assert report["fixes"] == []
    assert path.exists()


def test_fix_makes_socket_folder_and_state_private(notes: Path, indexed: Path, capsys: Captured) -> None:
    folder, state = Path(os.environ["MEMORYD_SOCKET"]).parent, indexed.parents[2]
    folder.chmod(0o755)
    state.chmod(0o755)
    code, report = doctor(capsys, "--section", "socket", "--section", "permissions")
    assert code == Exit.ERROR
    assert f"chmod 700 {folder}" in text_of(report, "socket.access")
    assert "open" in states(report, "permissions.ours")
    code, report = doctor(capsys, "--section", "socket", "--section", "permissions", "--fix")
    assert code == Exit.DONE
    assert (folder.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o700, 0o700)
    assert all(one["done"] for one in report["fixes"])


def test_hinted_commands_are_shell_quoted(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folders = [tmp_path / "my run", tmp_path / "my state"]
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o755)
    monkeypatch.setenv("MEMORYD_SOCKET", str(folders[0] / "memoryd.sock"))
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(folders[1]))
    _, report = doctor(capsys, "--section", "socket", "--section", "permissions")
    hints = {one["check"]: one["hint"] for one in report["checks"] if "chmod" in (one["hint"] or "")}
    assert shlex.split(hints["socket.access"]) == ["chmod", "700", str(folders[0])]
    assert shlex.split(hints["permissions.ours"]) == ["chmod", "go-rwx", str(folders[1])]


def test_fix_leaves_foreign_files_and_folders(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A key may name one by mistake: it is reported, and `--fix` leaves it."""
    theirs, shared = tmp_path / "foreign.txt", tmp_path / "shared"
    theirs.write_text("hi")
    theirs.chmod(0o644)
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "of somebody").write_text("x")
    search = {"provider": "none", "store": {"path": str(theirs)}}
    config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": search}}}
    Path(os.environ["MEMORYD_CONFIG"]).write_text(json.dumps(config))
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(shared))
    _, report = doctor(capsys, "--section", "permissions", "--section", "index", "--fix", "--yes")
    assert report["fixes"] == []
    assert f"{theirs} is no index of memoryd" in text_of(report, "index.sound")
    assert str(shared) in text_of(report, "permissions.ours")
    assert (theirs.read_text(), theirs.stat().st_mode & 0o7777) == ("hi", 0o644)
    assert shared.stat().st_mode & 0o7777 == 0o1777


def test_files_kept_by_a_restore_are_reported(notes: Path, capsys: Captured) -> None:
    _, report = doctor(capsys, "--section", "replaced")
    assert states(report, "replaced.kept") == ["off"]
    old = state_dir() / "replaced" / "20260101T000000Z.001" / "old"
    old.mkdir(parents=True)
    (old / "000001").write_bytes(bytes(5000))
    os.utime(old.parent, (time.time() - 3 * 86400,) * 2)
    _, report = doctor(capsys, "--section", "replaced")
    assert states(report, "replaced.kept") == ["look"]
    found = text_of(report, "replaced.kept")
    assert "1 copy" in found
    assert "5.0 kB" in found
    assert "3 d" in found
    assert f"rm -r {state_dir()}/replaced" in found
    plan = {"what": "restore of b.tar", "state": "going", "pieces": []}
    (old.parent / "plan.json").write_text(json.dumps(plan))
    _, report = doctor(capsys, "--section", "replaced")
    assert states(report, "replaced.kept") == ["wrong"]
    assert "restore of b.tar was cut short" in (found := text_of(report, "replaced.kept"))
    assert "rm -r" not in found


def test_key_masked_by_a_restore_is_located(notes: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_CONFIG"])
    remote = '{\n apiKey: {"env": "MEMORYD_MASKED_1"} }'
    path.write_text(f'{{ agents: {{ defaults: {{ workspace: "{notes}", memorySearch: {{ remote: {remote} }} }} }} }}')
    code, report = doctor(capsys, "--section", "config")
    assert code == Exit.ERROR
    assert f"{path}:2: MEMORYD_MASKED_1" in text_of(report, "config.masked")


@pytest.mark.parametrize(
    "key",
    [
        'memory: { machines: { secret: "tall reeds" } }',
        'team: { remote: "https://ana:reeds@example.org/t.git", name: "reeds", person: "ana" }',
    ],
)
def test_fix_makes_configuration_with_a_key_private(key: str, notes: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_CONFIG"])
    path.write_text(f'{{ agents: {{ defaults: {{ workspace: "{notes}" }} }}, {key} }}')
    path.chmod(0o644)
    _, report = doctor(capsys, "--section", "config", "--fix")
    assert (len(report["fixes"]), states(report, "config.exposure")) == (1, [])
    assert path.stat().st_mode & 0o777 == 0o600


def test_unwritable_state_folder_is_reported(notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Below a file nobody can create a folder, not even root."""
    monkeypatch.setenv("MEMORYD_STATE_DIR", "/proc/sys/state of mine")
    _, report = doctor(capsys, "--section", "permissions")
    assert "the state folder /proc/sys may not be written" in text_of(report, "permissions.writable")


def test_file_in_place_of_state_folder_is_reported(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    state = tmp_path / "my state"
    state.write_text("somebody's")
    monkeypatch.setenv("MEMORYD_STATE_DIR", str(state))
    _, report = doctor(capsys, "--section", "permissions")
    assert f"mv '{state}' '{state}.old'" in text_of(report, "permissions.writable")
    assert states(report, "permissions.ours") == []
    with pytest.raises(StoreUnavailable, match="is a file") as caught, DaemonLock(state, socket=tmp_path / "s"):
        pass
    assert f"mv '{state}'" in str(caught.value.hint)


def test_missing_local_model_file_is_not_offered_for_download(notes: Path, tmp_path: Path, capsys: Captured) -> None:
    local = {"provider": "local", "local": {"modelPath": str(tmp_path / "none.gguf")}}
    config = {"agents": {"defaults": {"workspace": str(notes), "memorySearch": local}}}
    Path(os.environ["MEMORYD_CONFIG"]).write_text(json.dumps(config))
    _, report = doctor(capsys, "--section", "embedder")
    assert "correct local.modelPath, or put the file there" in text_of(report, "embedder.provider")
    assert "models pull" not in text_of(report, "embedder.provider")


def test_unconfigured_installation_is_pointed_to_init(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.delenv("MEMORYD_CONFIG")
    _, report = doctor(capsys, "--section", "socket", "--section", "notes")
    assert "memoryctl init" in text_of(report, "notes.indexed")
    assert any(one["hint"].endswith("to set it up first: memoryctl init") for one in report["checks"])


def test_unreachable_socket_is_reported_as_by_the_daemon(context: CheckContext) -> None:
    lost = {"socket": "/box/one.sock", "reason": "another socket lies there"}
    report: Any = {**status(), "unreachable": [lost]}
    (found,) = daemon.unreachable(replace(context, status=report))
    assert (found.state, found.message) == ("wrong", "/box/one.sock: another socket lies there")


def test_long_socket_path_is_reported(notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("MEMORYD_SOCKET", f"/tmp/{'long' * 40}/memoryd.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    _, report = doctor(capsys, "--section", "socket")
    assert "longer than the system allows" in text_of(report, "socket.path")


def test_lock_held_by_another_daemon_is_reported(indexed: Path, capsys: Captured) -> None:
    path = indexed.parents[2] / "memoryd.lock"
    with path.open("w") as file:
        file.write("4711\n/elsewhere/memoryd.sock\n")
        file.flush()
        _, report = doctor(capsys, "--section", "daemon")
        assert states(report, "daemon.lock") == [], "nobody holds it, whatever it says"
        fcntl.flock(file, fcntl.LOCK_EX)
        code, report = doctor(capsys, "--section", "daemon")
    assert code == Exit.ERROR
    assert f"pid {os.getpid()}" in text_of(report, "daemon.lock")
    assert "/elsewhere/memoryd.sock" in text_of(report, "daemon.lock")


def test_fix_leaves_files_of_a_hanging_daemon(indexed: Path, capsys: Captured) -> None:
    path = Path(os.environ["MEMORYD_SOCKET"])
    indexed.write_bytes(b"no database at all" * 600)
    with (indexed.parents[2] / "memoryd.lock").open("w") as held, socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
        path.chmod(0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        code, report = doctor(capsys, "--section", "index", "--section", "socket", "--fix")
        assert code == Exit.ERROR
        assert "restart memoryd" in text_of(report, "index.sound")
        assert [one["done"] for one in report["fixes"]] == [False]
        assert path.exists()
    assert indexed.exists()


def test_broken_hooks_are_repaired_and_servers_reported(notes: Path, capsys: Captured) -> None:
    home = Path.home()
    (home / ".claude").mkdir()
    assert run(["hooks", "install", "claude-code"]) == Exit.DONE
    settings = home / ".claude" / "settings.json"
    written = settings.read_text()
    settings.write_text(
        written.replace(json.loads(written)["hooks"]["Stop"][0]["hooks"][0]["command"].split()[0], "/gone/py")
    )
    (home / ".claude.json").write_text('{"mcpServers": {"memoryd": {"command": "/gone/memoryctl", "args": ["mcp"]}}}')
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text('[mcp_servers.other]\ncommand = "/gone/other"\n')
    capsys.readouterr()
    code, report = doctor(capsys, "--section", "hooks", "--fix")
    # Codex is installed too, and has no hooks
    assert states(report, "hooks.programs") == ["ok", "off"]
    assert settings.read_text() == written
    assert code == Exit.ERROR
    assert states(report, "hooks.mcp") == ["wrong"]
    assert "/gone/memoryctl" in text_of(report, "hooks.mcp")
    # a broken file hides none of the others
    (home / ".codex" / "config.toml").write_text("[mcp_servers\n")
    _, report = doctor(capsys, "--section", "hooks")
    assert states(report, "hooks.mcp") == ["wrong", "wrong"]
    assert "/gone/memoryctl" in text_of(report, "hooks.mcp")
    assert "config.toml cannot be read" in text_of(report, "hooks.mcp")


def test_broken_settings_of_one_program_hide_no_others(notes: Path, capsys: Captured) -> None:
    home = Path.home()
    for folder in (".claude", ".gemini", ".config/opencode"):
        (home / folder).mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text("{")
    (home / ".gemini" / "settings.json").write_text(
        '{\n  // mine\n  "mcpServers": {"memoryd": {"command": "/gone/one", "args": ["memoryctl"]},},\n}\n'
    )
    assert run(["hooks", "install", "opencode", "--mcp"]) == Exit.DONE
    server = home / ".config" / "opencode" / "opencode.json"
    server.write_text(
        server.read_text().replace(json.loads(server.read_text())["mcp"]["memoryd"]["command"][0], "/gone/two")
    )
    capsys.readouterr()
    _, report = doctor(capsys, "--section", "hooks")
    assert states(report, "hooks.programs") == ["wrong", "off", "ok"]
    assert states(report, "hooks.mcp") == ["wrong", "wrong"]
    assert "/gone/one" in text_of(report, "hooks.mcp")
    assert "/gone/two" in text_of(report, "hooks.mcp")


def test_truncated_model_is_reported(notes: Path, tmp_path: Path, capsys: Captured) -> None:
    model = tmp_path / "broken.gguf"
    model.write_bytes(b"GGUF" + bytes(100))
    config = tmp_path / "config.json5"
    local = {"provider": "local", "local": {"modelPath": str(model)}}
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(notes), "memorySearch": local}}}))
    code, report = doctor(capsys, "--section", "embedder")
    assert code == Exit.ERROR
    assert states(report, "embedder.file") == ["wrong"]
    assert text_of(report, "embedder.file").count(str(model)) == 1


def test_dry_run_alone_is_refused(notes: Path, capsys: Captured) -> None:
    assert run(["doctor", "--dry-run"]) == Exit.USAGE
    assert "--fix" in capsys.readouterr().err


@pytest.fixture
def context(notes: Path, tmp_path: Path) -> CheckContext:
    begun = CheckContext.begin(Invocation())
    kernel = tmp_path / "proc"
    (kernel / "sys/fs/inotify").mkdir(parents=True)
    return CheckContext(begun.invocation, begun.loaded, (), None, begun.silence, proc=kernel)


def test_inotify_limits_are_compared_with_usage(context: CheckContext) -> None:
    limits = context.proc / "sys/fs/inotify"
    assert [one.state for one in machine.watches(context)] == ["off"]
    (limits / "max_user_watches").write_text("1\n")
    (limits / "max_user_instances").write_text("128\n")
    (wrong,) = machine.watches(context)
    assert wrong.state == "wrong"
    assert "sysctl -w fs.inotify.max_user_watches=524288" in wrong.hint
    assert [one.state for one in machine.instances(context)] == ["ok"]
    process = context.proc / "4711" / "fd"
    process.mkdir(parents=True)
    for number in range(3):
        (process / str(number)).symlink_to("anon_inode:inotify")
    (limits / "max_user_instances").write_text("3\n")
    (wrong,) = machine.instances(context)
    assert wrong.state == "wrong"
    assert "3 instances in use" in wrong.message


def test_check_that_hangs_or_fails_is_one_finding(context: CheckContext) -> None:
    def hangs(_context: CheckContext) -> Iterator[Finding]:
        time.sleep(30)
        yield Finding("ok", "never")

    def fails(_context: CheckContext) -> Iterator[Finding]:
        raise KeyError("status")

    looks = [
        DoctorCheck("disk.hangs", "hangs", "", True, 0.05, hangs),
        DoctorCheck("disk.fails", "fails", "", True, 30, fails),
        DoctorCheck("disk.space", "space", "", True, 30, machine.space),
    ]
    found = {one.check: one for one in run_checks(looks, context)}
    assert "did not answer in 0.05 s" in found["disk.hangs"].message
    assert "KeyError" in found["disk.fails"].message
    assert found["disk.space"].state == "ok"


def test_daemon_of_older_version_is_checked(notes: Path, capsys: Captured) -> None:
    with serving(Path(os.environ["MEMORYD_SOCKET"])) as older:
        older.replies["status"] = (200, status(agent(pendingFiles=3)) | {"version": "0.0.1"})
        code, report = doctor(capsys)
    assert "memoryd is 0.0.1" in text_of(report, "socket.version")
    assert "3 files to go, and none was done" in text_of(report, "queue.moving")
    assert states(report, "index.disk") == [], "it uses other places than this configuration"
    assert not [one for one in report["checks"] if "the check itself failed" in one["message"]]
    # its last scan was long ago
    assert (code, states(report, "watcher.scan")) == (Exit.ERROR, ["wrong"])


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "ok"),
        ({"pendingEmbeddings": 4}, "ok"),
        ({"pendingEmbeddings": 5}, "look"),
        ({"pendingEmbeddings": 5, "embedding": {"paused": True}}, "look"),
        ({"pendingEmbeddings": 5, "embedder": {"state": "failed", "reason": "no key"}}, "wrong"),
        ({"pendingEmbeddings": 5, "embedder": {"state": "warming", "reason": None}}, "ok"),
    ],
)
def test_queue_is_judged_by_two_statuses(changes: dict[str, Any], state: str) -> None:
    before: Any = agent(pendingEmbeddings=5)
    after: Any = agent(**changes)
    assert daemon.queue_finding(before, after).state == state


def test_late_or_future_scan_is_reported() -> None:
    now = datetime(2026, 1, 5, 10, 1, tzinfo=UTC)
    body: Any = agent()
    assert daemon.scan_finding(body, 30, now).state == "ok"
    assert daemon.scan_finding(body, 30, now + timedelta(minutes=5)).state == "wrong"
    assert daemon.scan_finding(body, 0, now + timedelta(days=5)).state == "ok"
    assert daemon.scan_finding(body, 30, now - timedelta(minutes=5)).state == "look"


def test_finding_without_hint_gets_the_default_hint(context: CheckContext) -> None:
    def speechless(_context: CheckContext) -> Iterator[Finding]:
        yield Finding("wrong", "it is broken")

    (found,) = run_checks([DoctorCheck("disk.space", "disk", "make room", True, 30, speechless)], context)
    assert found.hint == "make room"


@pytest.mark.parametrize(
    ("mode", "above", "is_listed"),
    [(0o755, [0o755, 0o711], True), (0o755, [0o700, 0o755], False), (0o711, [0o755], False), (0o750, [0o755], False)],
)
def test_notes_are_exposed_if_others_can_reach_and_list_them(mode: int, above: list[int], is_listed: bool) -> None:
    assert may_be_listed(mode, above) is is_listed


@pytest.mark.root
def test_full_disk_of_state_folder_is_reported(notes: Path, capsys: Captured) -> None:
    state = state_dir()
    state.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(state)], check=True)
    try:
        code, report = doctor(capsys, "--section", "disk")
    finally:
        subprocess.run(["umount", str(state)], check=True)
    assert code == Exit.ERROR
    assert f"state folder {state} is full" in text_of(report, "disk.space")


def test_full_disk_and_missing_inodes_are_reported() -> None:
    block, root = 4096, os.statvfs("/")

    def of(free: int, files: int) -> Finding:
        values = (block, block, 10**6, free, free, 10**6, files, files, root.f_flag, 255)
        return machine.space_finding("state folder", os.statvfs_result(values))

    assert [of(free, 10**5).state for free in (0, 10_000, 10**6)] == ["wrong", "look", "ok"]
    assert [of(10**6, files).state for files in (0, 10)] == ["wrong", "look"]
    assert "no inode" in of(10**6, 0).message


def test_unknown_time_zone_is_reported() -> None:
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert machine.zone_finding(None, "Europe/Nowhere", now).state == "look"
    assert machine.zone_finding(None, "", now).state == "ok"


def test_configured_time_zone_is_shown() -> None:
    found = machine.zone_finding("Asia/Tokyo", "Europe/Vienna", datetime(2026, 11, 23, 15, 30, tzinfo=UTC))
    assert (found.state, found.message) == ("ok", "2026-11-24 00:30 Asia/Tokyo")


def test_notes_with_future_dates_are_reported(notes: Path, capsys: Captured) -> None:
    ahead = time.time() + 90_000
    os.utime(notes / "MEMORY.md", (ahead, ahead))
    _, report = doctor(capsys, "--section", "clock")
    assert "MEMORY.md" in text_of(report, "clock.sane")


def test_unit_with_missing_program_is_reported(tmp_path: Path) -> None:
    unit = tmp_path / "memoryd.service"
    unit.write_text("[Service]\nType=notify\nExecStart=/gone/venv/bin/memoryd\n")
    state = ServiceState(
        "systemd", files=(unit,), is_enabled=True, is_running=True, pid=7, phase="active", lingers=False
    )
    found = list(service.unit_findings(state))
    assert [one.state for one in found] == ["wrong", "look", "ok"]
    assert "/gone/venv/bin/memoryd" in found[0].message
    assert "enable-linger" in found[1].hint


def test_list_of_note_names_is_bounded() -> None:
    many = tuple(f"memory/{number}.md" for number in range(100))
    report = index.name_some(many)
    assert report.endswith("and 95 more")
    assert "more" not in index.name_some(many[:3])
