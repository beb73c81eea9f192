"""Shared memories of others under the real daemon: recalled with their author, never edited, and gone when revoked."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.loopback import free_port
from tests.mcp_program import driven, text_of
from tests.page import OpenPage
from tests.page import text_of as shown_text
from tests.waiting import eventually

TEAM = {"remote": "git@host.example:acme/memory.git", "name": "acme", "person": "ben", "intervalMinutes": 0}
ANA = """# Monday

## Retain
- W(from=user, c=0.9) @Printer: The office printer is an HP M209.
- lesson(pin, i=1) @Deploy: Always drain the queue before a deploy.
- O(scope=agent:main, c=0.9) @Tea: I like the jasmine tea of the corner shop.
- W @Castle: The castle key hangs behind the green door.
"""
OWN = """## Retain
- W @Printer: The office printer is a Brother HL-2350.
- W @Cat: The cat of the house is called Miso.
"""


class Member:
    """Ben's daemon, and the folder with the notes of the others."""

    def __init__(self, home: Path) -> None:
        workspace, self.port = home / "workspace", free_port()
        (workspace / "memory").mkdir(parents=True)
        (workspace / "memory" / "2026-11-02.md").write_text(OWN)
        self.daemon = RunningDaemon(
            home, write_config(home, workspace, None, team=TEAM, http={"port": self.port}), workspace
        )
        self.notes = self.daemon.state / "teams" / "acme" / "notes"
        self.share("ana", "memory/2026-11-03.md", ANA)
        self.share("ben", "memory/2026-11-02.md", "## Retain\n- W @Cat: The cat of the house is called Miso.\n")

    def share(self, person: str, path: str, text: str, came: datetime | None = None) -> Path:
        file = self.notes / person / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # set its time before the daemon can see it
        unseen = file.with_name(f".{file.name}")
        unseen.write_text(text)
        if came is not None:
            os.utime(unseen, (came.timestamp(), came.timestamp()))
        return unseen.rename(file)

    def items(self, question: str, **options: Any) -> list[Any]:
        client = self.daemon.client()
        client.sync()
        return list(client.recall(question, k=5, **options)["results"])

    def memoryctl(self, *arguments: str, expected: Exit = Exit.DONE) -> str:
        result = self.daemon.memoryctl(*arguments)
        assert result.returncode == expected, result.stderr
        return result.stdout + result.stderr


@pytest.fixture(scope="module")
def ben(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    member = Member(tmp_path_factory.mktemp("ben"))
    with member.daemon:
        yield member


def test_shared_memory_is_shown_everywhere_with_its_author(ben: Member) -> None:
    first = ben.items("where does the castle key hang")[0]
    assert first["content"] == "The castle key hangs behind the green door."
    assert (first["person"], first["scope"], first["state"]) == ("ana", "team:acme", "verified")
    assert first["source"] == "ana:memory/2026-11-03.md#L7"
    bundle = str(ben.daemon.client().recall("where does the castle key hang", format="bundle")["bundle"])
    assert "[ana] The castle key hangs behind the green door." in bundle
    assert 'source="ana:memory/2026-11-03.md#L7"' in bundle
    shown = ben.memoryctl("recall", "castle key")
    assert "ana:memory/2026-11-03.md#L7" in shown
    assert "[ana] The castle key hangs" in shown
    assert "[ana] " in ben.memoryctl("search", "castle key")
    with driven(ben.daemon) as client:
        calls: tuple[tuple[str, dict[str, str]], ...]
        calls = (("recall", {}), ("memory_search", {}), ("memory_search", {"corpus": "memories"}))
        for tool, arguments in calls:
            answer = client.call(tool, query="castle key", **arguments)
            found = (answer.structured_content or {})["results"]
            assert [item["person"] for item in found if item.get("person")] == ["ana"]
            assert "  | [ana] " in text_of(answer)
        for got in (client.call("memory_get", id=first["id"]), client.call("memory_get", path=first["source"])):
            assert "  | [ana] " in text_of(got)
        assert "[" not in text_of(client.call("memory_get", path="memory/2026-11-02.md")).partition("  | ")[2]
    shared = ben.share("ana", "memory/projects/moat.md", "The moat of the castle is drained in spring.\n")
    ben.daemon.client().sync()
    with OpenPage(ben.daemon, ben.port).enter() as page:
        shown = shown_text(page.get("ask", q="castle key or moat", whole="yes"))
    assert "[ana] The castle key hangs" in shown
    assert "[ana] The moat of the castle" in shown
    shared.unlink()
    ben.daemon.client().sync()
    [hit] = [hit for hit in ben.daemon.client().search("castle key")["results"] if hit.get("person")]
    assert hit["path"] == "ana:memory/2026-11-03.md"
    read = ben.daemon.client().get("ana:memory/2026-11-03.md", start=7, lines=1)
    assert read["text"] == "- W @Castle: The castle key hangs behind the green door.\n"
    assert ben.daemon.client().verify("ana:memory/2026-11-03.md#L7")["state"] == "verified"


def test_own_shared_lines_are_not_read_twice(ben: Member) -> None:
    found = [item for item in ben.items("what is the cat of the house called") if "Miso" in item["content"]]
    assert [item.get("person") for item in found] == [None]


def test_owner_leads_in_a_disagreement_with_a_colleague(ben: Member) -> None:
    contents = [item["content"] for item in ben.items("which printer is in the office")]
    assert contents[:2] == ["The office printer is a Brother HL-2350.", "The office printer is an HP M209."]
    [pair] = ben.daemon.client().disagreements()["disagreements"]
    assert (pair["doubt"], pair["leads"]) == ("authority", pair["older"]["id"])


def test_pins_and_lessons_of_others_are_not_in_the_stable_block(ben: Member) -> None:
    bundle = str(ben.daemon.client().recall("good morning", format="bundle")["bundle"])
    assert "drain the queue" not in bundle
    # recalled on request, as the team's although its line names an agent
    assert ben.items("what to do before a deploy")[0]["content"] == "Always drain the queue before a deploy."
    assert ben.items("jasmine tea")[0]["scope"] == "team:acme"


def test_own_note_ranks_before_a_later_shared_copy(ben: Member) -> None:
    ben.share("ana", "memory/2099-01-01.md", "## Retain\n- W @Cat: The cat of the house is called Miso.\n")
    ben.daemon.client().sync()
    hits = ben.daemon.client().search("what is the cat of the house called")["results"]
    assert [hit.get("person") for hit in hits if "Miso" in hit["snippet"]] == [None]
    (ben.notes / "ana" / "memory" / "2099-01-01.md").unlink()
    ben.daemon.client().sync()


def test_future_log_of_a_colleague_counts_from_its_arrival(ben: Member) -> None:
    came = datetime(2026, 10, 30, 12, tzinfo=UTC)
    ahead = ben.share("ana", "memory/2099-01-01.md", "## Retain\n- W @Kiln: The kiln is out of order.\n", came)
    log = ben.daemon.workspace / "memory" / "2026-11-02.md"
    log.write_text(f"{OWN}- W @Kiln: The kiln was repaired.\n")
    assert [item["content"] for item in ben.items("tell me about the kiln")[:2]] == [
        "The kiln was repaired.",
        "The kiln is out of order.",
    ]
    ahead.unlink()
    log.write_text(OWN)
    ben.daemon.client().sync()


def test_scope_filter_accepts_the_team(ben: Member) -> None:
    assert {item["person"] for item in ben.items("the", scope="team:acme")} == {"ana"}
    listed = ben.daemon.client().memories(scope="team:acme")["memories"]
    assert {memory["scope"] for memory in listed} == {"team:acme"}
    assert len(listed) == 4


@pytest.mark.parametrize("change", ["pin", "forget", "replace in place", "delete", "importance"])
def test_shared_memories_of_others_cannot_be_edited(ben: Member, change: str) -> None:
    client = ben.daemon.client()
    [memory] = [row for row in client.memories(scope="team:acme")["memories"] if "castle" in row["text"]]
    before = (ben.notes / "ana" / "memory" / "2026-11-03.md").read_bytes()
    changes: dict[str, Callable[[], object]] = {
        "pin": lambda: client.pin_memory(memory["id"]),
        "forget": lambda: client.forget(memory["id"]),
        "replace in place": lambda: client.replace_memory(memory["id"], "The key is under the mat.", in_place=True),
        "delete": lambda: client.delete_memory(memory["id"]),
        "importance": lambda: client.weigh_memory(memory["id"], 0.9),
    }
    with pytest.raises((InvalidRequest, Denied, NotFound)) as refused:
        changes[change]()
    assert "ana" in str(refused.value)
    assert (ben.notes / "ana" / "memory" / "2026-11-03.md").read_bytes() == before


def test_owner_replaces_a_shared_memory_locally(tmp_path: Path) -> None:
    member = Member(tmp_path)
    with member.daemon:
        client = member.daemon.client()
        client.sync()
        [memory] = [row for row in client.memories(scope="team:acme")["memories"] if "castle" in row["text"]]
        reply = client.replace_memory(memory["id"], "The castle key lies under the mat.")
        assert reply.get("notes", []) == []
        first, second = member.items("where is the castle key")[:2]
        assert (first["content"], first.get("person")) == ("The castle key lies under the mat.", None)
        assert (second["person"], second["supersededBy"]) == ("ana", [first["id"]])


def test_nothing_can_be_retained_into_the_team_scope(ben: Member) -> None:
    with pytest.raises(MemorydError, match="promote"):
        ben.daemon.client().retain("W(scope=team:acme) @Key: the key is under the mat")
    with pytest.raises(MemorydError):
        ben.daemon.client().add_memory("the key is under the mat", scope="team:acme")


def test_export_and_reflect_exclude_shared_memories_of_others(ben: Member) -> None:
    assert "castle" not in ben.memoryctl("export", "-").lower()
    ben.daemon.client().reflect("2026-11-01")
    pages = [path.read_text() for path in (ben.daemon.workspace / "bank").rglob("*.md")]
    assert any("Miso" in text for text in pages)
    assert not any("castle" in text.lower() or "HP M209" in text for text in pages)


def test_revoked_memory_is_gone(tmp_path: Path) -> None:
    member = Member(tmp_path)
    with member.daemon:
        assert member.items("castle key")[0]["person"] == "ana"
        member.share("ana", "memory/2026-11-03.md", ANA.replace("- W @Castle", "- W @Hut").replace("castle", "hut"))
        assert not any("castle" in item["content"] for item in member.items("castle key"))
        shutil.rmtree(member.notes / "ana")
        eventually(lambda: not [item for item in member.items("hut key") if item.get("person")])
    data = b"".join(path.read_bytes() for path in member.daemon.state.rglob("index.sqlite*"))
    assert b"green door" not in data


def test_own_memory_is_forgotten_without_knowing_the_teams_state(tmp_path: Path) -> None:
    member = Member(tmp_path)
    with member.daemon:
        client = member.daemon.client()
        client.sync()
        [cat] = [row for row in client.memories()["memories"] if "Miso" in row["text"] and not row.get("person")]
        assert any(
            "may still be shared with team acme" in note for note in client.forget(cat["id"], dry_run=True)["stays"]
        )
        receipt = client.forget(cat["id"])
        assert receipt["unfinished"] == []
        assert any("may still be shared with team acme" in note for note in receipt["stays"])
    assert "Miso" not in (member.daemon.workspace / "memory" / "2026-11-02.md").read_text()


def test_index_is_complete_after_a_restart_and_a_reload(tmp_path: Path) -> None:
    member = Member(tmp_path)
    with member.daemon:
        assert member.items("castle key")[0]["person"] == "ana"
    with member.daemon:
        member.daemon.client().reload()
        assert member.items("castle key")[0]["person"] == "ana"
        assert "index" not in {
            part["part"] for agent in member.daemon.client().status()["agents"] for part in agent["degraded"]
        }
    assert "damaged" not in member.daemon.log.read_text()
    assert "do not state" not in member.memoryctl("doctor", "--section", "index")


def test_settling_changes_only_the_owners_line(tmp_path: Path) -> None:
    member = Member(tmp_path)
    with member.daemon:
        client = member.daemon.client()
        client.sync()
        [pair] = client.disagreements()["disagreements"]
        client.settle_disagreement(pair["id"], "newer")
        client.sync()
        assert client.disagreements()["total"] == 0
        assert member.items("which printer is in the office")[0]["content"] == "The office printer is an HP M209."
        assert "superseded=" in (member.daemon.workspace / "memory" / "2026-11-02.md").read_text()
    assert (member.notes / "ana" / "memory" / "2026-11-03.md").read_text() == ANA
    assert json.loads(member.daemon.config.read_text())["team"]["name"] == "acme"


def test_disagreement_on_one_day_names_both_people(tmp_path: Path) -> None:
    member = Member(tmp_path)
    member.share("ana", "memory/2026-11-03.md", "")
    member.share(
        "ana", "memory/2026-11-02.md", "## Retain\n- W(from=user) @Printer: The office printer is an HP M209.\n"
    )
    with member.daemon:
        client = member.daemon.client()
        client.sync()
        [pair] = client.disagreements()["disagreements"]
        said = {pair[age]["name"]: pair[age]["saidBy"] for age in ("newer", "older")}
        assert (said, pair["doubt"]) == ({"ana": "team", "ben": None}, "people")
        shown = member.memoryctl("disagreements")
        assert "ana: The office printer is an HP M209." in shown
        assert "ben: The office printer is a Brother HL-2350." in shown
        assert "what holds is" in member.memoryctl("disagreements", "keep", pair["id"], "newer", expected=Exit.ERROR)
        assert "what ana says holds" in member.memoryctl("disagreements", "keep", pair["id"], "ana")
        client.sync()
        assert client.disagreements()["total"] == 0
        assert member.items("which printer is in the office")[0]["person"] == "ana"
