"""`memoryctl memories` under the real daemon: find, pin, weight, delete and undo."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.mcp_program import driven

LOG, WORLD = "memory/2026-11-18.md", "bank/world.md"
LOG_TEXT = (
    "# Wednesday\r\n\r\nprose\r\n\r\n## Retain\r\n- W @Bram: The spare key hangs behind the boiler.\r\n"
    "- O(c=0.7) @Ida: Ida wants release notes of one page.\r\n    In English.\r\n- B: 我们昨天修好了栅栏。"
)
WORLD_TEXT = "# World\n\n- The gate opens at nine\n- W @Bram: The spare key hangs behind the boiler.\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("memories")
    workspace = home / "workspace"
    for folder in ("memory", "bank"):
        (workspace / folder).mkdir(parents=True)
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as daemon:
        yield daemon


@pytest.fixture
def daemon(running: RunningDaemon) -> RunningDaemon:
    """Restore the notes before each test."""
    (running.workspace / LOG).write_bytes(LOG_TEXT.encode())
    (running.workspace / WORLD).write_bytes(WORLD_TEXT.encode())
    running.client().sync()
    return running


def memories(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> str:
    done = daemon.memoryctl("memories", *arguments)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def memories_json(daemon: RunningDaemon, *arguments: str) -> Any:
    return json.loads(memories(daemon, *arguments, "--json"))


def id_of(daemon: RunningDaemon, *words: str) -> str:
    [found] = memories_json(daemon, "list", *words)["memories"]
    return str(found["id"])


def note(daemon: RunningDaemon, path: str) -> str:
    return (daemon.workspace / path).read_bytes().decode()


def test_near_copies_are_counted_by_status(daemon: RunningDaemon) -> None:
    texts = [f"The key was lent to the plumber in the cellar {times} times this year." for times in (3, 4)]
    more = [
        "W(scope=agent:main) @Bram: The spare key hangs behind the boiler.",
        *(f"W @Bram: {text}" for text in texts),
    ]
    (daemon.workspace / WORLD).write_text(WORLD_TEXT + "".join(f"- {line}\n" for line in more))
    daemon.client().sync()
    report = memories_json(daemon, "status")
    [near], [across] = report["near_copies"], report["across_scopes"]
    assert set(near.values()) == {memory["id"] for memory in memories_json(daemon, "list", "plumber")["memories"]}
    assert set(across.values()) == {memory["id"] for memory in memories_json(daemon, "list", "boiler")["memories"]}
    shown = memories(daemon, "status")
    assert f"1 pair of memories say nearly the same\n  {near['newer'][:8]}  {near['older'][:8]}\n" in shown
    assert (
        f"1 pair of memories say the same in several scopes\n  {across['newer'][:8]}  {across['older'][:8]}\n" in shown
    )


def test_memories_are_counted_listed_found_and_shown(daemon: RunningDaemon) -> None:
    assert "4 memories, 0 pinned" in memories(daemon, "status")
    assert memories_json(daemon, "status")["by_scope"] == {"agent:main": 4}
    assert (memories_json(daemon, "status")["near_copies"], "pair" in memories(daemon, "status")) == ([], False)
    first = memories_json(daemon, "list", "--limit", "3")
    second = memories_json(daemon, "list", "--limit", "3", "--offset", "3")
    assert (len(first["memories"]), len(second["memories"]), first["total"]) == (3, 1, 4)
    assert "1 more: --offset 3" in memories(daemon, "list", "-k", "3")
    assert [memory["kind"] for memory in memories_json(daemon, "list", "--kind", "opinion")["memories"]] == ["opinion"]
    assert "栅栏" in memories(daemon, "list", "栅栏")
    assert "no such memory" in memories(daemon, "list", "zeppelin", expected=Exit.NOTHING_FOUND)
    found = memories_json(daemon, "search", "where", "is", "the", "spare", "key", "-k", "1")["memories"]
    assert [memory["text"] for memory in found] == ["The spare key hangs behind the boiler."]
    shown = memories(daemon, "show", found[0]["id"][:8])
    assert all(source in shown for source in ("memory/2026-11-18.md#L6", "bank/world.md#L4"))
    assert "agent:main" in shown
    assert f"said by     {found[0]['author']}\n" in shown
    for bad in ("12345678", found[0]["id"][:7], "spare key", "%"):
        assert "there is no memory" in memories(daemon, "show", bad, expected=Exit.NOTHING_FOUND)


def test_list_and_search_mark_what_a_newer_memory_supersedes(daemon: RunningDaemon) -> None:
    older = daemon.workspace / "memory/2026-10-12.md"
    older.write_text("## Retain\n- W @Shed: The code of the shed is 5512.\n")
    (daemon.workspace / LOG).write_text("## Retain\n- W @Shed: The code of the shed is 8024.\n")
    daemon.client().sync()
    for command in (["list", "shed"], ["search", "code", "of", "the", "shed"]):
        lines = [line for line in memories(daemon, *command).splitlines() if "@Shed" in line]
        assert {line.rpartition(" ")[2]: "superseded" in line for line in lines} == {"5512.": True, "8024.": False}
    older.unlink()


def test_text_of_nothing_but_blanks_is_refused_in_plain_words(daemon: RunningDaemon) -> None:
    done = daemon.memoryctl("remember", "   ")
    assert (done.returncode, "text: is blank\n" in done.stderr, "--help" in done.stderr) == (Exit.ERROR, True, True)


def test_pin_changes_only_the_head_and_the_stable_block(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "栅栏")
    assert "pinned" in memories(daemon, "pin", key[:8])
    assert note(daemon, LOG) == LOG_TEXT.replace("- B: ", "- B(pin): ")
    client = daemon.client()
    stable = client.recall("weather", format="bundle")["bundle"]
    assert "栅栏" in str(stable)
    assert "pinned already" in memories(daemon, "pin", key)
    assert "core: it is pinned" in memories(daemon, "why", key)
    assert memories_json(daemon, "list", "--pinned")["total"] == 1
    change = memories_json(daemon, "importance", key, "0.25")["changes"][0]
    assert note(daemon, LOG) == LOG_TEXT.replace("- B: ", "- B(pin, i=0.25): ")
    client.undo(change)
    memories(daemon, "unpin", key)
    assert note(daemon, LOG) == LOG_TEXT
    assert "it was not pinned" in memories(daemon, "unpin", key)
    memories(daemon, "importance", key, "1.5", expected=Exit.USAGE)


def test_bullet_without_a_head_gets_one(daemon: RunningDaemon) -> None:
    memories(daemon, "importance", id_of(daemon, "gate opens"), "0.9")
    assert note(daemon, WORLD) == WORLD_TEXT.replace("- The gate", "- W(i=0.9): The gate")
    assert memories_json(daemon, "list", "gate opens")["memories"][0]["importance"] == 0.9


def test_deleted_memory_is_gone_until_undone(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "spare key")
    assert "would be taken out" in memories(daemon, "delete", key, "--dry-run")
    assert note(daemon, LOG) == LOG_TEXT
    gone = memories_json(daemon, "delete", key)
    assert gone["lines"] == ["bank/world.md#L4", "memory/2026-11-18.md#L6"]
    assert "boiler" not in note(daemon, LOG) + note(daemon, WORLD)
    assert "there is no memory" in memories(daemon, "delete", key, expected=Exit.NOTHING_FOUND)
    client = daemon.client()
    assert "boiler" not in json.dumps(client.recall("where is the spare key")["results"])
    assert {change["by"] for change in client.changes(by="memories", limit=2)["changes"]} == {"memories"}
    client.undo(run=gone["run"])
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    client.sync()
    assert id_of(daemon, "spare key") == key


def test_line_that_was_just_moved_is_found(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "release notes")
    moved = (
        "# Friday\n\n## Retain\n\n- W: new\n- O(c=0.7) @Ida: Ida wants release notes of one page.\n    In English.\n"
    )
    (daemon.workspace / LOG).write_text(moved)
    memories(daemon, "pin", key)
    assert note(daemon, LOG) == moved.replace("c=0.7", "c=0.7, pin")
    (daemon.workspace / LOG).write_text("# Friday\n")
    assert "there is no memory" in memories(daemon, "pin", key, expected=Exit.NOTHING_FOUND)
    assert note(daemon, LOG) == "# Friday\n"


def test_decay_forecasts_without_changes(daemon: RunningDaemon) -> None:
    report = memories_json(daemon, "decay", "--in", "1y")
    assert (report["days"], report["total"]) == (365, 4)
    assert all(memory["terms"]["relevance"] <= memory["memory"]["relevance"] for memory in report["memories"])
    assert "peripheral" in memories(daemon, "decay", "--in", "1y")
    assert report["changing"] == len(report["memories"]) == 4
    assert "3 more: -k 4" in memories(daemon, "decay", "--in", "1y", "-k", "1")
    assert set(memories_json(daemon, "status")["by_tier"]) == {"working"}
    assert "no number of days" in memories(daemon, "decay", "--in", "soon", expected=Exit.ERROR)


def test_why_and_decay_tell_how_long_use_keeps_a_memory_in_core(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "release")
    assert "used: never" in memories(daemon, "why", key)
    client = daemon.client()
    for _ in range(15):
        client.recall("Ida release notes of one page")
    text = memories(daemon, "why", key)
    assert "core: it is used often; it leaves the core in 60 days if nothing uses it" in text
    assert "used: 15 times, last on" in text
    assert memories_json(daemon, "why", key)["terms"]["leaves_core_in_days"] == pytest.approx(60, abs=0.1)
    later = memories(daemon, "decay", "--in", "90d")
    assert "core -> working: nothing used it for long enough to leave the core" in later
    assert memories_json(daemon, "decay", "--in", "30d")["moving"] == 0
    memories(daemon, "pin", key)
    assert "leaves the core" not in memories(daemon, "why", key)


def test_days_are_in_the_owners_time_zone(tmp_path: Path) -> None:
    workspace, zone = tmp_path / "workspace", "Pacific/Kiritimati"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/2026-11-10.md").write_text("## Retain\n- W @Bram: The spare key hangs behind the boiler.\n")
    config = write_config(tmp_path, workspace, None, memory={"timezone": zone})
    with (
        RunningDaemon(tmp_path, config, workspace, environment={"TZ": "Etc/GMT+12"}) as daemon,
        driven(daemon) as program,
    ):
        daemon.client().sync()
        [memory] = program.answer("memory_search", query="where is the spare key", corpus="memories")["results"]
        assert (memory["day"], memory["path"]) == ("2026-11-10", "memory/2026-11-10.md")
        assert program.answer("memory_get", id=memory["id"])["memory"]["day"] == memory["day"]
        shown = memories(daemon, "show", memory["id"])
        assert "written     2026-11-10\n" in shown
        assert f"last on {datetime.now(ZoneInfo(zone)).date()}\n" in shown
