"""`memoryctl backup`, `restore` and `workspace move` with the real daemon: nothing is lost."""

import json
import os
import shutil
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.moving.replacing import Replacement
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon
from tests.waiting import eventually

LOG = "memory/2026-11-18.md"
NOTES = "# Wednesday\n\n## Retain\n- W @Bram: the spare key hangs behind the boiler\n- W @Ida: Ida wants short notes\n"
KEY = "a-key-of-mine-31415926"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """Return the running daemon; tests stop and start it as needed."""
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / LOG).write_text(NOTES)
    with indexed_daemon(tmp_path, workspace, models={"providers": {"openai": {"apiKey": KEY}}}) as running:
        yield running


def memoryctl(daemon: RunningDaemon, *arguments: str, code: Exit = Exit.DONE) -> Any:
    done = daemon.memoryctl(*arguments, "--json")
    assert done.returncode == code, (arguments, done.stdout, done.stderr)
    return json.loads(done.stdout)


def pinned(daemon: RunningDaemon) -> list[str]:
    return sorted(memory["text"] for memory in daemon.client().memories(pinned=True)["memories"])


def pin_key(daemon: RunningDaemon) -> int:
    """Pin a memory and return the number of that change."""
    client = daemon.client()
    return client.pin_memory(client.memories(query="spare key")["memories"][0]["id"])["changes"][0]


def texts(daemon: RunningDaemon) -> set[str]:
    return {memory["text"] for memory in daemon.client().memories()["memories"]}


def names_in(backup: Path) -> set[str]:
    with tarfile.open(backup) as tar:
        return set(tar.getnames())


def test_restore_into_old_state_keeps_later_forgetting(daemon: RunningDaemon) -> None:
    client, backup = daemon.client(), daemon.home / "b.tar"
    change = pin_key(daemon)
    client.add_turn("which pump", "the Aqua 3000", session="s1", significance=0.9)
    made = memoryctl(daemon, "backup", str(backup))
    assert made["maskedKeys"] == 1
    assert backup.stat().st_mode & 0o777 == 0o600
    assert KEY.encode() not in backup.read_bytes()
    assert {"config", "manifest.json", "workspaces/0/memory/sessions/s1.json"} < names_in(backup)
    assert not any(name.endswith(".md") for name in names_in(backup))
    assert "is there already" in memoryctl(daemon, "backup", str(backup), code=Exit.ERROR)["error"]["message"]
    error = memoryctl(daemon, "restore", str(backup), "--yes", code=Exit.ALREADY_RUNNING)["error"]
    assert "service stop" in error["hint"]
    plan = memoryctl(daemon, "restore", str(backup), "--dry-run")
    assert (plan["dryRun"], plan["missingKeys"]) == (True, [])
    assert not list(daemon.state.glob("replaced/*"))
    client.forget("Ida wants short notes")
    (daemon.workspace / LOG).write_text(NOTES.replace("W @Bram", "W(pin) @Bram"))
    daemon.stop()
    error = memoryctl(daemon, "restore", str(backup), code=Exit.ERROR)["error"]
    assert "--dry-run" in error["hint"]
    plan = memoryctl(daemon, "restore", str(backup), "--dry-run")
    shown = daemon.memoryctl("restore", str(backup), "--dry-run").stdout.splitlines()
    assert all(" would be " in line for line in shown)
    done = memoryctl(daemon, "restore", str(backup), "--yes")
    assert plan["replaced"] == done["replaced"] != []
    assert done["carried"] > 0
    assert done["missingKeys"] == []
    daemon.start()
    eventually(lambda: "Ida wants short notes" not in texts(daemon))
    assert pinned(daemon) == ["the spare key hangs behind the boiler"]
    eventually(lambda: "short notes" not in (daemon.workspace / LOG).read_text())
    numbers = [entry["id"] for entry in daemon.client().changes()["changes"]]
    assert change in numbers


def test_lost_state_is_restored_with_index_and_history(daemon: RunningDaemon) -> None:
    backup, golden = daemon.home / "all.tar", daemon.workspace / ".memory" / "eval.jsonl"
    pin_key(daemon)
    daemon.client().add_turn("which pump", "the Aqua 3000", session="s1", significance=0.9)
    golden.parent.mkdir(exist_ok=True)
    golden.write_text('{"question": "where is the spare key", "expect": []}')
    memoryctl(daemon, "backup", str(backup), "--notes", "--with-secrets")
    before = daemon.client().changes()["changes"]
    config = daemon.config.read_bytes()
    daemon.stop()
    for gone in (daemon.state, daemon.workspace):
        shutil.rmtree(gone)
    daemon.config.unlink()
    done = memoryctl(daemon, "restore", str(backup), "--yes")
    assert done["missingKeys"] == []
    assert daemon.config.read_bytes() == config
    assert "spare key" in golden.read_text()
    daemon.start()
    daemon.client().sync()
    assert [change["id"] for change in daemon.client().changes()["changes"]] == [change["id"] for change in before]
    assert pinned(daemon) == ["the spare key hangs behind the boiler"]
    assert daemon.client().qa_stats()["sessions"] == 1
    retained = daemon.client().retain("W @Bram: has a dog")
    assert retained["change"] is not None
    assert daemon.client().undo(retained["change"])["undone"]


def test_restore_is_undone_by_an_earlier_backup(daemon: RunningDaemon) -> None:
    backup = daemon.home / "earlier.tar"
    daemon.client().retain("W @Bram: plays the flute")
    memoryctl(daemon, "backup", str(backup))
    before = daemon.agent()["ledger"]["history"]
    later = daemon.client().retain("W @Bram: plays the tuba")["change"]
    now = daemon.agent()["ledger"]["history"]
    assert (now["changes"], now["maxChanges"]) == (before["changes"] + 1, 10_000)
    assert before["changeBytes"] < now["changeBytes"] < now["maxChangeBytes"]
    daemon.stop()
    # a restore is undone by restoring a backup made before it
    first = daemon.home / "first.tar"
    memoryctl(daemon, "backup", str(first))
    memoryctl(daemon, "restore", str(backup), "--yes")
    assert (max(daemon.state.glob("replaced/*")) / "plan.json").is_file()
    memoryctl(daemon, "restore", str(first), "--yes")
    daemon.start()
    assert later in [change["id"] for change in daemon.client().changes()["changes"]]


def test_forgetting_mentions_what_a_restore_set_aside(daemon: RunningDaemon) -> None:
    backup, secret = daemon.home / "before.tar", "the vault opens with the blue card"
    daemon.client().retain(f"W @Bram: {secret}")
    memoryctl(daemon, "backup", str(backup))
    daemon.stop()
    memoryctl(daemon, "restore", str(backup), "--yes")
    daemon.start()
    daemon.client().sync()
    receipt = daemon.client().forget(secret)
    assert any("replaced" in note and str(daemon.state) in note for note in receipt["stays"])


def replace_and_be_killed(state: Path, targets: dict[Path, bytes], at: Path) -> None:
    """Replace files in a child process that is killed just before it replaces the last one."""
    pid = os.fork()
    if pid == 0:

        def kill_at_rename(event: str, arguments: tuple[object, ...]) -> None:
            if event == "os.rename" and str(arguments[1]) == str(at):
                os._exit(9)

        try:
            sys.addaudithook(kill_at_rename)
            replacement = Replacement.begin(state, "restore of x")
            for target, data in targets.items():
                with replacement.put(target) as file:
                    file.write(data)
            replacement.carry_out()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def test_daemon_completes_an_interrupted_restore(daemon: RunningDaemon) -> None:
    other = json.loads(daemon.config.read_text())
    other["memory"] = {"citations": "off"}
    note = daemon.workspace / "memory" / "2026-11-19.md"
    wanted = {note: b"# Thursday\n\nThe bassoon came.\n", daemon.config: json.dumps(other).encode()}
    # the ledger of a killed daemon is copied with its write-ahead log
    daemon.client().retain("W @Bram: sold the boat")
    daemon.kill()
    memoryctl(daemon, "backup", str(daemon.home / "killed.tar"))
    replace_and_be_killed(daemon.state, wanted, daemon.config)
    assert "citations" not in daemon.config.read_text()
    daemon.start()
    daemon.client().sync()
    assert daemon.config.read_bytes() == wanted[daemon.config]
    found = daemon.client().search("bassoon")
    assert found["citations"] == "off"
    assert [hit["path"] for hit in found["results"]] == ["memory/2026-11-19.md"]
    assert "boat" in "".join(path.read_text() for path in (daemon.workspace / "memory").glob("*.md"))


def change_path_in_config(daemon: RunningDaemon, old: str, new: str) -> None:
    daemon.config.write_text(daemon.config.read_text().replace(json.dumps(old), json.dumps(new)))


def test_workspace_moves_with_its_history_and_back(daemon: RunningDaemon) -> None:
    old, new = daemon.workspace, daemon.home / "elsewhere" / "notes of mine"
    daemon.client().retain("W @Bram: skates")
    log = daemon.workspace / LOG
    log.write_text(log.read_text().replace("W @Bram: the spare", "W(pin) @Bram: the spare"))
    daemon.client().sync()
    error = memoryctl(daemon, "workspace", "move", str(old), str(new), code=Exit.ALREADY_RUNNING)["error"]
    assert "workspace move" in error["hint"]
    before = [change["id"] for change in daemon.client().changes()["changes"]]
    daemon.stop()
    plan = memoryctl(daemon, "workspace", "move", str(old), str(new), "--dry-run")
    assert plan["movedFolder"]
    assert old.is_dir()
    done = memoryctl(daemon, "workspace", "move", str(old), str(new))
    assert done["rows"] == plan["rows"] > 0
    (line,) = done["config"]
    assert (line["key"], line["said"], line["instead"]) == ("agents.defaults.workspace", str(old), str(new))
    # started with the old configuration: the caches that it makes at the old path are no history
    daemon.start()
    daemon.stop()
    listed = daemon.memoryctl("workspace", "list").stderr
    assert f"{old} is still in the configuration" in listed
    assert "workspace move" not in listed
    again = memoryctl(daemon, "workspace", "move", str(old), str(new), code=Exit.NOTHING_FOUND)["error"]
    assert "mv" not in again["hint"]
    change_path_in_config(daemon, str(old), str(new))
    daemon.start()
    daemon.client().sync()
    assert daemon.agent()["workspace"] == str(new)
    assert [change["id"] for change in daemon.client().changes()["changes"]] == before
    eventually(lambda: pinned(daemon) == ["the spare key hangs behind the boiler"])
    daemon.stop()
    # the folder was moved by hand: only the stored data follows
    new.rename(old)
    memoryctl(daemon, "workspace", "move", str(new), str(old))
    change_path_in_config(daemon, str(new), str(old))
    daemon.start()
    daemon.client().sync()
    assert [change["id"] for change in daemon.client().changes()["changes"]] == before
    (row,) = memoryctl(daemon, "workspace", "list")["workspaces"]
    assert (row["path"], row["agents"], row["isThere"]) == (str(old), ["main"], True)
