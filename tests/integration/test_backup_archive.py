"""A backup as a file: anything that differs from its manifest is refused, and nothing is written."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoryd.config.paths import state_dir
from memoryd.config.root import Config
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.moving.archive import BackupManifest, BackupPlaces, BackupWorkspace, BackupWriter, open_backup, place_of
from memoryd.moving.backup import Restored, backup_sources, stage_restore
from memoryd.moving.replacing import Replacement
from memoryd.store.ledger.database import LEDGER
from memoryd.store.migrations import History, new_database

SESSION, TOPICS = "workspaces/0/memory/sessions/s.json", "workspaces/0/memory/topics.txt"
SAID = b'{"session_id": "s", "created": "2026-11-23T10:00:00Z", "qa_sequence": []}'


def written(root: Path) -> Path:
    path = root / "b.tar"
    with path.open("wb") as out:
        writer = BackupWriter(out, lambda _name, _done: None)
        for name in (SESSION, TOPICS):
            writer.add(name, io.BytesIO(SAID), len(SAID))
        writer.finish(
            BackupManifest(
                program="0",
                made_at="2026-11-23",
                ledger_version=1,
                state_folder="/x",
                config_path=None,
                masked_keys=0,
                has_notes=False,
                folders=(),
                workspaces=(BackupWorkspace(path=str(root / "ws"), agents=("main",)),),
                members=tuple(writer.members),
            )
        )
    return path


def remade(
    path: Path,
    *,
    members: dict[str, bytes] | None = None,
    odd: tarfile.TarInfo | None = None,
    change: Callable[[dict[str, Any]], object] = lambda _raw: None,
) -> None:
    """Write the backup again with other members, a member that is no file, or a changed manifest."""
    with tarfile.open(path) as tar:
        found = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]
    raw = json.loads(found.pop("manifest.json"))
    for name, data in (members or {}).items():
        found[name] = data
        sha256 = hashlib.sha256(data).hexdigest()
        raw["members"] = [one for one in raw["members"] if one["name"] != name]
        raw["members"].append({"name": name, "bytes": len(data), "sha256": sha256})
    change(raw)
    with tarfile.open(path, "w") as tar:
        if odd is not None:
            tar.addfile(odd)
        for name, data in {**found, "manifest.json": json.dumps(raw).encode()}.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            tar.addfile(header, io.BytesIO(data))


def named(root: Path, *workspaces: str) -> None:
    """Write a configuration with one agent for each of these workspaces."""
    agents = [{"id": name, "workspace": str(root / name)} for name in workspaces]
    (root / "config.json5").write_text(json.dumps({"agents": {"list": agents}}))


def changed_ledger(statement: str) -> bytes:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", new_database(LEDGER, page_bytes=4096))
    connection.execute(statement)
    return connection.serialize("main")


def restored(root: Path, *, keeps_config: bool = False, into: tuple[Path, ...] = ()) -> Restored:
    with open_backup(root / "b.tar") as backup:
        workspaces = tuple(Path(one.path) for one in backup.manifest.workspaces)
        places = BackupPlaces(root / "config.json5", root / "state", (), workspaces)
        replacement = Replacement.begin(root / "state", "x")
        result = stage_restore(
            backup, places, replacement, lambda _name, _done: None, keeps_config=keeps_config, into=into
        )
        replacement.carry_out()
        return result


def outside(root: Path) -> set[str]:
    found = {str(one.relative_to(root)) for one in root.rglob("*") if one.is_file() and "state" not in one.parts}
    return found - {"config.json5"}


def test_backup_is_restored_as_written(tmp_path: Path) -> None:
    written(tmp_path)
    named(tmp_path, "ws")
    restored(tmp_path)
    assert outside(tmp_path) == {"b.tar", "ws/memory/sessions/s.json", "ws/memory/topics.txt"}


@pytest.mark.parametrize("folder", ["sessions", "archive"])
def test_conversation_that_is_not_remembered_since_stays_so(tmp_path: Path, folder: str) -> None:
    written(tmp_path)
    named(tmp_path, "ws")
    present = tmp_path / "ws" / "memory" / folder / "s.json"
    present.parent.mkdir(parents=True)
    present.write_bytes(SAID.replace(b', "qa', b', "remember": false, "qa'))
    restored(tmp_path)
    assert json.loads((tmp_path / SESSION.replace("workspaces/0", "ws")).read_bytes())["remember"] is False


def test_rule_of_privacy_that_was_added_since_stays(tmp_path: Path) -> None:
    remade(written(tmp_path), members={"workspaces/0/.memoryignore": b"memory/diary.md\n# work\n"})
    named(tmp_path, "ws")
    rules = tmp_path / "ws" / ".memoryignore"
    rules.parent.mkdir()
    rules.write_bytes(b"# work\nmemory/letters/")
    for _ in range(2):
        restored(tmp_path)
        assert rules.read_bytes() == b"memory/diary.md\n# work\nmemory/letters/\n"


@pytest.mark.parametrize(
    ("present", "joined"),
    [
        (b"!memory/a.md\nmemory/\n", b"!memory/a.md\nmemory/\n"),
        ("memory/b.md\n".encode("utf-16"), b"memory/\n!memory/a.md\nmemory/b.md\n"),
        (b"memory/caf\xe9.md\n", b"memory/\n!memory/a.md\n\nmemory/caf\xe9.md\n"),
    ],
)
def test_present_rules_of_privacy_win(tmp_path: Path, present: bytes, joined: bytes) -> None:
    remade(written(tmp_path), members={"workspaces/0/.memoryignore": b"memory/\n!memory/a.md\n"})
    named(tmp_path, "ws")
    rules = tmp_path / "ws" / ".memoryignore"
    rules.parent.mkdir()
    rules.write_bytes(present)
    restored(tmp_path)
    assert rules.read_bytes() == joined


def twice(raw: dict[str, Any]) -> None:
    """Name one workspace twice."""
    raw["workspaces"] *= 2


def long_header() -> tarfile.TarInfo:
    """Return the header of a name that claims to be 3 GB long."""
    header = odd(tarfile.GNUTYPE_LONGNAME, "x")
    header.size = 3 << 30
    return header


def odd(kind: bytes, name: str) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.linkname = kind, "/etc/passwd"
    return header


@pytest.mark.parametrize(
    "hostile",
    [
        lambda path: remade(path, members={"../../evil": b"x"}),
        lambda path: remade(path, members={"/tmp/evil": b"x"}),
        lambda path: remade(path, members={"workspaces/0/../evil.md": b"x"}),
        lambda path: remade(path, members={"workspaces/0/memory/../../evil.md": b"x"}),
        lambda path: remade(path, members={"workspaces/0/.bashrc": b"x"}),
        lambda path: remade(path, members={"workspaces/0/bin/run.sh": b"x"}),
        lambda path: remade(path, members={"workspaces/7/MEMORY.md": b"x"}),
        lambda path: remade(path, members={"state/../ledger.sqlite": b"x"}),
        lambda path: remade(path, members={"state/a/evil.so": b"x"}),
        lambda path: remade(path, members={"state/a/ledger.sqlite": b"no database at all"}),
        lambda path: remade(
            path,
            members={
                "state/a/ledger.sqlite": changed_ledger(
                    "CREATE TRIGGER t AFTER INSERT ON tombstones BEGIN DELETE FROM tombstones; END"
                )
            },
        ),
        lambda path: remade(path, members={"state/a/ledger.sqlite": changed_ledger("DROP TABLE tombstones")}),
        lambda path: remade(path, members={"state/a/ledger.sqlite": changed_ledger("CREATE VIEW v AS SELECT 1")}),
        lambda path: named(path.parent, "elsewhere"),
        lambda path: remade(path, odd=odd(tarfile.SYMTYPE, SESSION)),
        lambda path: remade(path, odd=odd(tarfile.LNKTYPE, "x")),
        lambda path: remade(path, odd=odd(tarfile.CHRTYPE, "x")),
        lambda path: remade(path, odd=odd(tarfile.FIFOTYPE, "x")),
        lambda path: remade(path, odd=odd(tarfile.DIRTYPE, "x")),
        lambda path: remade(path, odd=odd(tarfile.REGTYPE, "not in the manifest")),
        lambda path: remade(path, odd=odd(tarfile.REGTYPE, SESSION)),
        lambda path: remade(path, change=lambda raw: raw.update(format=2)),
        lambda path: remade(path, change=lambda raw: raw.update(more=1)),
        lambda path: remade(path, change=lambda raw: raw["members"][0].update(sha256="0" * 64)),
        lambda path: remade(path, change=lambda raw: raw["members"][0].update(bytes=10**12)),
        lambda path: remade(path, change=lambda raw: raw["members"].pop()),
        lambda path: remade(path, change=lambda raw: raw["workspaces"][0].update(path="relative")),
        lambda path: remade(path, members={"workspaces/0/memory/" + "n" * 300 + ".md": b"x"}),
        lambda path: remade(path, members={"workspaces/0/memory/a.md": b"x", "workspaces/0/memory/a.md/b.md": b"x"}),
        lambda path: remade(
            path, members={"workspaces/0/memory/a.md": b"x", "workspaces/1/memory/a.md": b"x"}, change=twice
        ),
        lambda path: remade(path, members={"config": b"{ agents: 1 }"}),
        lambda path: remade(path, odd=long_header()),
        lambda path: path.write_bytes(path.read_bytes()[:3000]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\x1f\x8b" + path.read_bytes()),
    ],
)
def test_hostile_backup_is_refused_and_nothing_is_written(tmp_path: Path, hostile: Callable[[Path], None]) -> None:
    named(tmp_path, "ws")
    hostile(written(tmp_path))
    with pytest.raises(MemorydError):
        restored(tmp_path)
    assert outside(tmp_path) == {"b.tar"}


def test_backup_of_one_agent_has_all_ledgers_of_its_workspace(tmp_path: Path) -> None:
    """All changes of a workspace are in the ledger of its first agent."""
    (tmp_path / "ws").mkdir()
    listed = [
        {"id": "a", "workspace": str(tmp_path / "ws")},
        {"id": "b", "workspace": str(tmp_path / "ws"), "memorySearch": {"exclude": ["x.md"]}},
        {"id": "c", "workspace": str(tmp_path / "other")},
    ]
    agents = Config.model_validate({"agents": {"list": listed}}).resolved_agents()
    for agent in agents:
        agent.ledger_path.parent.mkdir(parents=True, exist_ok=True)
        agent.ledger_path.touch()
    found = backup_sources(agents, state=state_dir(), config=None, only="b")
    assert {agent.id for agent in agents if agent.ledger_path in found.files.values()} == {"a", "b"}
    assert len(found.files) == 2


def test_backup_includes_previous_ledger_of_the_agent(tmp_path: Path) -> None:
    """The conversations that it withholds stay withheld."""
    (tmp_path / "ws").mkdir()
    listed = [{"id": "b", "workspace": str(tmp_path / "ws")}]
    (agent,) = Config.model_validate({"agents": {"list": listed}}).resolved_agents()
    paths = {agent.ledger_path, agent.with_other_ledger.ledger_path}
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert paths == set(backup_sources([agent], state=state_dir(), config=None, only="b").files.values())


def test_newer_format_is_named(tmp_path: Path) -> None:
    remade(written(tmp_path), change=lambda raw: raw.update(format=2))
    with pytest.raises(InvalidRequest, match="format 2, of a newer memoryd"):
        restored(tmp_path)


def test_unconfigured_folder_needs_into(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(InvalidRequest, match="which the configuration does not name") as caught:
        restored(tmp_path)
    assert caught.value.hint.endswith(f"--into {tmp_path / 'ws'}")
    restored(tmp_path, into=(tmp_path / "ws",))
    assert (tmp_path / "ws/memory/sessions/s.json").read_bytes() == SAID


def test_restored_configuration_names_the_folders(tmp_path: Path) -> None:
    named(tmp_path, "ws")
    config = (tmp_path / "config.json5").read_bytes()
    remade(written(tmp_path), members={"config": config})
    named(tmp_path, "elsewhere")
    with pytest.raises(InvalidRequest, match="which the configuration does not name"):
        restored(tmp_path, keeps_config=True)
    restored(tmp_path)
    assert (tmp_path / "config.json5").read_bytes() == config


@pytest.mark.parametrize("data", [b"{", b"[" * (1 << 20), b"{}", SAID.replace(b'"s"', b'"t"'), b"\xff", b""])
def test_damaged_conversation_is_skipped_and_reported(tmp_path: Path, data: bytes) -> None:
    remade(written(tmp_path), members={SESSION: data})
    named(tmp_path, "ws")
    session = tmp_path / "ws/memory/sessions/s.json"
    session.parent.mkdir(parents=True)
    session.write_bytes(SAID)
    (note,) = restored(tmp_path).notes
    assert SESSION in note
    assert session.read_bytes() == SAID


@pytest.mark.parametrize("version", range(1, LEDGER.version + 1))
def test_ledger_of_any_version_is_restored(tmp_path: Path, version: int) -> None:
    older = new_database(History(LEDGER.name, LEDGER.application, LEDGER.migrations[:version]), page_bytes=4096)
    remade(written(tmp_path), members={"state/a/ledger.sqlite": older})
    named(tmp_path, "ws")
    restored(tmp_path)
    assert (tmp_path / "state/workspaces/a/ledger.sqlite").is_file()


def test_later_tombstones_survive_the_restore(tmp_path: Path) -> None:
    stones = ["01" * 16, "02" * 16]
    statements = [f"INSERT INTO tombstones VALUES ('/w', x'{stone}', 1.0, 0)" for stone in stones]
    members = {"state/a/ledger.sqlite": changed_ledger(statements[0]), "workspaces/0/.memory/forgotten": b"01" * 16}
    remade(written(tmp_path), members=members)
    named(tmp_path, "ws")
    ledger, mirror = tmp_path / "state/workspaces/a/ledger.sqlite", tmp_path / "ws/.memory/forgotten"
    for path, data in ((ledger, changed_ledger(statements[1])), (mirror, b"02" * 16)):
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        path.chmod(0o600)
    ledger.with_name("ledger.sqlite-wal").touch()
    result = restored(tmp_path)
    assert (result.carried, result.notes) == (1, [])
    with closing(apsw.Connection(str(ledger))) as db:
        assert dict(db.execute("SELECT lower(hex(hash)), is_pending FROM tombstones")) == {stones[0]: 0, stones[1]: 1}
    assert mirror.read_text().split() == stones
    assert [one.name for one in ledger.parent.iterdir()] == ["ledger.sqlite"]


def test_symlink_out_of_workspace_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    named(tmp_path, "ws")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidRequest, match="leads out of the workspace"):
        restored(tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_invalid_configuration_is_refused_before_any_change(tmp_path: Path) -> None:
    remade(written(tmp_path), members={"config": b'{ memory: { citations: "perhaps" } }'})
    with pytest.raises(InvalidRequest, match=r"memory\.citations") as caught:
        restored(tmp_path)
    assert "--keep-config" in caught.value.hint


def test_place_of_each_member() -> None:
    places = BackupPlaces(Path("/c"), Path("/s"), (Path("/f"),), (Path("/w"),))
    assert place_of("config", places) == Path("/c")
    assert place_of("state/a-1/x-ledger.sqlite.forgotten-key", places) == Path(
        "/s/workspaces/a-1/x-ledger.sqlite.forgotten-key"
    )
    assert place_of("ledgers/0/ledger.sqlite", places) == Path("/f/ledger.sqlite")
    assert place_of("workspaces/0/bank/entities/peter.md", places) == Path("/w/bank/entities/peter.md")
    assert place_of("workspaces/0/memory/.hidden/x.md", places) is None
    assert place_of("ledgers/1/ledger.sqlite", places) is None
