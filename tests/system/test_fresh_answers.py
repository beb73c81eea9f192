"""What was saved, moved or deleted a moment before a question is in its answer, or the answer says that it is not."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoryd.client import Client
from memoryd.replies.search import SearchReply
from tests.daemon import RunningDaemon, write_config
from tests.fault.faults import overflow_events
from tests.waiting import eventually

Start = Callable[..., RunningDaemon]
SLOW = {"watchDebounceMs": 60_000, "reconcileSeconds": 0, "onSearch": False, "deleteGraceMs": 60_000}
"""Nothing is looked at for a minute, unless somebody asks."""
AMPLE = {"freshMs": 20_000}
"""So that a busy machine is waited for."""


@pytest.fixture
def start(tmp_path: Path, workspace: Path) -> Iterator[Start]:
    """Start daemons that look at the disk when they are asked a question, and else at nothing."""
    with ExitStack() as running:

        def run(
            *, watch: bool = True, query: dict[str, object] | None = None, sync: dict[str, object] | None = None
        ) -> RunningDaemon:
            search = {"sync": {**SLOW, "watch": watch, **(sync or {})}, "query": AMPLE if query is None else query}
            config = write_config(tmp_path, workspace, None, search=search)
            daemon = running.enter_context(RunningDaemon(tmp_path, config, workspace))
            daemon.client().sync()
            if watch:
                settle(daemon)
            return daemon

        yield run


def settle(daemon: RunningDaemon) -> None:
    """Wait until the watcher is armed and nothing is left of what it armed for."""
    eventually(lambda: daemon.agent()["watcher"]["ok"])
    eventually(lambda: ask(daemon, "nothing")["health"]["complete"])


def ask(daemon: RunningDaemon, text: str) -> SearchReply:
    with Client(daemon.socket) as client:
        return client.search(text)


def places(reply: SearchReply) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def is_complete(reply: SearchReply) -> bool:
    return reply["health"]["complete"] and not reply["health"]["pendingFiles"]


def write(workspace: Path, path: str, text: str) -> Path:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


def replace(target: Path, text: str) -> None:
    """Save as most editors do: another file takes the place of the old one."""
    draft = target.with_suffix(".tmp")
    draft.write_text(text)
    draft.replace(target)


@pytest.mark.parametrize("watch", [True, False])
def test_note_that_was_just_saved_is_found(start: Start, workspace: Path, watch: bool) -> None:
    daemon = start(watch=watch)
    for number in range(5):
        target = write(workspace, f"memory/new-{number}.md", f"The quetzal{number} is here.\n")
        found = ask(daemon, f"quetzal{number}")
        assert (places(found), is_complete(found)) == ([f"memory/new-{number}.md"], True)
        replace(target, f"The heron{number} is here.\n")
        found = ask(daemon, f"heron{number}")
        assert (places(found), is_complete(found)) == ([f"memory/new-{number}.md"], True)
        # in place, and as long as before
        with target.open("r+") as file:
            file.write("The stork")
        found = ask(daemon, f"stork{number}")
        assert (places(found), is_complete(found)) == ([f"memory/new-{number}.md"], True)


@pytest.mark.parametrize("watch", [True, False])
def test_note_that_was_just_moved_is_found_where_it_is(start: Start, workspace: Path, watch: bool) -> None:
    target = write(workspace, "memory/here.md", "The quetzal is here.\n")
    daemon = start(watch=watch)
    target.rename(workspace / "memory" / "there.md")
    assert places(ask(daemon, "quetzal")) == ["memory/there.md"]
    (workspace / "memory" / "deep").mkdir()
    (workspace / "memory" / "there.md").rename(workspace / "memory" / "deep" / "there.md")
    assert places(ask(daemon, "quetzal")) == ["memory/deep/there.md"]
    (workspace / "memory" / "deep").rename(workspace / "bank")
    found = ask(daemon, "quetzal")
    assert (places(found), is_complete(found)) == (["bank/there.md"], True)


@pytest.mark.parametrize("watch", [True, False])
def test_note_in_a_folder_that_was_just_made_is_found(start: Start, workspace: Path, watch: bool) -> None:
    daemon = start(watch=watch)
    for number in range(3):
        path = f"memory/{number}/a/b/note.md"
        write(workspace, path, f"The quetzal{number} is here.\n")
        found = ask(daemon, f"quetzal{number}")
        assert (places(found), is_complete(found)) == ([path], True)
        write(workspace, path, f"The heron{number} is here.\n")
        assert places(ask(daemon, f"heron{number}")) == [path]


def test_note_that_an_editor_is_writing_is_pending_and_never_half_told(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/edited.md", "The quetzal is here.\n")
    daemon = start(sync={"settleMs": 30_000})
    with target.open("w") as file:
        assert not is_complete(ask(daemon, "quetzal"))
        file.write("The heron is here.\n" * 50)
        file.flush()
        half = ask(daemon, "heron")
        assert (places(half), is_complete(half), half["health"]["pendingFiles"]) == ([], False, 1)
        file.write("The stork is here.\n")
    found = ask(daemon, "stork")
    assert (places(found), is_complete(found)) == (["memory/edited.md"], True)


def test_note_that_is_empty_for_a_moment_is_pending(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/edited.md", "The quetzal is here.\n")
    for watch in (True, False):
        daemon = start(watch=watch)
        os.truncate(target, 0)
        assert not is_complete(ask(daemon, "quetzal"))
        assert ask(daemon, "quetzal")["health"]["pendingFiles"] == 1
        target.write_text("The quetzal is here again.\n")
        found = ask(daemon, "again")
        assert (places(found), is_complete(found)) == (["memory/edited.md"], True)
        daemon.stop()


def test_note_that_is_gone_is_not_pending(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/gone.md", "The quetzal is here.\n")
    daemon = start()
    target.unlink()
    found = ask(daemon, "quetzal")
    assert (places(found), is_complete(found)) == ([], True)


def test_each_workspace_is_looked_at_for_its_own_questions(tmp_path: Path) -> None:
    """One of them lists a folder of the other, too."""
    for agent in "ab":
        (tmp_path / agent / "memory").mkdir(parents=True)
    listed = [
        {"id": "a", "workspace": str(tmp_path / "a"), "memorySearch": {"extraPaths": ["../b/memory"]}},
        {"id": "b", "workspace": str(tmp_path / "b")},
    ]
    config = tmp_path / "config.json5"
    search = {"provider": "none", "sync": SLOW, "query": AMPLE}
    config.write_text(json.dumps({"agents": {"defaults": {"memorySearch": search}, "list": listed}}))
    with RunningDaemon(tmp_path, config, tmp_path / "a") as daemon, daemon.client() as client:
        client.sync()
        eventually(lambda: all(one["watcher"]["ok"] for one in client.status()["agents"]))
        for number in range(3):
            write(tmp_path / "b", "memory/note.md", f"The quetzal{number} is here.\n")
            write(tmp_path / "a", "memory/note.md", f"The heron{number} is here.\n")
            for agent, word, path in (
                ("a", f"quetzal{number}", "../b/memory/note.md"),
                ("b", f"quetzal{number}", "memory/note.md"),
                ("a", f"heron{number}", "memory/note.md"),
            ):
                found = client.search(word, agent=agent)
                assert (places(found), is_complete(found)) == ([path], True)


def test_note_that_says_it_is_private_is_told_no_more(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/mine.md", "The quetzal is here.\n")
    daemon = start()
    assert places(ask(daemon, "quetzal")) == ["memory/mine.md"]
    replace(target, "---\nmemory: false\n---\nThe quetzal is here.\n")
    found = ask(daemon, "quetzal")
    assert (places(found), is_complete(found)) == ([], True)


def test_without_time_the_answer_says_what_it_does_not_know(start: Start, workspace: Path) -> None:
    daemon = start(query={"freshMs": 0})
    for number in range(3):
        write(workspace, f"memory/new-{number}.md", f"The quetzal met heron{number} by the lake.\n")
        write(workspace, f"memory/new-{number}.txt", "This is no note.\n")
        found = ask(daemon, "quetzal")
        assert (places(found), is_complete(found), found["health"]["pendingFiles"]) == ([], False, number + 1)
    daemon.client().sync()
    found = ask(daemon, "quetzal")
    assert is_complete(found)
    assert places(ask(daemon, "heron2")) == ["memory/new-2.md"]


def test_more_than_a_question_waits_for_is_pending_and_the_small_notes_are_found(start: Start, workspace: Path) -> None:
    daemon = start()
    write(workspace, "memory/large.md", "The heron is here.\n\n" + "Reeds by the water, again.\n\n" * 80_000)
    write(workspace, "memory/small.md", "The quetzal is here.\n")
    found = ask(daemon, "quetzal")
    assert places(found) == ["memory/small.md"]
    assert (is_complete(found), found["health"]["pendingFiles"]) == (False, 1)
    eventually(lambda: is_complete(ask(daemon, "heron")))
    assert places(ask(daemon, "heron")) == ["memory/large.md"]


def test_answer_is_complete_only_with_the_note_while_events_overflow(start: Start, workspace: Path) -> None:
    daemon = start()
    os.kill(daemon.pid, signal.SIGSTOP)
    overflow_events(workspace / "memory")
    write(workspace, "memory/new.md", "The quetzal is here.\n")
    os.kill(daemon.pid, signal.SIGCONT)
    found = ask(daemon, "quetzal")
    assert places(found) == ["memory/new.md"] or not is_complete(found)
    eventually(lambda: is_complete(ask(daemon, "quetzal")))
    assert places(ask(daemon, "quetzal")) == ["memory/new.md"]


def test_many_questions_at_once_share_a_look(start: Start, workspace: Path) -> None:
    daemon = start()
    failures: list[str] = []

    def follow(thread: int) -> None:
        with Client(daemon.socket) as client:
            for number in range(20):
                word = f"quetzal{thread}x{number}"
                replace(workspace / "memory" / f"own-{thread}.md", f"The {word} is here.\n")
                found = client.search(word)
                if is_complete(found) and places(found) != [f"memory/own-{thread}.md"]:
                    failures.append(word)

    threads = [threading.Thread(target=follow, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_question_during_a_stream_of_saves_is_answered_in_time(start: Start, workspace: Path) -> None:
    daemon = start(query={"freshMs": 100}, sync={"watchDebounceMs": 200})
    is_over = threading.Event()

    def save() -> None:
        number = 0
        while not is_over.wait(0.01):
            number += 1
            write(workspace, "memory/stream.md", f"The quetzal{number} is here.\n")

    saving = threading.Thread(target=save)
    saving.start()
    try:
        for _ in range(20):
            ask(daemon, "quetzal")
            time.sleep(0.01)
    finally:
        is_over.set()
        saving.join()
    eventually(lambda: is_complete(ask(daemon, "quetzal")))
    last = (workspace / "memory" / "stream.md").read_text().split()[1]
    assert places(ask(daemon, last)) == ["memory/stream.md"]


def test_folder_that_cannot_be_read_makes_the_answer_incomplete(start: Start, workspace: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every folder")
    folder = workspace / "memory" / "closed"
    write(workspace, "memory/closed/note.md", "The quetzal is here.\n")
    daemon = start()
    folder.chmod(0)
    try:
        assert not is_complete(ask(daemon, "quetzal"))
    finally:
        folder.chmod(0o700)
    eventually(lambda: is_complete(ask(daemon, "quetzal")))
