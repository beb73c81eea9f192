"""Replacing a memory under the real daemon: by id, citation and words, beside and in place, undone, and refused."""

import json
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
from tests.system.test_reflect import begun
from tests.system.test_reflect_killed import killed_while, tried

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
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("replaced")
    workspace = home / "workspace"
    for folder in ("memory", "bank"):
        (workspace / folder).mkdir(parents=True)
    with RunningDaemon(home, write_config(home, workspace, None), workspace) as running:
        yield running


@pytest.fixture
def daemon(remembering: RunningDaemon) -> RunningDaemon:
    """Each test finds the notes as they are written above, and no log of today."""
    for log in (remembering.workspace / "memory").glob("*.md"):
        log.unlink()
    (remembering.workspace / LOG).write_bytes(LOG_TEXT.encode())
    (remembering.workspace / WORLD).write_bytes(WORLD_TEXT.encode())
    remembering.client().sync()
    return remembering


def typed(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE, text: str | None = None) -> str:
    done = daemon.memoryctl(*arguments, given=text)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def decoded(daemon: RunningDaemon, *arguments: str) -> Any:
    return json.loads(typed(daemon, *arguments, "--json"))


def note(daemon: RunningDaemon, path: str) -> str:
    return (daemon.workspace / path).read_bytes().decode()


def today(daemon: RunningDaemon) -> str:
    return note(daemon, f"memory/{datetime.now().astimezone():%Y-%m-%d}.md")


def short(bullet: str) -> str:
    line = parse_line(bullet)
    assert isinstance(line, RetainedLine)
    return short_id(line.id)


def told(daemon: RunningDaemon, question: str) -> list[tuple[str, bool]]:
    found = daemon.client().recall(question)["results"]
    return [(one["content"], bool(one.get("supersededBy"))) for one in found if one["is"] == "memory"]


@pytest.mark.parametrize("name", [short(OLD), f"{LOG}#L4", f"{WORLD}#L3", "Synology NAS"])
def test_new_line_is_told_first_and_the_older_one_marked_in_all_its_notes(daemon: RunningDaemon, name: str) -> None:
    shown = typed(daemon, "replace", name, "Device A is a fnOS NAS.")
    new = short("W @NAS: Device A is a fnOS NAS.")
    assert f"{new}  retained in the place of {short(OLD)}" in shown
    assert f"- W(supersedes={short(OLD)}) @NAS: Device A is a fnOS NAS." in today(daemon)
    marked = OLD.replace("W @", f"W(superseded={new}) @")
    assert note(daemon, LOG) == LOG_TEXT.replace(OLD, marked)
    assert note(daemon, WORLD) == WORLD_TEXT.replace(OLD, marked)
    assert told(daemon, "what is device A")[:2] == [
        ("Device A is a fnOS NAS.", False),
        ("Device A is a Synology NAS.", True),
    ]
    run = shown.partition("undo --run ")[2].split()[0]
    typed(daemon, "undo", "--run", run)
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    daemon.client().sync()
    assert told(daemon, "what is device A")[0] == ("Device A is a Synology NAS.", False)
    assert all("fnOS" not in content for content, _ in told(daemon, "what is device A"))


def test_pin_weight_and_tags_go_over_to_the_new_line(daemon: RunningDaemon) -> None:
    typed(daemon, "replace", "spare key", "The spare key hangs in the shed.")
    old = short("W @Bram: The spare key hangs behind the boiler.")
    assert f"- W(i=0.9, supersedes={old}, tags=home, pin) @Bram: The spare key hangs in the shed." in today(daemon)
    new = short("W @Bram: The spare key hangs in the shed.")
    assert f"W(i=0.9, tags=home, superseded={new}) @Bram" in note(daemon, LOG)
    assert [one["text"] for one in daemon.client().memories(pinned=True)["memories"]] == [
        "The spare key hangs in the shed."
    ]


def test_a_change_and_the_way_back_on_one_day(daemon: RunningDaemon) -> None:
    """Whoever changes their mind twice is told what they said last, wherever that stands."""
    typed(daemon, "retain", "W @Tea: We drink Assam.")
    for text in ("We drink Darjeeling.", "We drink Assam.", "We drink Sencha.", "We drink Darjeeling."):
        typed(daemon, "replace", "We drink", text)
        answered = told(daemon, "what do we drink")
        assert answered[0] == (text, False), today(daemon)
        assert all(is_older for content, is_older in answered[1:] if "drink" in content), today(daemon)
    assert "nothing was changed" in typed(daemon, "replace", "We drink", "We drink Darjeeling.")


def test_older_version_that_is_named_leads_to_the_newest_one(daemon: RunningDaemon) -> None:
    typed(daemon, "replace", short(OLD), "Device A is a fnOS NAS.")
    middle = short("W @NAS: Device A is a fnOS NAS.")
    shown = typed(daemon, "replace", short(OLD), "Device A is a TrueNAS.")
    assert f"{short(OLD)} was superseded by {middle} before, which is what was replaced" in shown
    assert f"W(supersedes={middle}) @NAS: Device A is a TrueNAS." in today(daemon)
    again = typed(daemon, "replace", short(OLD), "Device A is a TrueNAS.")
    assert today(daemon).count("TrueNAS") == 1
    assert told(daemon, "what is device A")[0] == ("Device A is a TrueNAS.", False), again


@pytest.mark.parametrize("command", [["replace", "--in-place"], ["memories", "edit"]])
def test_in_place_the_line_says_something_else_where_it_stands(daemon: RunningDaemon, command: list[str]) -> None:
    shown = typed(daemon, *command, short(OLD), "Device A is a fnOS NAS.")
    new = OLD.replace("Synology", "fnOS")
    assert note(daemon, LOG) == LOG_TEXT.replace(OLD, new)
    assert note(daemon, WORLD) == WORLD_TEXT.replace(OLD, new)
    assert not list((daemon.workspace / "memory").glob(f"{datetime.now().astimezone():%Y-%m-%d}*"))
    assert told(daemon, "what is device A")[0] == ("Device A is a fnOS NAS.", False)
    typed(daemon, "undo", "--run", shown.partition("undo --run ")[2].split()[0])
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)


def test_editor_that_opens_is_asked_for_a_terminal(daemon: RunningDaemon) -> None:
    assert "give the text" in typed(daemon, "memories", "edit", short(OLD), expected=Exit.USAGE, text="")
    typed(daemon, "memories", "edit", short(OLD), "-", text="Device A is gone.\n")
    assert "@NAS: Device A is gone." in note(daemon, LOG)


def test_names_of_lines_follow_one_that_is_edited(daemon: RunningDaemon) -> None:
    typed(daemon, "replace", short(OLD), "Device A is a fnOS NAS.")
    middle, edited = short("W @NAS: Device A is a fnOS NAS."), short("W @NAS: Device A is a fnOS box.")
    typed(daemon, "memories", "edit", middle, "Device A is a fnOS box.")
    assert f"superseded={edited}" in note(daemon, LOG)
    assert told(daemon, "what is device A")[:2] == [
        ("Device A is a fnOS box.", False),
        ("Device A is a Synology NAS.", True),
    ]


def test_what_may_mean_several_or_nothing_changes_nothing(daemon: RunningDaemon) -> None:
    shown = typed(daemon, "replace", "gate", "The gate is blue.", expected=Exit.NOTHING_FOUND)
    assert "may mean 2 memories" in shown
    assert short("W @Gate: The gate is painted green.") in shown
    assert "red" not in shown
    for name in ("zeppelin", "1a2b3c4d", f"{WORLD}#L1", "bank/nothing.md#L3", "painted red"):
        typed(daemon, "replace", name, "x", expected=Exit.NOTHING_FOUND)
    typed(daemon, "replace", "one", "two", "three", expected=Exit.USAGE)
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    assert len(list((daemon.workspace / "memory").glob("*.md"))) == 1


def test_the_same_again_is_said_to_be_the_same(daemon: RunningDaemon) -> None:
    for command in (["replace"], ["replace", "--in-place"], ["memories", "edit"]):
        assert "nothing was changed" in typed(daemon, *command, short(OLD), "Device A is a Synology NAS.")
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)


def test_a_replacement_that_stands_in_an_older_note_is_found_when_it_is_said_again(daemon: RunningDaemon) -> None:
    path, bell = daemon.workspace / "memory/2026-11-01.md", "W @Bell: The bell rings at 8"
    path.write_text(f"## Retain\n- {bell}\n- W(supersedes={short(bell)}) @Bell: The bell rings at 9\n")
    daemon.client().sync()
    first, again = (daemon.client().replace_memory(short(bell), "The bell rings at 9") for _ in range(2))
    assert path.read_text().splitlines()[1].startswith("- W(superseded=")
    assert (again["changed"], again["memory"]["id"]) == (False, first["memory"]["id"])


@pytest.mark.parametrize("is_of_today", [False, True])
def test_the_same_replacement_again_is_no_mistake(daemon: RunningDaemon, is_of_today: bool) -> None:
    day = f"{datetime.now().astimezone():%Y-%m-%d}" if is_of_today else "2026-11-01"
    zoo = "W @Zoo: The zoo opens at 8"
    (daemon.workspace / f"memory/{day}.md").write_text(f"## Retain\n- {zoo}\n")
    daemon.client().sync()
    first, again = (daemon.client().replace_memory(short(zoo), "The zoo opens at 9") for _ in range(2))
    assert (first["changed"], again["changed"]) == (True, False)
    assert first["memory"]["id"] == again["memory"]["id"]
    assert today(daemon).count("The zoo opens at 9") == 1


def test_of_two_agents_that_replace_a_memory_at_once_the_last_one_holds(tmp_path: Path) -> None:
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
        memories = [one for one in daemon.client().memories(agent="a")["memories"] if "zoo" in one["text"]]
        assert len(memories) == 7
        assert len([one for one in memories if not one["superseded_by"]]) == 1
        assert daemon.client().replace_memory(short(zoo), "The zoo opens at 20", agent="b")["changed"]


def test_an_agent_replaces_what_agents_said_and_never_its_owners_words(daemon: RunningDaemon) -> None:
    client = daemon.client()
    green = short("W @Gate: The gate is painted green.")
    for asked in ({"session_key": SESSION}, {"by_agent": True}):
        with pytest.raises(Denied, match="the owner stated") as refused:
            client.replace_memory(short(OLD), "Device A is a toaster.", **asked)
        assert f"contradicts={short(OLD)}" in refused.value.hint
        with pytest.raises(Denied):
            client.replace_memory(short("W @Bram: The spare key hangs behind the boiler."), "It is lost.", **asked)
        with pytest.raises(NotFound):
            client.replace_memory(short("W(scope=agent:other) @Gate: The gate of others is painted red."), "x", **asked)
    assert (note(daemon, LOG), note(daemon, WORLD)) == (LOG_TEXT, WORLD_TEXT)
    client.replace_memory(green, "The gate is painted white.", session_key=SESSION)
    assert f"- W(supersedes={green}, from=agent) @Gate: The gate is painted white." in today(daemon)
    # the owner says otherwise, and is believed
    client.retain("The gate is painted blue.", replaces="gate is painted white")
    assert told(daemon, "how is the gate painted")[0] == ("The gate is painted blue.", False)


def test_an_agent_that_names_its_owners_words_only_disagrees(daemon: RunningDaemon) -> None:
    client = daemon.client()
    reply = client.retain(f"W(supersedes={short(OLD)}) @NAS: Device A is a toaster.", session_key=SESSION)
    assert "holds until the owner changes it" in " ".join(reply["notes"])
    assert told(daemon, "what is device A")[0] == ("Device A is a Synology NAS.", False)
    unknown = client.retain("W(supersedes=00000000) @NAS: Device B is a toaster.")
    assert "supersedes names 00000000" in " ".join(unknown["notes"])


def test_attributes_behind_the_text_are_read_or_refused(daemon: RunningDaemon) -> None:
    client = daemon.client()
    for text in (f"W @NAS: Device A is fnOS supersedes={short(OLD)}", f"Device A is fnOS (supersedes={short(OLD)})"):
        assert "after the text" in " ".join(client.retain(text, entities=["NAS"])["notes"])
    assert today(daemon).count(f"- W(supersedes={short(OLD)}) @NAS: Device A is fnOS\n") == 1
    for text in ("W: x (i=0.9)", "W @NAS supersedes=1a2b3c4d: x", "x (supersedes=no id)", "x scope=agent:main"):
        with pytest.raises(InvalidRequest):
            client.retain(text)
    assert "i=0.9" not in today(daemon)


def test_what_was_forgotten_and_secrets_are_as_with_any_statement(daemon: RunningDaemon) -> None:
    client = daemon.client()
    green = short("W @Gate: The gate is painted green.")
    client.forget("The gate opens at nine")
    with pytest.raises(Denied):
        client.replace_memory(green, "W: The gate opens at nine", session_key=SESSION)
    masked = client.replace_memory(green, "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345", session_key=SESSION)
    assert "ghp_0123456789" not in today(daemon)
    assert "masked" in " ".join(masked["notes"])


def test_retain_takes_what_it_replaces_and_its_own_attributes(daemon: RunningDaemon) -> None:
    typed(daemon, "retain", "fact(i=0.3) @NAS @Cellar: Device A is fnOS.", "--replaces", "Synology")
    assert f"- fact(i=0.3, supersedes={short(OLD)}) @NAS @Cellar: Device A is fnOS." in today(daemon)
    assert "inPlace" in str(refusal(daemon, text="x", inPlace=True))
    assert "one memory" in str(refusal(daemon, text="x", each=True, replaces="Synology"))


def refusal(daemon: RunningDaemon, **body: Any) -> Exception:
    with pytest.raises(InvalidRequest) as refused:
        daemon.client().call("POST", "/retain", body)
    return refused.value


@swept("delay", [0.0, 0.004, 0.008, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1], 1)
@pytest.mark.parametrize("is_in_place", [False, True])
def test_each_note_is_whole_after_a_kill_and_the_same_command_ends_it(
    tmp_path: Path, delay: float, is_in_place: bool
) -> None:
    notes = {LOG: f"## Retain\n- {OLD}\n", WORLD: f"- {OLD}\n- The gate opens at nine\n"}

    def act(client: Client) -> object:
        return client.retain("Device A is a fnOS NAS.", replaces=short(OLD), in_place=is_in_place)

    new = short("W @NAS: Device A is a fnOS NAS.")
    says = "W @NAS: Device A is a fnOS NAS." if is_in_place else OLD.replace("W ", f"W(superseded={new}) ")
    finished = {path: text.replace(OLD, says) for path, text in notes.items()}
    with begun(tmp_path, notes) as daemon:
        client = daemon.client()
        client.sync()
        killed_while(daemon, threading.Thread(target=tried, args=(act, client)), delay)
        for path in notes:
            assert note(daemon, path) in (notes[path], finished[path])
        daemon.start()
        again = daemon.client()
        again.sync()
        assert {one["state"] for one in again.changes()["changes"]} <= {"done"}
        if is_in_place and note(daemon, WORLD) == finished[WORLD]:
            # the older memory stands in the other note alone: its words are said there by hand, or it is taken back
            for one in again.changes()["changes"]:
                again.undo(one["id"])
            again.sync()
        act(again)
        assert {path: note(daemon, path) for path in notes} == finished
        again.sync()
        assert told(daemon, "what is device A")[0] == ("Device A is a fnOS NAS.", False)
