"""`memoryctl memories` under the real daemon, as a person types it: find, pin, weigh, take out, and have it again."""

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
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("memories")
    workspace = home / "workspace"
    for folder in ("memory", "bank"):
        (workspace / folder).mkdir(parents=True)
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as running:
        yield running


@pytest.fixture
def daemon(remembering: RunningDaemon) -> RunningDaemon:
    """Each test finds the notes as they are written above."""
    (remembering.workspace / LOG).write_bytes(LOG_TEXT.encode())
    (remembering.workspace / WORLD).write_bytes(WORLD_TEXT.encode())
    remembering.client().sync()
    return remembering


def typed(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> str:
    done = daemon.memoryctl("memories", *arguments)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def decoded(daemon: RunningDaemon, *arguments: str) -> Any:
    return json.loads(typed(daemon, *arguments, "--json"))


def id_of(daemon: RunningDaemon, *words: str) -> str:
    [found] = decoded(daemon, "list", *words)["memories"]
    return str(found["id"])


def note(daemon: RunningDaemon, path: str) -> str:
    return (daemon.workspace / path).read_bytes().decode()


def test_copies_that_are_not_folded_are_told_by_the_status(daemon: RunningDaemon) -> None:
    often = [f"The key was lent to the plumber in the cellar {times} times this year." for times in (3, 4)]
    more = ["W(scope=agent:main) @Bram: The spare key hangs behind the boiler.", *(f"W @Bram: {one}" for one in often)]
    (daemon.workspace / WORLD).write_text(WORLD_TEXT + "".join(f"- {line}\n" for line in more))
    daemon.client().sync()
    told = decoded(daemon, "status")
    [near], [across] = told["near_copies"], told["across_scopes"]
    assert set(near.values()) == {one["id"] for one in decoded(daemon, "list", "plumber")["memories"]}
    assert set(across.values()) == {one["id"] for one in decoded(daemon, "list", "boiler")["memories"]}
    shown = typed(daemon, "status")
    assert f"1 pair of memories say nearly the same\n  {near['newer'][:8]}  {near['older'][:8]}\n" in shown
    assert (
        f"1 pair of memories say the same in several scopes\n  {across['newer'][:8]}  {across['older'][:8]}\n" in shown
    )


def test_memories_are_counted_listed_found_and_shown(daemon: RunningDaemon) -> None:
    assert "4 memories, 0 pinned" in typed(daemon, "status")
    assert decoded(daemon, "status")["by_scope"] == {"agent:main": 4}
    assert (decoded(daemon, "status")["near_copies"], "pair" in typed(daemon, "status")) == ([], False)
    first = decoded(daemon, "list", "--limit", "3")
    second = decoded(daemon, "list", "--limit", "3", "--offset", "3")
    assert (len(first["memories"]), len(second["memories"]), first["total"]) == (3, 1, 4)
    assert "1 more: --offset 3" in typed(daemon, "list", "-k", "3")
    assert [one["kind"] for one in decoded(daemon, "list", "--kind", "opinion")["memories"]] == ["opinion"]
    assert "栅栏" in typed(daemon, "list", "栅栏")
    assert "no such memory" in typed(daemon, "list", "zeppelin", expected=Exit.NOTHING_FOUND)
    found = decoded(daemon, "search", "where", "is", "the", "spare", "key", "-k", "1")["memories"]
    assert [one["text"] for one in found] == ["The spare key hangs behind the boiler."]
    shown = typed(daemon, "show", found[0]["id"][:8])
    assert all(source in shown for source in ("memory/2026-11-18.md#L6", "bank/world.md#L4"))
    assert "agent:main" in shown
    assert f"said by     {found[0]['author']}\n" in shown
    for bad in ("12345678", found[0]["id"][:7], "spare key", "%"):
        assert "there is no memory" in typed(daemon, "show", bad, expected=Exit.NOTHING_FOUND)


def test_list_and_search_mark_what_a_newer_memory_supersedes(daemon: RunningDaemon) -> None:
    older = daemon.workspace / "memory/2026-10-12.md"
    older.write_text("## Retain\n- W @Shed: The code of the shed is 5512.\n")
    (daemon.workspace / LOG).write_text("## Retain\n- W @Shed: The code of the shed is 8024.\n")
    daemon.client().sync()
    for command in (["list", "shed"], ["search", "code", "of", "the", "shed"]):
        lines = [line for line in typed(daemon, *command).splitlines() if "@Shed" in line]
        assert {line.rpartition(" ")[2]: "superseded" in line for line in lines} == {"5512.": True, "8024.": False}
    older.unlink()


def test_text_of_nothing_but_blanks_is_refused_in_plain_words(daemon: RunningDaemon) -> None:
    done = daemon.memoryctl("remember", "   ")
    assert (done.returncode, "text: is blank\n" in done.stderr, "--help" in done.stderr) == (Exit.ERROR, True, True)


def test_a_pin_stands_in_the_bundle_and_in_its_brackets_alone(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "栅栏")
    assert "pinned" in typed(daemon, "pin", key[:8])
    assert note(daemon, LOG) == LOG_TEXT.replace("- B: ", "- B(pin): ")
    client = daemon.client()
    stable = client.recall("weather", format="bundle")["bundle"]
    assert "栅栏" in str(stable)
    assert "pinned already" in typed(daemon, "pin", key)
    assert "core: it is pinned" in typed(daemon, "why", key)
    assert decoded(daemon, "list", "--pinned")["total"] == 1
    change = decoded(daemon, "importance", key, "0.25")["changes"][0]
    assert note(daemon, LOG) == LOG_TEXT.replace("- B: ", "- B(pin, i=0.25): ")
    client.undo(change)
    typed(daemon, "unpin", key)
    assert note(daemon, LOG) == LOG_TEXT
    assert "it was not pinned" in typed(daemon, "unpin", key)
    typed(daemon, "importance", key, "1.5", expected=Exit.USAGE)


def test_bullet_without_a_head_gets_one(daemon: RunningDaemon) -> None:
    typed(daemon, "importance", id_of(daemon, "gate opens"), "0.9")
    assert note(daemon, WORLD) == WORLD_TEXT.replace("- The gate", "- W(i=0.9): The gate")
    assert decoded(daemon, "list", "gate opens")["memories"][0]["importance"] == 0.9


def test_deleted_memory_is_gone_from_both_notes_until_the_run_is_undone(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "spare key")
    assert "would go" in typed(daemon, "delete", key, "--dry-run")
    assert note(daemon, LOG) == LOG_TEXT
    gone = decoded(daemon, "delete", key)
    assert gone["lines"] == ["bank/world.md#L4", "memory/2026-11-18.md#L6"]
    assert "boiler" not in note(daemon, LOG) + note(daemon, WORLD)
    assert "there is no memory" in typed(daemon, "delete", key, expected=Exit.NOTHING_FOUND)
    client = daemon.client()
    assert "boiler" not in json.dumps(client.recall("where is the spare key")["results"])
    assert {one["by"] for one in client.changes(by="memories", limit=2)["changes"]} == {"memories"}
    client.undo(run=gone["run"])
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    client.sync()
    assert id_of(daemon, "spare key") == key


def test_line_that_a_person_moved_a_moment_ago_is_found(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "release notes")
    moved = (
        "# Friday\n\n## Retain\n\n- W: new\n- O(c=0.7) @Ida: Ida wants release notes of one page.\n    In English.\n"
    )
    (daemon.workspace / LOG).write_text(moved)
    typed(daemon, "pin", key)
    assert note(daemon, LOG) == moved.replace("c=0.7", "c=0.7, pin")
    (daemon.workspace / LOG).write_text("# Friday\n")
    assert "there is no memory" in typed(daemon, "pin", key, expected=Exit.NOTHING_FOUND)
    assert note(daemon, LOG) == "# Friday\n"


def test_decay_tells_how_all_will_stand_and_changes_nothing(daemon: RunningDaemon) -> None:
    told = decoded(daemon, "decay", "--in", "1y")
    assert (told["days"], told["total"]) == (365, 4)
    assert all(one["terms"]["relevance"] <= one["memory"]["relevance"] for one in told["memories"])
    assert "peripheral" in typed(daemon, "decay", "--in", "1y")
    assert told["changing"] == len(told["memories"]) == 4
    assert "3 more: -k 4" in typed(daemon, "decay", "--in", "1y", "-k", "1")
    assert set(decoded(daemon, "status")["by_tier"]) == {"working"}
    assert "no number of days" in typed(daemon, "decay", "--in", "soon", expected=Exit.ERROR)


def test_why_and_decay_tell_how_long_use_keeps_it_in_the_core(daemon: RunningDaemon) -> None:
    key = id_of(daemon, "release")
    assert "used: never" in typed(daemon, "why", key)
    client = daemon.client()
    for _ in range(15):
        client.recall("Ida release notes of one page")
    told = typed(daemon, "why", key)
    assert "core: it is used often; it leaves the core in 60 days if nothing uses it" in told
    assert "used: 15 times, last on" in told
    assert decoded(daemon, "why", key)["terms"]["leaves_core_in_days"] == pytest.approx(60, abs=0.1)
    later = typed(daemon, "decay", "--in", "90d")
    assert "core -> working: nothing used it for long enough to leave the core" in later
    assert decoded(daemon, "decay", "--in", "30d")["moving"] == 0
    typed(daemon, "pin", key)
    assert "leaves the core" not in typed(daemon, "why", key)


def test_days_are_the_owners_in_a_client_of_another_zone(tmp_path: Path) -> None:
    workspace, zone = tmp_path / "workspace", "Pacific/Kiritimati"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/2026-11-10.md").write_text("## Retain\n- W @Bram: The spare key hangs behind the boiler.\n")
    config = write_config(tmp_path, workspace, None, memory={"timezone": zone})
    with (
        RunningDaemon(tmp_path, config, workspace, environment={"TZ": "Etc/GMT+12"}) as daemon,
        driven(daemon) as asked,
    ):
        daemon.client().sync()
        [one] = asked.answer("memory_search", query="where is the spare key", corpus="memories")["results"]
        assert (one["day"], one["path"]) == ("2026-11-10", "memory/2026-11-10.md")
        assert asked.answer("memory_get", id=one["id"])["memory"]["day"] == one["day"]
        shown = typed(daemon, "show", one["id"])
        assert "written     2026-11-10\n" in shown
        assert f"last on {datetime.now(ZoneInfo(zone)).date()}\n" in shown
