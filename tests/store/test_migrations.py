"""Forward-only migrations: every version ends with the same tables, and a failure leaves the old or the new ones."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memoryd.errors import DamagedDatabase, ForeignDatabase, StoreUnavailable
from memoryd.store.connection import PAGE_BYTES, Connector
from memoryd.store.ledger.database import LEDGER, copies, copy_version
from memoryd.store.migrations import History, migrate, new_database, read_migrations
from memoryd.store.opening import FileHeader, log_of, read_header, version_of
from tests.fault.faults import has_strace, most_calls, ran_traced
from tests.store.children import NEWEST, bring_up, history
from tests.sweeps import some
from tests.warm.programs import ran

ROOT = Path(__file__).parents[2]
ROWS = [(f"answer {seq} " * 400, "honey" if seq == 2 else "none") for seq in range(1, 40)]


def make(path: Path, version: int) -> None:
    """Create a ledger of an early version with rows, some of them only in its log."""
    path.write_bytes(new_database(history(1), page_bytes=PAGE_BYTES))
    db = Connector(path, is_history=True).writer()
    db.pragma("journal_mode", "wal")
    for seq, (answer, _topic) in enumerate(ROWS, 1):
        values = ("main", "s", seq, answer, 1000.0, 2000.0)
        db.execute("INSERT INTO held_answers VALUES (NULL, ?, ?, ?, ?, ?, ?)", values)
    migrate(db, history(version), lambda _version: None)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.close()
    assert log_of(path).stat().st_size


def contents(path: Path) -> tuple[int, list[tuple[object, ...]], dict[str, list[tuple[object, ...]]]]:
    """Return the version, the table definitions, and all rows except the random key."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    assert db.execute("PRAGMA integrity_check").get == "ok"
    tables = sorted(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"))
    names = [str(name) for kind, name, *_ in tables if kind == "table" and name != "hash_key"]
    rows = {name: sorted(db.execute(f"SELECT * FROM {name}")) for name in names}
    version = version_of(db.pragma("user_version"))
    db.close()
    return version, tables, rows


def test_shipped_migrations_have_no_transaction_statements() -> None:
    shipped = read_migrations("ledger")
    assert len(shipped) == LEDGER.version
    for version, sql in enumerate(shipped, 1):
        words = {word.strip(";") for word in sql.upper().split()}
        assert not words & {"BEGIN", "COMMIT", "ROLLBACK", "END", "VACUUM", "PRAGMA"}, version


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_every_version_migrates_to_same_tables_and_rows(tmp_path: Path, version: int) -> None:
    path, fresh = tmp_path / "ledger.sqlite", tmp_path / "fresh.sqlite"
    make(path, version)
    assert bring_up(path, history(NEWEST)) == NEWEST - version
    found, tables, rows = contents(path)
    fresh.write_bytes(new_database(history(NEWEST), page_bytes=PAGE_BYTES))
    assert (found, tables) == (NEWEST, contents(fresh)[1])
    assert sorted((answer, topic) for _id, answer, topic in rows["answers"]) == sorted(ROWS)
    assert len(rows["accesses"]) == len(ROWS)
    assert bring_up(path, history(NEWEST)) == 0


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_copy_equals_old_ledger_and_is_private(tmp_path: Path, version: int) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path, version)
    before, old_mask = contents(path), os.umask(0)
    try:
        bring_up(path, history(NEWEST))
    finally:
        os.umask(old_mask)
    (copy,) = copies(path)
    assert copy.name == f"ledger.sqlite.before-{version + 1}"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert contents(copy) == before
    header = read_header(copy)
    assert header is not None
    assert (header.application, header.version) == (LEDGER.application, version)


def test_newer_version_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path, NEWEST)
    before = {one: one.read_bytes() for one in (path, log_of(path))}
    assert read_header(path) == FileHeader(LEDGER.application, 1, 0), "only the log has the new version"
    db = Connector(path, is_history=True).writer()
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    with pytest.raises(ForeignDatabase, match=f"has version {NEWEST}, of a newer memoryd; this one knows 1"):
        migrate(db, history(1), lambda version: copy_version(db, path, version))
    db.close()
    assert {one: one.read_bytes() for one in (path, log_of(path))} == before
    assert copies(path) == []


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE more (a INTEGER) STRICT; SELECT nonsense FROM nowhere;",
        "DELETE FROM held_answers; INSERT INTO held_answers (agent) VALUES ('main');",
        "DROP TABLE held_answers; CREATE TABLE held_answers (a); syntax error",
    ],
)
def test_failed_migration_leaves_old_version(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path, 1)
    before = contents(path)
    bad = History("the ledger", LEDGER.application, (*LEDGER.migrations[:1], sql))
    with pytest.raises(StoreUnavailable, match="cannot be brought to version 2"):
        bring_up(path, bad)
    assert contents(path) == before
    assert bring_up(path, history(NEWEST)) == NEWEST - 1


def test_missing_index_is_damage_but_extra_table_is_not(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path, 1)
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE of_a_person (note)")
    db.close()
    assert bring_up(path, history(1)) == 0
    db = apsw.Connection(str(path))
    db.execute("DROP INDEX held_answers_by_expiry")
    db.close()
    with pytest.raises(DamagedDatabase, match="held_answers_by_expiry"):
        bring_up(path, history(1))


def test_gap_in_migration_numbers_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "schema" / "odd"
    folder.mkdir(parents=True)
    (folder / "0001_a.sql").write_text("SELECT 1")
    (folder / "0003_b.sql").write_text("SELECT 1")
    monkeypatch.setattr("memoryd.store.migrations.files", lambda _package: tmp_path)
    with pytest.raises(ValueError, match="not numbered"):
        read_migrations("odd")


def run_child(path: Path, at: int, log: Path | None = None, inject: str = "", calls: str = "") -> tuple[int, str]:
    """Migrate in a child, traced if a log is given; return its exit code and output."""
    code = "import sys, tests.store.children as it; it.migrate_and_die(sys.argv[1], int(sys.argv[2]))"
    if log is not None:
        ended, told = ran_traced(code, path, str(at), log=log, inject=inject, calls=(calls,) if calls else ())
        return ended, told.decode()
    done = ran([sys.executable, "-c", code, str(path), str(at)], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    return done.returncode, done.stdout.decode()


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, object]:
    """Return the contents of a ledger of each version."""
    folder = tmp_path_factory.mktemp("versions")
    for version in range(1, NEWEST + 1):
        make(folder / f"{version}", version)
    return {version: contents(folder / f"{version}") for version in range(1, NEWEST + 1)}


def statements(folder: Path) -> int:
    make(folder / "counted.sqlite", 1)
    code, printed = run_child(folder / "counted.sqlite", 0)
    assert code == 0
    return int(printed)


@pytest.mark.sweep
def test_kill_before_any_statement_leaves_a_whole_version(tmp_path: Path, versions: dict[int, object]) -> None:
    total = statements(tmp_path)
    assert total > 15
    seen = set()
    for at in some(range(1, total + 1), 2):
        path = tmp_path / f"{at}.sqlite"
        make(path, 1)
        assert run_child(path, at)[0] == -signal.SIGKILL
        found = contents(path)
        assert found == versions[found[0]], at
        seen.add(found[0])
        assert bring_up(path, history(NEWEST)) == NEWEST - found[0]
        assert contents(path) == versions[NEWEST], at
        check_copies(path, versions)
    assert min(seen) == 1
    assert max(seen) >= NEWEST - 1


def check_copies(path: Path, versions: dict[int, object]) -> None:
    """Fail unless there is a copy of each version that a migration started from, and all are whole."""
    found = copies(path)
    assert found
    for copy in found:
        assert contents(copy) == versions[int(copy.name.rpartition("-")[2]) - 1]


@pytest.mark.sweep
@pytest.mark.skipif(not has_strace(), reason="strace is missing or may not trace")
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "ftruncate"])
def test_kill_at_system_call_leaves_a_whole_version(tmp_path: Path, versions: dict[int, object], call: str) -> None:
    make(tmp_path / "counted", 1)
    run_child(tmp_path / "counted", 0, tmp_path / "calls", calls=call)
    total = most_calls(tmp_path / "calls", call)
    for at in some(range(1, total + 1), 2):
        path = tmp_path / f"{at}.sqlite"
        make(path, 1)
        code, _ = run_child(path, 0, tmp_path / "log", f"{call}:signal=KILL:when={at}")
        assert code == -signal.SIGKILL
        found = contents(path)
        assert found == versions[found[0]], at
        bring_up(path, history(NEWEST))
        assert contents(path) == versions[NEWEST], at
    assert total
