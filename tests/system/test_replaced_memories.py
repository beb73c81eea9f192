"""Replacing a memory under the real daemon: by id, citation and words, in a new line or in place."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.wire import Exit
from tests.contract.test_memories_apart import started
from tests.daemon import RunningDaemon, write_config
from tests.sweeps import swept
from tests.system.test_reflect import daemon_with
from tests.system.test_reflect_killed import attempt, kill_during

LOG, WORLD = "memory/2026-10-18.md", "bank/world.md"
OLD = "W @NAS: Device A is a Synology NAS."
LOG_TEXT = (
    f"# Sunday\r\n\r\n## Retain\r\n- {OLD}\r\n"
    "- W(i=0.9, tags=home, pin) @Bram: The spare key hangs behind the boiler.\r\n"
)
WORLD_TEXT = (
    f"# World\n\n- {OLD}\n- The gate opens at nine\n- W(from=agent) @Gate: The gate is painted green.\n"
    "- W(from=agent, scope=agent:other) @Gate: The gate of others is painted red.\n"
)
SESSION = "agent:main:main"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("replaced")
    workspace = home / "workspace"
    for folder in ("memory", "bank"):
        (workspace / folder).mkdir(parents=True)
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as daemon:
        yield daemon


@pytest.fixture
def daemon(running: RunningDaemon) -> RunningDaemon:
    """Restore the notes before each test, without a log of today."""
    for log in (running.workspace / "memory").glob("*.md"):
        log.unlink()
    (running.workspace / LOG).write_bytes(LOG_TEXT.encode())
    (running.workspace / WORLD).write_bytes(WORLD_TEXT.encode())
    running.client().sync()
    return running


def memoryctl(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE, text: str | None = None) -> str:
    done = daemon.memoryctl(*arguments, given=text)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def note(daemon: RunningDaemon, path: str) -> str:
    return (daemon.workspace / path).read_bytes().decode()


def today(daemon: RunningDaemon) -> str:
    return note(daemon, f"memory/{datetime.now().astimezone():%Y-%m-%d}.md")


def short(bullet: str) -> str:
    line = parse_line(bullet)
    assert isinstance(line, RetainedLine)
    return short_id(line.id)


def recalled(daemon: RunningDaemon, question: str) -> list[tuple[str, bool]]:
    found = daemon.client().recall(question)["results"]
    return [(item["content"], bool(item.get("supersededBy"))) for item in found if item["is"] == "memory"]


@pytest.mark.parametrize("name", [short(OLD), f"{LOG}#L4", f"{WORLD}#L3", "Synology NAS"])
def test_new_line_ranks_first_and_the_old_one_is_marked_everywhere(daemon: RunningDaemon, name: str) -> None:
    shown = memoryctl(daemon, "replace", name, "Device A is a fnOS NAS.")
    new = short("W @NAS: Device A is a fnOS NAS.")
    assert f"{new}  retained in the place of {short(OLD)}" in shown
    assert f"- W(supersedes={short(OLD)}) @NAS: Device A is a fnOS NAS." in today(daemon)
    marked = OLD.replace("W @", f"W(superseded={new}) @")
    assert note(daemon, LOG) == LOG_TEXT.replace(OLD, marked)
    assert note(daemon, WORLD) == WORLD_TEXT.replace(OLD, marked)
    assert recalled(daemon, "what is device A")[:2] == [
        ("Device A is a fnOS NAS.", False),
        ("Device A is a Synology NAS.", True),
    ]
    run = shown.partition("undo --run ")[2].split()[0]
    memoryctl(daemon, "undo", "--run", run)
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    daemon.client().sync()
    assert recalled(daemon, "what is device A")[0] == ("Device A is a Synology NAS.", False)
    assert all("fnOS" not in content for content, _ in recalled(daemon, "what is device A"))


def test_new_line_keeps_pin_importance_and_tags(daemon: RunningDaemon) -> None:
    memoryctl(daemon, "replace", "spare key", "The spare key hangs in the shed.")
    old = short("W @Bram: The spare key hangs behind the boiler.")
    assert f"- W(i=0.9, supersedes={old}, tags=home, pin) @Bram: The spare key hangs in the shed." in today(daemon)
    new = short("W @Bram: The spare key hangs in the shed.")
    assert f"W(i=0.9, tags=home, superseded={new}) @Bram" in note(daemon, LOG)
    assert [memory["text"] for memory in daemon.client().memories(pinned=True)["memories"]] == [
        "The spare key hangs in the shed."
    ]


def test_changing_back_and_forth_on_one_day(daemon: RunningDaemon) -> None:
    """The last statement counts, wherever its line is."""
    memoryctl(daemon, "retain", "W @Tea: We drink Assam.")
    for text in ("We drink Darjeeling.", "We drink Assam.", "We drink Sencha.", "We drink Darjeeling."):
        memoryctl(daemon, "replace", "We drink", text)
        answered = recalled(daemon, "what do we drink")
        assert answered[0] == (text, False), today(daemon)
        assert all(is_older for content, is_older in answered[1:] if "drink" in content), today(daemon)
    assert "nothing was changed" in memoryctl(daemon, "replace", "We drink", "We drink Darjeeling.")


def test_naming_an_older_version_replaces_the_newest(daemon: RunningDaemon) -> None:
    memoryctl(daemon, "replace", short(OLD), "Device A is a fnOS NAS.")
    middle = short("W @NAS: Device A is a fnOS NAS.")
    shown = memoryctl(daemon, "replace", short(OLD), "Device A is a TrueNAS.")
    assert f"{short(OLD)} was superseded by {middle} before, which is what was replaced" in shown
    assert f"W(supersedes={middle}) @NAS: Device A is a TrueNAS." in today(daemon)
    again = memoryctl(daemon, "replace", short(OLD), "Device A is a TrueNAS.")
    assert today(daemon).count("TrueNAS") == 1
    assert recalled(daemon, "what is device A")[0] == ("Device A is a TrueNAS.", False), again


@pytest.mark.parametrize("command", [["replace", "--in-place"], ["memories", "edit"]])
def test_line_is_replaced_in_place(daemon: RunningDaemon, command: list[str]) -> None:
    shown = memoryctl(daemon, *command, short(OLD), "Device A is a fnOS NAS.")
    new = OLD.replace("Synology", "fnOS")
    assert note(daemon, LOG) == LOG_TEXT.replace(OLD, new)
    assert note(daemon, WORLD) == WORLD_TEXT.replace(OLD, new)
    assert not list((daemon.workspace / "memory").glob(f"{datetime.now().astimezone():%Y-%m-%d}*"))
    assert recalled(daemon, "what is device A")[0] == ("Device A is a fnOS NAS.", False)
    memoryctl(daemon, "undo", "--run", shown.partition("undo --run ")[2].split()[0])
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)


def test_editor_needs_a_terminal(daemon: RunningDaemon) -> None:
    assert "give the text" in memoryctl(daemon, "memories", "edit", short(OLD), expected=Exit.USAGE, text="")
    memoryctl(daemon, "memories", "edit", short(OLD), "-", text="Device A is gone.\n")
    assert "@NAS: Device A is gone." in note(daemon, LOG)


def test_references_follow_an_edited_line(daemon: RunningDaemon) -> None:
    memoryctl(daemon, "replace", short(OLD), "Device A is a fnOS NAS.")
    middle, edited = short("W @NAS: Device A is a fnOS NAS."), short("W @NAS: Device A is a fnOS box.")
    memoryctl(daemon, "memories", "edit", middle, "Device A is a fnOS box.")
    assert f"superseded={edited}" in note(daemon, LOG)
    assert recalled(daemon, "what is device A")[:2] == [
        ("Device A is a fnOS box.", False),
        ("Device A is a Synology NAS.", True),
    ]


def test_ambiguous_or_unknown_name_changes_nothing(daemon: RunningDaemon) -> None:
    shown = memoryctl(daemon, "replace", "gate", "The gate is blue.", expected=Exit.NOTHING_FOUND)
    assert "may mean 2 memories" in shown
    assert short("W @Gate: The gate is painted green.") in shown
    assert "red" not in shown
    for name in ("zeppelin", "1a2b3c4d", f"{WORLD}#L1", "bank/nothing.md#L3", "painted red"):
        memoryctl(daemon, "replace", name, "x", expected=Exit.NOTHING_FOUND)
    memoryctl(daemon, "replace", "one", "two", "three", expected=Exit.USAGE)
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    assert len(list((daemon.workspace / "memory").glob("*.md"))) == 1


def test_same_text_changes_nothing(daemon: RunningDaemon) -> None:
    for command in (["replace"], ["replace", "--in-place"], ["memories", "edit"]):
        assert "nothing was changed" in memoryctl(daemon, *command, short(OLD), "Device A is a Synology NAS.")
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)


def test_repeated_replacement_finds_its_line_in_an_older_note(daemon: RunningDaemon) -> None:
    path, bell = daemon.workspace / "memory/2026-11-01.md", "W @Bell: The bell rings at 8"
    path.write_text(f"## Retain\n- {bell}\n- W(supersedes={short(bell)}) @Bell: The bell rings at 9\n")
    daemon.client().sync()
    first, again = (daemon.client().replace_memory(short(bell), "The bell rings at 9") for _ in range(2))
    assert path.read_text().splitlines()[1].startswith("- W(superseded=")
    assert (again["changed"], again["memory"]["id"]) == (False, first["memory"]["id"])


@pytest.mark.parametrize("is_of_today", [False, True])
def test_repeated_replacement_succeeds_without_change(daemon: RunningDaemon, is_of_today: bool) -> None:
    day = f"{datetime.now().astimezone():%Y-%m-%d}" if is_of_today else "2026-11-01"
    zoo = "W @Zoo: The zoo opens at 8"
    (daemon.workspace / f"memory/{day}.md").write_text(f"## Retain\n- {zoo}\n")
    daemon.client().sync()
    first, again = (daemon.client().replace_memory(short(zoo), "The zoo opens at 9") for _ in range(2))
    assert (first["changed"], again["changed"]) == (True, False)
    assert first["memory"]["id"] == again["memory"]["id"]
    assert today(daemon).count("The zoo opens at 9") == 1


def test_of_simultaneous_replacements_by_two_agents_the_last_is_current(tmp_path: Path) -> None:
    zoo = "W @Zoo: The zoo opens at 8"
    with started(tmp_path) as daemon:
        (daemon.workspace / "memory/2026-11-01.md").write_text(f"## Retain\n- {zoo}\n")
        daemon.client().sync()
        with ThreadPoolExecutor(6) as threads:
            replies = threads.map(
                lambda at: daemon.client().replace_memory(short(zoo), f"The zoo opens at {at}", agent="ab"[at % 2]),
                range(9, 15),
            )
            assert all(reply["changed"] for reply in replies)
        daemon.client().sync()
        memories = [memory for memory in daemon.client().memories(agent="a")["memories"] if "zoo" in memory["text"]]
        assert len(memories) == 7
        assert len([memory for memory in memories if not memory["superseded_by"]]) == 1
        assert daemon.client().replace_memory(short(zoo), "The zoo opens at 20", agent="b")["changed"]


def test_agent_replaces_only_words_of_agents(daemon: RunningDaemon) -> None:
    client = daemon.client()
    green = short("W @Gate: The gate is painted green.")
    for caller in ({"session_key": SESSION}, {"by_agent": True}):
        with pytest.raises(Denied, match="the owner stated") as refused:
            client.replace_memory(short(OLD), "Device A is a toaster.", **caller)
        assert f"contradicts={short(OLD)}" in refused.value.hint
        with pytest.raises(Denied):
            client.replace_memory(short("W @Bram: The spare key hangs behind the boiler."), "It is lost.", **caller)
        with pytest.raises(NotFound):
            client.replace_memory(
                short("W(scope=agent:other) @Gate: The gate of others is painted red."), "x", **caller
            )
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    client.replace_memory(green, "The gate is painted white.", session_key=SESSION)
    assert f"- W(supersedes={green}, from=agent) @Gate: The gate is painted white." in today(daemon)
    # the owner contradicts, and counts
    client.retain("The gate is painted blue.", replaces="gate is painted white")
    assert recalled(daemon, "how is the gate painted")[0] == ("The gate is painted blue.", False)


def test_agent_line_that_supersedes_the_owners_only_disagrees(daemon: RunningDaemon) -> None:
    client = daemon.client()
    reply = client.retain(f"W(supersedes={short(OLD)}) @NAS: Device A is a toaster.", session_key=SESSION)
    assert "holds until the owner changes it" in " ".join(reply["notes"])
    assert recalled(daemon, "what is device A")[0] == ("Device A is a Synology NAS.", False)
    unknown = client.retain("W(supersedes=00000000) @NAS: Device B is a toaster.")
    assert "supersedes names 00000000" in " ".join(unknown["notes"])


def test_attributes_after_the_text_are_read_or_refused(daemon: RunningDaemon) -> None:
    client = daemon.client()
    for text in (f"W @NAS: Device A is fnOS supersedes={short(OLD)}", f"Device A is fnOS (supersedes={short(OLD)})"):
        assert "after the text" in " ".join(client.retain(text, entities=["NAS"])["notes"])
    assert today(daemon).count(f"- W(supersedes={short(OLD)}) @NAS: Device A is fnOS\n") == 1
    for text in ("W: x (i=0.9)", "W @NAS supersedes=1a2b3c4d: x", "x (supersedes=no id)", "x scope=agent:main"):
        with pytest.raises(InvalidRequest):
            client.retain(text)
    assert "i=0.9" not in today(daemon)


def test_forgotten_text_and_secrets_are_treated_as_by_retain(daemon: RunningDaemon) -> None:
    client = daemon.client()
    green = short("W @Gate: The gate is painted green.")
    client.forget("The gate opens at nine")
    with pytest.raises(Denied):
        client.replace_memory(green, "W: The gate opens at nine", session_key=SESSION)
    masked = client.replace_memory(green, "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345", session_key=SESSION)
    assert "ghp_0123456789" not in today(daemon)
    assert "masked" in " ".join(masked["notes"])


def test_retain_with_replaces_keeps_its_own_attributes(daemon: RunningDaemon) -> None:
    memoryctl(daemon, "retain", "fact(i=0.3) @NAS @Cellar: Device A is fnOS.", "--replaces", "Synology")
    assert f"- fact(i=0.3, supersedes={short(OLD)}) @NAS @Cellar: Device A is fnOS." in today(daemon)
    assert "inPlace" in str(refusal(daemon, text="x", inPlace=True))
    assert "one memory" in str(refusal(daemon, text="x", each=True, replaces="Synology"))


def refusal(daemon: RunningDaemon, **body: Any) -> Exception:
    with pytest.raises(InvalidRequest) as refused:
        daemon.client().call("POST", "/retain", body)
    return refused.value


@swept("delay", [0.0, 0.004, 0.008, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1], 1)
@pytest.mark.parametrize("is_in_place", [False, True])
def test_notes_are_whole_after_a_kill_and_the_same_command_completes(
    tmp_path: Path, delay: float, is_in_place: bool
) -> None:
    notes = {LOG: f"## Retain\n- {OLD}\n", WORLD: f"- {OLD}\n- The gate opens at nine\n"}

    def replace(client: Client) -> object:
        return client.retain("Device A is a fnOS NAS.", replaces=short(OLD), in_place=is_in_place)

    new = short("W @NAS: Device A is a fnOS NAS.")
    says = "W @NAS: Device A is a fnOS NAS." if is_in_place else OLD.replace("W ", f"W(superseded={new}) ")
    finished = {path: text.replace(OLD, says) for path, text in notes.items()}
    with daemon_with(tmp_path, notes) as daemon:
        client = daemon.client()
        client.sync()
        kill_during(daemon, threading.Thread(target=attempt, args=(replace, client)), delay)
        for path in notes:
            assert note(daemon, path) in (notes[path], finished[path])
        daemon.start()
        again = daemon.client()
        again.sync()
        assert {change["state"] for change in again.changes()["changes"]} <= {"done"}
        if is_in_place and note(daemon, WORLD) == finished[WORLD]:
            # the old memory is now only in the other note: undo before replacing again
            for change in again.changes()["changes"]:
                again.undo(change["id"])
            again.sync()
        replace(again)
        assert {path: note(daemon, path) for path in notes} == finished
        again.sync()
        assert recalled(daemon, "what is device A")[0] == ("Device A is a fnOS NAS.", False)
