"""Tiers of the real daemon: changed by use, kept through kills and restarts, shared by agents of one workspace."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoryd.client import Client
from memoryd.errors import InvalidRequest
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents
from tests.system.files import contents
from tests.waiting import eventually

TODAY = datetime.now().astimezone().date()
OLD = TODAY - timedelta(days=100)
KEY = "The spare key is under the third flower pot."


def start(home: Path, **memory: object) -> RunningDaemon:
    """Return a daemon, not started, for two agents on one workspace without a model."""
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    return daemon_of_agents(home, [{"id": "a"}, {"id": "b"}], workspace, memory=memory)


def write(daemon: RunningDaemon, day: date, *lines: str) -> None:
    path = daemon.workspace / "memory" / f"{day}.md"
    path.write_text("# Day\n\n## Retain\n" + "".join(f"- {line}\n" for line in lines))


def recall(client: Client, agent: str = "a", **more: object) -> dict[str, Any]:
    reply: dict[str, Any] = client.call("POST", "/recall", {"query": "spare key flower pot", "agent": agent, **more})
    return next(item for item in reply["results"] if item["is"] == "memory" and item["content"] == KEY)


def touches_of_key(daemon: RunningDaemon) -> int:
    """Return how often the memory was touched, according to the ledger."""
    paths = list(daemon.home.rglob("*ledger.sqlite"))
    if not paths:
        return 0
    (path,) = paths
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as db:
        # the daemon may be creating it
        db.set_busy_timeout(10_000)
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'usage'").fetchall():
            return 0
        found = db.execute("SELECT coalesce(max(access_count), 0) FROM usage").fetchall()
    return int(str(found[0][0]))


def test_use_raises_the_tier_for_both_agents(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, OLD, f"W @Anna: {KEY}")
        client = daemon.client()
        client.sync(agent="a")
        client.sync(agent="b")
        assert recall(client, touch=False)["tier"] == "peripheral"
        assert recall(client, touch=False)["tier"] == "peripheral", "recall without touch does not count"
        tiers = [recall(client, "ab"[number % 2])["tier"] for number in range(16)]
        assert tiers == ["peripheral"] * 3 + ["working"] * 12 + ["core"]
        then = recall(client, asOf=str(OLD + timedelta(days=1)), explain=True)
        assert then["explain"]["relevance"] == 1


def test_kill_loses_only_touches_of_the_last_seconds(tmp_path: Path) -> None:
    daemon = start(tmp_path)
    with daemon:
        write(daemon, OLD, f"W @Anna: {KEY}")
        client = daemon.client()
        client.sync(agent="a")
        for _ in range(3):
            recall(client)
        eventually(lambda: touches_of_key(daemon) == 3)
        assert recall(client, touch=False)["tier"] == "working"
        for _ in range(2):
            recall(client)
        # the kill may come before or during the batch: nothing before it is lost
        daemon.kill()
        assert 3 <= touches_of_key(daemon) <= 5
        kept = touches_of_key(daemon)
        daemon.start()
        client = daemon.client()
        assert recall(client)["tier"] == "working"
        eventually(lambda: touches_of_key(daemon) == kept + 1)


def test_stop_and_restart_keep_touches_and_tiers(tmp_path: Path) -> None:
    daemon = start(tmp_path)
    with daemon:
        write(daemon, OLD, f"W @Anna: {KEY}")
        client = daemon.client()
        client.sync(agent="a")
        for _ in range(15):
            recall(client)
        assert daemon.stop() == 0
        assert touches_of_key(daemon) == 15
        daemon.start()
        assert recall(daemon.client(), touch=False)["tier"] == "core"


def test_pin_and_importance_in_the_file_set_the_tier(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        client = daemon.client()
        for head, tier in (("W(pin)", "core"), ("W", "peripheral"), ("W(i=0.97)", "core"), ("W(i=0.9)", "peripheral")):
            write(daemon, OLD, f"{head} @Anna: {KEY}")
            client.sync(agent="a")
            assert recall(client, touch=False)["tier"] == tier, head


def test_read_only_workspace_is_recalled_from_without_a_change(tmp_path: Path) -> None:
    with start(tmp_path, readOnly=True) as daemon:
        write(daemon, TODAY, f"lesson @Anna: {KEY}", "W @Anna: The flower pot is blue.")
        client = daemon.client()
        client.sync(agent="a")
        before = contents(daemon.workspace)
        assert recall(client)["tier"] == "core"
        eventually(lambda: touches_of_key(daemon) == 1)
        assert contents(daemon.workspace) == before


def test_forgotten_memory_leaves_no_touches(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, TODAY, f"W @Anna: {KEY}", "W @Anna: The flower pot is blue.")
        client = daemon.client()
        client.sync(agent="a")
        found = recall(client)["id"]
        eventually(lambda: touches_of_key(daemon) == 1)
        client.forget(found, agent="a")
        (path,) = daemon.home.rglob("*ledger.sqlite")
        assert daemon.stop() == 0
        assert not any(found.encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def test_age_and_use_affect_relevance(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, OLD, f"W @Anna: {KEY}")
        write(daemon, TODAY, "W(pin) @Anna: Her spare bicycle is in the cellar, and the flower bulbs are too.")
        client = daemon.client()
        client.sync(agent="a")
        assert recall(client, explain=True)["explain"]["relevance"] < 1


NOTHING = ("lgtm", "谢谢", "Commit that and push", "ok, the third one please")
SMALL = (
    f"W @Anna: {KEY}",
    "W @Anna: She said thank you and pushed the third pot into the shade.",
    "W: 谢谢是张老师最常说的话。",
)


def uses(client: Client) -> dict[str, int]:
    return {memory["text"]: memory["access_count"] for memory in client.memories(agent="a")["memories"]}


def tiers(client: Client) -> set[str]:
    return {memory["tier"] for memory in client.memories(agent="a")["memories"]}


def test_small_talk_of_sixteen_sessions_promotes_nothing(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, TODAY, *SMALL)
        client = daemon.client()
        client.sync(agent="a")
        for number in range(16):
            for text in NOTHING:
                session = f"agent:a:chat:direct:{number}"
                client.turn(text, agent="a", session_key=session)
                client.turn("Okay.", agent="a", session_key=session, role="assistant")
        assert tiers(client) == {"working"}
        assert max(uses(client).values()) <= len(NOTHING)


def test_answer_that_uses_a_memory_counts_once_per_session(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, TODAY, f"W @Anna: {KEY}")
        client = daemon.client()
        client.sync(agent="a")
        reply = client.recall("spare key flower pot", agent="a")
        assert (reply["verdict"], uses(client)[KEY]) == ("answerable", 1)
        client.recall("zebra quantum tango", agent="a")
        assert uses(client)[KEY] == 1, "noise is shown but not touched"
        for session, expected in (("one", 2), ("two", 3)):
            key = f"agent:a:chat:direct:{session}"
            for answer in ("No idea.", "Under the third flower pot.", "As I said: under the third flower pot."):
                turn = client.turn("Where do we keep the spare key, again?", agent="a", session_key=key)
                assert KEY in str(turn["bundle"])
                client.turn(answer, role="assistant", agent="a", session_key=key)
            # the second session repeats the question, so only the answer counts as a use
            assert uses(client)[KEY] == expected


def test_superseded_memory_shown_beside_the_newer_is_not_touched(tmp_path: Path) -> None:
    with start(tmp_path) as daemon:
        write(daemon, OLD, "W @Mochi: Mochi gets 2.5 mg of the tablet at breakfast.")
        write(daemon, TODAY, "W @Mochi: Mochi gets 5 mg of the tablet at breakfast.")
        client = daemon.client()
        client.sync(agent="a")
        found = client.recall("Mochi tablet breakfast", agent="a")["results"]
        assert len(found) == 2
        assert sorted(uses(client).values()) == [0, 1]
        client.recall("Mochi tablet breakfast", agent="a", as_of=str(OLD))
        assert sorted(uses(client).values()) == [1, 1]


def test_migrated_ledger_returns_touches_of_small_talk(tmp_path: Path) -> None:
    daemon = start(tmp_path)
    with daemon:
        write(daemon, TODAY, f"W @Anna: {KEY}", "W(pin) @Anna: Her door is blue.")
        client = daemon.client()
        client.sync(agent="a")
        for _ in range(16):
            recall(client)
        eventually(lambda: touches_of_key(daemon) == 16)
        assert recall(client, touch=False)["tier"] == "core"
        assert daemon.stop() == 0
        (path,) = daemon.home.rglob("*ledger.sqlite")
        with apsw.Connection(str(path)) as db:
            # the state after a migration
            db.execute("UPDATE usage SET is_earned = 0")
        daemon.start()
        client = daemon.client()
        eventually(lambda: touches_of_key(daemon) == 3)
        assert recall(client, touch=False)["tier"] == "working"
        (change,) = client.changes(by="tiers", agent="a")["changes"]
        assert (change["path"], change["undoable"], change["state"]) == ("", True, "done")
        assert "core, 16 touches" in str(change["lines"])
        found = recall(client, touch=False)["id"]
        (undone,) = client.undo(change["id"], agent="a")["undone"]
        assert undone["undoneBy"] is not None
        assert recall(client, touch=False)["tier"] == "core"
        with pytest.raises(InvalidRequest, match="is taken back already"):
            client.undo(change["id"], agent="a")
        client.forget(found, agent="a")
        assert daemon.stop() == 0
        assert not any(found[:8].encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())
