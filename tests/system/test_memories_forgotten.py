"""A memory is forgotten by the real daemon: no byte of it remains in our files, also after a kill."""

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import httpx
import pytest

from memoryd.client import Client
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.memory.forgetting.tombstones import KEY_SUFFIX, TombstoneStore
from memoryd.store.ledger.forgotten import TombstoneRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.sweeps import swept
from tests.system.test_sessions_forgotten import files_with
from tests.waiting import eventually

CANARY = "zanzibarcanary"
LINE = f"- W @Peter: The {CANARY} is in the cellar"
LOG = "memory/2025-11-27.md"
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path, start: Callable[[RunningDaemon], RunningDaemon]) -> Launch:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / LOG).write_text(f"# Thursday\n\nA long day.\n\n## Retain\n{LINE}\n- O @Peter: Prefers tea\n")
    (workspace / "memory/2025-11-28.md").write_text(f"## Retain\n{LINE}\n")
    page = workspace / "bank/entities/peter.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"# Peter\n\n<!-- memoryd:begin -->\n- The {CANARY} is in the cellar\n<!-- memoryd:end -->\n")

    def run(**memory: object) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, memory=memory)
        content = json.loads(config.read_text())
        content["agents"]["list"] = [{"id": "main", "sockets": [{"path": str(tmp_path / "run" / "main.sock")}]}]
        config.write_text(json.dumps(content))
        daemon = start(RunningDaemon(tmp_path, config, workspace))
        daemon.client().sync()
        return daemon

    return run


def restarted(daemon: RunningDaemon) -> Client:
    daemon.start()
    return daemon.client()


def test_forgotten_memory_leaves_no_byte_on_disk(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    client.add_turn(f"Remember: the {CANARY} is in the cellar!", "Yes.", session="s1")
    assert files_with(daemon)
    plan = client.forget(CANARY, dry_run=True)
    assert [memory["content"] for memory in plan["memories"]] == [f"The {CANARY} is in the cellar"]
    assert (plan["lines"], plan["forgotten"]) == ([f"{LOG}#L6", "memory/2025-11-28.md#L2"][::-1], False)
    assert plan["turns"] == ["session:s1#Q1"]

    done = client.forget(plan["memories"][0]["id"][:8])

    assert (done["forgotten"], done["unfinished"], done["files"]) == (True, [], 3)
    eventually(lambda: not files_with(daemon))
    assert not (daemon.workspace / "bank/entities/peter.md").exists(), "all of it was generated"
    daemon.stop()
    assert files_with(daemon) == []
    assert (daemon.workspace / LOG).read_text() == "# Thursday\n\nA long day.\n\n## Retain\n- O @Peter: Prefers tea\n"
    assert restarted(daemon).qa_session("s1")["sequence"][0]["q"] == "Remember: [forgotten]!"


def test_what_is_stated_beside_it_while_it_is_forgotten_keeps_none_of_its_words(launch: Launch) -> None:
    """A change is stored with the lines around it: those that were just being forgotten are not left there."""
    daemon = launch()
    names = [f"{CANARY}{number}" for number in range(4)]
    is_over = threading.Event()

    def state(number: int) -> None:
        client = daemon.client()
        for count in itertools.count():
            client.retain(f"W @Peter: The box {number}-{count} is in the attic")
            if is_over.is_set():
                return

    with ThreadPoolExecutor(2) as others:
        stating = [others.submit(state, number) for number in range(2)]
        try:
            for name in names:
                # the newest line of the log: what is stated next stands right below it
                daemon.client().retain(f"W @Peter: The {name} is in the shed")
                assert daemon.client().forget(name)["forgotten"]
        finally:
            is_over.set()
        for one in stating:
            one.result()
    daemon.stop()
    assert [path for name in names for path in files_with(daemon, word=name)] == []


def test_session_summaries_forget_it_too(launch: Launch) -> None:
    daemon = launch()
    client, key = daemon.client(), "agent:main:chat:direct:cellar"
    client.turn(f"We decided that the {CANARY} is in the cellar. The boat is green.", session_key=key)
    client.turn("/compact", session_key=key)
    for text in (f"We agreed that the {CANARY} is in the cellar.", "Which boat is green?", "Who paints the boat?"):
        client.turn(text, session_key=key)
    client.turn(role="system", event="end", session_key=key)
    notes = daemon.workspace / "memory"

    def summaries() -> str:
        lines = [line for path in notes.glob("2*.md") for line in path.read_text().splitlines()]
        return "\n".join(line for line in lines if "tags=session:" in line)

    eventually(lambda: summaries().count(CANARY) >= 2)
    client.sync()

    exported = daemon.home / "exported.jsonl"
    assert daemon.memoryctl("export", str(exported)).returncode == Exit.DONE
    stated = client.forget(f"{LOG}#L6", dry_run=True)["memories"]
    done = client.forget(stated[0]["id"])

    assert CANARY not in summaries()
    assert "Decided: We decided that [forgotten]." in summaries(), "only the words are removed"
    assert "Decided: We agreed that [forgotten]." in summaries()
    assert not any(note.startswith("memory/") for note in done["stays"])
    assert any("7 days" in note for note in done["stays"])
    before, text = summaries(), exported.read_text()
    taken = json.loads(daemon.memoryctl("import", str(exported), "--json").stdout)
    assert (taken["added"], taken["refused"]) == (0, 1), "an earlier export does not bring it back"
    assert summaries() == before
    exported.write_text(text.replace("The boat is green", "The boat is blue"))
    assert json.loads(daemon.memoryctl("import", str(exported), "--json").stdout)["added"] == 1
    assert "[forgotten]. Said: The boat is blue" in summaries()
    assert CANARY not in summaries()


def test_f158_entity_name_and_similar_held_answer_are_forgotten_too(launch: Launch) -> None:
    """After an entity's only memory is forgotten, no file has its name, nor a held answer that says nearly the same."""
    daemon = launch()
    client, name = daemon.client(), "zarathu"
    (daemon.workspace / "memory/2025-11-29.md").write_text(f"## Retain\n- W @{name}: {name} keeps goats in the yard.\n")
    client.add_turn("Who is there?", f"{name} keeps goats in his old yard.", session="s1", significance=0.0)
    client.add_turn("And what else?", "Ann keeps bees in the yard.", session="s1", significance=0.0)
    client.sync()
    client.reflect("2025-01-01")

    def held() -> list[str]:
        # at debug level the log names each file that is read
        return [path for path in files_with(daemon, word=name) if path != str(daemon.log)]

    assert any("ledger" in path for path in held())

    done = client.forget(f"{name} keeps goats")

    assert (done["forgotten"], done["purgedAnswers"]) == (True, 1)
    assert any("in other words" in note for note in done["stays"])
    eventually(lambda: not held())
    assert name not in str(client.changes(limit=100))


def test_remaining_mentions_are_reported(launch: Launch) -> None:
    daemon = launch()
    (daemon.workspace / "MEMORY.md").write_text(f"# Memory\n\nNote: the {CANARY} is in the cellar, says Peter.\n")

    done = daemon.client().forget(CANARY)

    assert any(note.startswith("MEMORY.md#L3") for note in done["stays"])
    assert "says Peter" in (daemon.workspace / "MEMORY.md").read_text()


def test_lines_without_a_memory_are_forgotten_by_citation(launch: Launch) -> None:
    daemon = launch()

    done = daemon.client().forget(f"{LOG}#L3")

    assert (done["memories"], done["lines"], done["forgotten"]) == ([], [f"{LOG}#L3"], True)
    assert "A long day" not in (daemon.workspace / LOG).read_text()


def test_other_changes_of_the_same_log_stay_undoable(launch: Launch) -> None:
    daemon = launch()
    client, word = daemon.client(), "quetzalcanary"
    stated = [client.retain(f"W @Peter: {text}") for text in ("The hens lay", f"{word} eggs", "Bees swarm", "Figs")]
    each = client.retain(f"- W: one of two\n- W: a {word} is the other", each=True)
    log = daemon.workspace / each["memories"][0]["citation"].split("#")[0]
    client.pin_memory(stated[2]["id"])
    client.delete_memory(stated[3]["id"])

    for gone in (stated[1]["id"], each["memories"][1]["id"]):
        client.forget(gone)

    eventually(lambda: not files_with(daemon, word=word))
    assert log.read_text() == "## Retain\n- W @Peter: The hens lay\n- W(pin) @Peter: Bees swarm\n- W: one of two\n"
    changes = [row for row in client.changes()["changes"] if row["by"] != "forget"]
    assert [row["undoable"] for row in changes] == [True, True, True, True, True, False, True]
    # a hash of the whole file would let someone with the rest of it guess the forgotten text
    assert {row["hashAfter"] for row in changes} == {""}
    assert [row["standing"] for row in client.changes(by="forget")["changes"]] == [True, None]
    left = []
    for change in changes:
        if change["undoable"]:
            client.undo(change["id"])
            left.append(log.read_text() if log.exists() else "")
    assert left == [
        "## Retain\n- W @Peter: The hens lay\n- W(pin) @Peter: Bees swarm\n- W @Peter: Figs\n- W: one of two\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n- W @Peter: Figs\n- W: one of two\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n- W @Peter: Figs\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n",
        "## Retain\n- W @Peter: The hens lay\n",
        "",
    ]


def test_forgetting_is_undoable_for_a_day_on_request(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    before = (daemon.workspace / LOG).read_bytes()

    done = client.forget(CANARY, undoable=True)

    assert len(done["changes"]) == 2
    assert not client.search(CANARY)["results"]
    listed = client.changes(by="forget")["changes"]
    assert [(change["lines"], change["undoable"]) for change in listed if change["undoable"]] == [([], True)] * 2
    assert CANARY not in str(client.changes()) + str(client.undo(done["changes"][0], dry_run=True))
    for change in done["changes"]:
        client.undo(change)
    assert before == (daemon.workspace / LOG).read_bytes()
    assert [hit["path"] for hit in client.search(CANARY)["results"]]


def test_forgetting_that_cannot_be_undone_stays(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    client = daemon.client()
    change = client.forget(CANARY, undoable=True)["changes"][0]
    for name in (LOG, "memory/2025-11-28.md"):
        (daemon.workspace / name).write_text("- W: all of it was written anew\n")

    with pytest.raises(InvalidRequest):
        client.undo(change)
    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.retain(f"W: The {CANARY} is in the cellar", session_key="agent:main:main")


def test_agent_cannot_state_forgotten_text_again_until_the_owner_does(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    client = daemon.client()
    client.forget(CANARY)

    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.retain(f"W: The {CANARY} is in  the cellar", session_key="agent:main:main")
    reply = client.retain(f"W @Peter: The {CANARY} is in the cellar")
    assert (reply["created"], any("forgotten" in note for note in reply["notes"])) == (True, True)
    with Client(tmp_path / "run" / "main.sock") as agent:
        assert agent.retain(f"W: The {CANARY} is in the cellar", session_key="agent:main:main")["created"]


@swept("pause", [0.03, 0.1, 0.0, 0.01, 0.2, 0.05], 2)
def test_interrupted_forgetting_is_completed_at_the_next_start(launch: Launch, pause: float) -> None:
    daemon = launch()
    body = {"target": CANARY}
    before = {name: (daemon.workspace / name).read_text() for name in (LOG, "memory/2025-11-28.md")}
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(daemon.socket), verify=False)) as http:
        request = http.build_request("POST", "http://memoryd/v1/forget", json=body)
        _leave(http, request, pause)
    daemon.kill()
    for name, text in before.items():
        assert (daemon.workspace / name).read_text() in (text, text.replace(f"{LINE}\n", ""))

    client = restarted(daemon)
    if _is_untouched(daemon):
        # it had not started, or is completed at this moment
        with contextlib.suppress(NotFound):
            client.forget(CANARY)
    eventually(lambda: not files_with(daemon))


def test_kill_after_the_note_leaves_no_hash_of_the_line(launch: Launch) -> None:
    daemon = launch()
    reply = daemon.client().retain(f"W @Peter: The {CANARY} is in the cellar")
    ledger = Path(daemon.agent()["ledger"]["path"])
    daemon.stop()
    assert _stated(ledger) == 1
    asyncio.run(_begin(ledger, daemon.workspace, reply["memories"][0]["id"]))

    restarted(daemon)
    eventually(lambda: not files_with(daemon))
    daemon.stop()
    assert _stated(ledger) == 0


def _stated(ledger: Path) -> int:
    connection = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT count(*) FROM stated_lines").get)
    finally:
        connection.close()


async def _begin(path: Path, workspace: Path, memory: str) -> None:
    """Record that a memory is being forgotten, and stop there, as a killed process does."""
    with ThreadPoolExecutor(1) as executor:
        ledger = Ledger(path, executor)
        rows = TombstoneRows(ledger, str(workspace.resolve()))
        key = path.with_name(f"{path.name}{KEY_SUFFIX}")
        store = TombstoneStore(rows=rows, workspace=workspace, key_file=key)
        await store.begin([(memory, LINE.partition(": ")[2])])
        await ledger.close()


def _is_untouched(daemon: RunningDaemon) -> bool:
    return all(LINE in (daemon.workspace / name).read_text() for name in (LOG, "memory/2025-11-28.md"))


def _leave(http: httpx.Client, request: httpx.Request, pause: float) -> None:
    """Send a request, and disconnect after a pause, answered or not."""
    request.extensions["timeout"] = {"connect": 5.0, "write": 5.0, "read": max(pause, 0.001), "pool": 5.0}
    with contextlib.suppress(httpx.ReadTimeout):
        http.send(request)


def test_agent_cannot_forget(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()

    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.forget(CANARY)
    assert LINE in (daemon.workspace / LOG).read_text()


def test_unwritable_tombstones_in_the_workspace_are_reported(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    (tmp_path / "elsewhere").mkdir()
    (daemon.workspace / ".memory").symlink_to(tmp_path / "elsewhere")

    assert daemon.client().forget(CANARY)["forgotten"]

    degraded = daemon.agent()["degraded"]
    assert [part["part"] for part in degraded if ".memory" in part["reason"]] == ["memories"]


def test_memory_deleted_before_is_forgotten(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    for name in ("Bob keeps betaword", "Eve keeps gammaword"):
        added = client.retain(f"W @{name.split()[0]}: {name}.")
        client.delete_memory(added["id"])

        done = client.forget(added["id"] if "beta" in name else f"{name}.")

        assert (done["forgotten"], done["lines"], [memory["id"] for memory in done["memories"]]) == (
            True,
            [],
            [added["id"]],
        )
        assert "deleted before" in " ".join(done["stays"])
        with pytest.raises(NotFound):
            client.forget(added["id"])
    daemon.stop()
    kept = b"".join(path.read_bytes() for path in daemon.home.rglob("*.sqlite*"))
    assert CANARY.encode() in kept
    assert b"betaword" not in kept
    assert b"gammaword" not in kept


def test_unknown_target_is_reported(launch: Launch) -> None:
    client = launch().client()

    for name in ("zeppelin", "ffffffff", f"{LOG}#L900"):
        with pytest.raises(NotFound):
            client.forget(name)


def test_citation_is_verified(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    (memory,) = client.forget("tea", dry_run=True)["memories"]
    marked = f"{LOG}#L7@{memory['id'][:8]}"
    assert client.verify(marked)["state"] == "verified"
    log = daemon.workspace / LOG

    log.write_text("One more line.\n" + log.read_text())
    moved = client.verify(marked)
    assert (moved["state"], moved["now"], moved["content"]) == ("moved", f"{LOG}#L8@{memory['id'][:8]}", "Prefers tea")

    log.write_text(log.read_text().replace("Prefers tea", "Prefers coffee"))
    assert client.verify(marked)["state"] == "edited"
    log.unlink()
    client.sync()
    eventually(lambda: client.verify(marked)["state"] == "gone")
    with pytest.raises(InvalidRequest):
        client.verify("memory/2025-11-27.md")
    for cited, opens in (("session:boiler#Q1", "sessions show"), ("qmd/all/other/x.md#L1", "memoryctl get")):
        with pytest.raises(InvalidRequest, match="of no note") as refused:
            client.verify(cited)
        assert opens in refused.value.hint


def test_command_asks_first_and_prints_a_receipt(launch: Launch) -> None:
    daemon = launch()
    refused = daemon.memoryctl("forget", CANARY)
    assert (refused.returncode, "--yes" in refused.stderr) == (Exit.USAGE, True)
    shown = daemon.memoryctl("forget", "--dry-run", CANARY)
    assert "would be forgotten" in shown.stdout
    done = daemon.memoryctl("forget", "--yes", CANARY)
    assert "1 memory forgotten" in done.stdout
    assert "out of reach" in done.stdout
    assert daemon.memoryctl("verify", f"{LOG}#L6").returncode == Exit.DONE
    assert daemon.memoryctl("verify", f"{LOG}#L900").returncode == Exit.NOTHING_FOUND


@swept(
    ("said", "traces"),
    [
        ("W @Iso: 7391584620", ["7391584620"]),
        ("W @Multi: gammaone\n  gammatwo\n  gammathree\n  gammafour", ["gammatwo", "gammafour"]),
        (f"W @Long: {'a long tale ' * 60}gammaend", ["a long tale"]),
        ("W @Mark: an <!-- gammacomment --> in it", ["gammacomment"]),
    ],
    2,
)
def test_unusual_texts_leave_nothing(launch: Launch, said: str, traces: list[str]) -> None:
    daemon = launch()
    client = daemon.client()
    kept = client.retain(said)
    client.retain("W @Zed: something else")
    client.reflect(since="2025-11-01")
    assert any(trace in page.read_text() for page in (daemon.workspace / "bank").rglob("*.md") for trace in traces)

    done = client.forget(kept["id"])

    assert (done["forgotten"], done["unfinished"]) == (True, [])
    daemon.stop()
    assert [files_with(daemon, word=trace) for trace in traces] == [[]] * len(traces)


def test_forgotten_line_is_removed_from_corrections_of_it(launch: Launch) -> None:
    client, sold = launch().client(), "finally sold the nikon, shooting on a Fuji X-T5"
    client.retain("W @Camera: My camera is a Nikon Z6.")
    client.sync()
    client.turn(sold, session_key="agent:main:chat:direct:camera")

    def kept() -> list[str]:
        return [memory["text"] for memory in client.memories()["memories"] if sold in memory["text"]]

    eventually(kept)
    assert kept() == [f"{sold} (said of: My camera is a Nikon Z6.)"]
    done = client.forget("My camera is a Nikon Z6.")

    assert done["forgotten"]
    assert not any(note.startswith("memory/") for note in done["stays"])
    client.sync()
    assert kept() == [f"{sold} (said of: [forgotten])"]
    assert not any("Nikon Z6" in memory["text"] for memory in client.memories()["memories"])
