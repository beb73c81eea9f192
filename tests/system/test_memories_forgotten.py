"""A memory is forgotten by the real daemon: no byte of it is left that is ours, a kill in between or not."""

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Callable, Iterator
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
from tests.system.test_sessions_forgotten import holding
from tests.waiting import eventually

CANARY = "zanzibarcanary"
LINE = f"- W @Peter: The {CANARY} is in the cellar"
LOG = "memory/2025-11-27.md"
Launch = Callable[..., RunningDaemon]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / LOG).write_text(f"# Thursday\n\nA long day.\n\n## Retain\n{LINE}\n- O @Peter: Prefers tea\n")
    (workspace / "memory/2025-11-28.md").write_text(f"## Retain\n{LINE}\n")
    page = workspace / "bank/entities/peter.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"# Peter\n\n<!-- memoryd:begin -->\n- The {CANARY} is in the cellar\n<!-- memoryd:end -->\n")
    started: list[RunningDaemon] = []

    def run(**memory: object) -> RunningDaemon:
        config = write_config(tmp_path, workspace, None, memory=memory)
        content = json.loads(config.read_text())
        content["agents"]["list"] = [{"id": "main", "sockets": [{"path": str(tmp_path / "run" / "main.sock")}]}]
        config.write_text(json.dumps(content))
        started.append(RunningDaemon(tmp_path, config, workspace))
        started[-1].start()
        started[-1].client().sync()
        return started[-1]

    yield run
    for daemon in started:
        daemon.stop()


def restarted(daemon: RunningDaemon) -> Client:
    daemon.start()
    return daemon.client()


def test_nothing_of_it_is_left_on_disk(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    client.add_turn(f"Remember: the {CANARY} is in the cellar!", "Yes.", session="s1")
    assert holding(daemon)
    plan = client.forget(CANARY, dry_run=True)
    assert [one["content"] for one in plan["memories"]] == [f"The {CANARY} is in the cellar"]
    assert (plan["lines"], plan["forgotten"]) == ([f"{LOG}#L6", "memory/2025-11-28.md#L2"][::-1], False)
    assert plan["turns"] == ["session:s1#Q1"]

    done = client.forget(plan["memories"][0]["id"][:8])

    assert (done["forgotten"], done["unfinished"], done["files"]) == (True, [], 3)
    eventually(lambda: not holding(daemon))
    assert not (daemon.workspace / "bank/entities/peter.md").exists(), "nothing of it was a person's"
    daemon.stop()
    assert holding(daemon) == []
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
    assert [path for name in names for path in holding(daemon, word=name)] == []


def test_summaries_and_ends_of_sessions_forget_it_too(launch: Launch) -> None:
    daemon = launch()
    client, key = daemon.client(), "agent:main:chat:direct:cellar"
    client.turn(f"We decided that the {CANARY} is in the cellar. The boat is green.", session_key=key)
    client.turn("/compact", session_key=key)
    for text in (f"We agreed that the {CANARY} is in the cellar.", "Which boat is green?", "Who paints the boat?"):
        client.turn(text, session_key=key)
    client.turn(role="system", event="end", session_key=key)
    notes = daemon.workspace / "memory"

    def made() -> str:
        lines = [line for path in notes.glob("2*.md") for line in path.read_text().splitlines()]
        return "\n".join(line for line in lines if "tags=session:" in line)

    eventually(lambda: made().count(CANARY) >= 2)
    client.sync()

    exported = daemon.home / "exported.jsonl"
    assert daemon.memoryctl("export", str(exported)).returncode == Exit.DONE
    stated = client.forget(f"{LOG}#L6", dry_run=True)["memories"]
    done = client.forget(stated[0]["id"])

    assert CANARY not in made()
    assert "Decided: We decided that [forgotten]." in made(), "only the words go"
    assert "Decided: We agreed that [forgotten]." in made()
    assert not any(one.startswith("memory/") for one in done["stays"])
    assert any("7 days" in one for one in done["stays"])
    before, text = made(), exported.read_text()
    taken = json.loads(daemon.memoryctl("import", str(exported), "--json").stdout)
    assert (taken["added"], taken["refused"]) == (0, 1), "an export made before tells it to nobody"
    assert made() == before
    exported.write_text(text.replace("The boat is green", "The boat is blue"))
    assert json.loads(daemon.memoryctl("import", str(exported), "--json").stdout)["added"] == 1
    assert "[forgotten]. Said: The boat is blue" in made()
    assert CANARY not in made()


def test_f158_name_and_a_held_answer_in_nearly_the_same_words_go_with_the_only_memory(launch: Launch) -> None:
    """No file of ours has the name of an entity whose only memory is forgotten, nor an answer that says nearly it."""
    daemon = launch()
    client, name = daemon.client(), "zarathu"
    (daemon.workspace / "memory/2025-11-29.md").write_text(f"## Retain\n- W @{name}: {name} keeps goats in the yard.\n")
    client.add_turn("Who is there?", f"{name} keeps goats in his old yard.", session="s1", significance=0.0)
    client.add_turn("And what else?", "Ann keeps bees in the yard.", session="s1", significance=0.0)
    client.sync()
    client.reflect("2025-01-01")

    def held() -> list[str]:
        # at its level of tests the log names each file that is read
        return [path for path in holding(daemon, word=name) if path != str(daemon.log)]

    assert any("ledger" in one for one in held())

    done = client.forget(f"{name} keeps goats")

    assert (done["forgotten"], done["purgedAnswers"]) == (True, 1)
    assert any("in other words" in one for one in done["stays"])
    eventually(lambda: not held())
    assert name not in str(client.changes(limit=100))


def test_what_still_says_it_is_named(launch: Launch) -> None:
    daemon = launch()
    (daemon.workspace / "MEMORY.md").write_text(f"# Memory\n\nNote: the {CANARY} is in the cellar, says Peter.\n")

    done = daemon.client().forget(CANARY)

    assert any(one.startswith("MEMORY.md#L3") for one in done["stays"])
    assert "says Peter" in (daemon.workspace / "MEMORY.md").read_text()


def test_lines_without_a_memory_are_forgotten_by_their_citation(launch: Launch) -> None:
    daemon = launch()

    done = daemon.client().forget(f"{LOG}#L3")

    assert (done["memories"], done["lines"], done["forgotten"]) == ([], [f"{LOG}#L3"], True)
    assert "A long day" not in (daemon.workspace / LOG).read_text()


def test_other_changes_of_the_same_log_can_still_be_undone(launch: Launch) -> None:
    daemon = launch()
    client, word = daemon.client(), "quetzalcanary"
    stated = [client.retain(f"W @Peter: {text}") for text in ("The hens lay", f"{word} eggs", "Bees swarm", "Figs")]
    each = client.retain(f"- W: one of two\n- W: a {word} is the other", each=True)
    log = daemon.workspace / each["memories"][0]["citation"].split("#")[0]
    client.pin_memory(stated[2]["id"])
    client.delete_memory(stated[3]["id"])

    for gone in (stated[1]["id"], each["memories"][1]["id"]):
        client.forget(gone)

    eventually(lambda: not holding(daemon, word=word))
    assert log.read_text() == "## Retain\n- W @Peter: The hens lay\n- W(pin) @Peter: Bees swarm\n- W: one of two\n"
    changes = [one for one in client.changes()["changes"] if one["by"] != "forget"]
    assert [one["undoable"] for one in changes] == [True, True, True, True, True, False, True]
    # by a hash of the whole file who has the rest of it could try what was forgotten
    assert {one["hashAfter"] for one in changes} == {""}
    assert [one["standing"] for one in client.changes(by="forget")["changes"]] == [True, None]
    left = []
    for one in changes:
        if one["undoable"]:
            client.undo(one["id"])
            left.append(log.read_text() if log.exists() else "")
    assert left == [
        "## Retain\n- W @Peter: The hens lay\n- W(pin) @Peter: Bees swarm\n- W @Peter: Figs\n- W: one of two\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n- W @Peter: Figs\n- W: one of two\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n- W @Peter: Figs\n",
        "## Retain\n- W @Peter: The hens lay\n- W @Peter: Bees swarm\n",
        "## Retain\n- W @Peter: The hens lay\n",
        "",
    ]


def test_it_is_undone_within_a_day_where_that_was_asked_for(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    before = (daemon.workspace / LOG).read_bytes()

    done = client.forget(CANARY, undoable=True)

    assert len(done["changes"]) == 2
    assert not client.search(CANARY)["results"]
    listed = client.changes(by="forget")["changes"]
    assert [(one["lines"], one["undoable"]) for one in listed if one["undoable"]] == [([], True)] * 2
    assert CANARY not in str(client.changes()) + str(client.undo(done["changes"][0], dry_run=True))
    for change in done["changes"]:
        client.undo(change)
    assert before == (daemon.workspace / LOG).read_bytes()
    assert [hit["path"] for hit in client.search(CANARY)["results"]]


def test_what_cannot_be_taken_back_stays_forgotten(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    client = daemon.client()
    change = client.forget(CANARY, undoable=True)["changes"][0]
    for name in (LOG, "memory/2025-11-28.md"):
        (daemon.workspace / name).write_text("- W: all of it was written anew\n")

    with pytest.raises(InvalidRequest):
        client.undo(change)
    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.retain(f"W: The {CANARY} is in the cellar", session_key="agent:main:main")


def test_what_is_forgotten_an_agent_does_not_state_again(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    client = daemon.client()
    client.forget(CANARY)

    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.retain(f"W: The {CANARY} is in  the cellar", session_key="agent:main:main")
    said = client.retain(f"W @Peter: The {CANARY} is in the cellar")
    assert (said["created"], any("forgotten" in note for note in said["notes"])) == (True, True)
    with Client(tmp_path / "run" / "main.sock") as agent:
        assert agent.retain(f"W: The {CANARY} is in the cellar", session_key="agent:main:main")["created"]


@swept("pause", [0.03, 0.1, 0.0, 0.01, 0.2, 0.05], 2)
def test_a_kill_in_between_is_finished_by_the_next_start(launch: Launch, pause: float) -> None:
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
        # it had not begun, or the start ends it at this moment
        with contextlib.suppress(NotFound):
            client.forget(CANARY)
    eventually(lambda: not holding(daemon))


def test_a_kill_right_behind_the_note_leaves_no_hash_of_what_was_stated(launch: Launch) -> None:
    daemon = launch()
    said = daemon.client().retain(f"W @Peter: The {CANARY} is in the cellar")
    ledger = Path(daemon.agent()["ledger"]["path"])
    daemon.stop()
    assert _stated(ledger) == 1
    asyncio.run(_begin(ledger, daemon.workspace, said["memories"][0]["id"]))

    restarted(daemon)
    eventually(lambda: not holding(daemon))
    daemon.stop()
    assert _stated(ledger) == 0


def _stated(ledger: Path) -> int:
    connection = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT count(*) FROM stated_lines").get)
    finally:
        connection.close()


async def _begin(path: Path, workspace: Path, memory: str) -> None:
    """Note that a memory is being forgotten, and do no more, as one that is killed does."""
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
    """Send a request, and go away after a pause, whether it was answered or not."""
    request.extensions["timeout"] = {"connect": 5.0, "write": 5.0, "read": max(pause, 0.001), "pool": 5.0}
    with contextlib.suppress(httpx.ReadTimeout):
        http.send(request)


def test_nobody_but_the_owner_forgets(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()

    with Client(tmp_path / "run" / "main.sock") as agent, pytest.raises(Denied):
        agent.forget(CANARY)
    assert LINE in (daemon.workspace / LOG).read_text()


def test_nothing_is_forgotten_where_nothing_may_be_written(launch: Launch) -> None:
    daemon = launch(readOnly=True)
    before = {path: path.read_bytes() for path in daemon.workspace.rglob("*") if path.is_file()}

    with pytest.raises(Denied):
        daemon.client().forget(CANARY)
    assert {path: path.read_bytes() for path in daemon.workspace.rglob("*") if path.is_file()} == before


def test_what_cannot_be_noted_in_the_workspace_is_told_by_the_status(launch: Launch, tmp_path: Path) -> None:
    daemon = launch()
    (tmp_path / "elsewhere").mkdir()
    (daemon.workspace / ".memory").symlink_to(tmp_path / "elsewhere")

    assert daemon.client().forget(CANARY)["forgotten"]

    degraded = daemon.agent()["degraded"]
    assert [one["part"] for one in degraded if ".memory" in one["reason"]] == ["memories"]


def test_what_was_deleted_before_is_forgotten(launch: Launch) -> None:
    daemon = launch()
    client = daemon.client()
    for name in ("Bob keeps betaword", "Eve keeps gammaword"):
        added = client.retain(f"W @{name.split()[0]}: {name}.")
        client.delete_memory(added["id"])

        done = client.forget(added["id"] if "beta" in name else f"{name}.")

        assert (done["forgotten"], done["lines"], [one["id"] for one in done["memories"]]) == (True, [], [added["id"]])
        assert "deleted before" in " ".join(done["stays"])
        with pytest.raises(NotFound):
            client.forget(added["id"])
    daemon.stop()
    kept = b"".join(path.read_bytes() for path in daemon.home.rglob("*.sqlite*"))
    assert CANARY.encode() in kept
    assert b"betaword" not in kept
    assert b"gammaword" not in kept


def test_what_is_not_there_is_told(launch: Launch) -> None:
    client = launch().client()

    for name in ("zeppelin", "ffffffff", f"{LOG}#L900"):
        with pytest.raises(NotFound):
            client.forget(name)


def test_a_citation_is_verified_later(launch: Launch) -> None:
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


def test_the_commands_ask_first_and_print_a_receipt(launch: Launch) -> None:
    daemon = launch()
    asked = daemon.memoryctl("forget", CANARY)
    assert (asked.returncode, "--yes" in asked.stderr) == (Exit.USAGE, True)
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
def test_short_long_and_odd_texts_leave_nothing(launch: Launch, said: str, traces: list[str]) -> None:
    daemon = launch()
    client = daemon.client()
    kept = client.retain(said)
    client.retain("W @Zed: something else")
    client.reflect(since="2025-11-01")
    assert any(trace in page.read_text() for page in (daemon.workspace / "bank").rglob("*.md") for trace in traces)

    done = client.forget(kept["id"])

    assert (done["forgotten"], done["unfinished"]) == (True, [])
    daemon.stop()
    assert [holding(daemon, word=trace) for trace in traces] == [[]] * len(traces)


def test_line_that_is_forgotten_goes_from_what_was_said_of_it(launch: Launch) -> None:
    client, sold = launch().client(), "finally sold the nikon, shooting on a Fuji X-T5"
    client.retain("W @Camera: My camera is a Nikon Z6.")
    client.sync()
    client.turn(sold, session_key="agent:main:chat:direct:camera")

    def kept() -> list[str]:
        return [one["text"] for one in client.memories()["memories"] if sold in one["text"]]

    eventually(kept)
    assert kept() == [f"{sold} (said of: My camera is a Nikon Z6.)"]
    done = client.forget("My camera is a Nikon Z6.")

    assert done["forgotten"]
    assert not any(one.startswith("memory/") for one in done["stays"])
    client.sync()
    assert kept() == [f"{sold} (said of: [forgotten])"]
    assert not any("Nikon Z6" in one["text"] for one in client.memories()["memories"])
