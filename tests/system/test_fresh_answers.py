"""An answer includes what was saved, moved or deleted just before the question, or says that it is incomplete."""

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
from tests.system.agents import daemon_of_agents
from tests.waiting import eventually

Start = Callable[..., RunningDaemon]
SLOW = {"watchDebounceMs": 60_000, "reconcileSeconds": 0, "onSearch": False, "deleteGraceMs": 60_000}
"""Nothing is scanned for a minute unless a question comes."""
AMPLE = {"freshMs": 20_000}
"""Waits long enough on a busy machine."""


@pytest.fixture
def start(tmp_path: Path, workspace: Path) -> Iterator[Start]:
    """Start daemons that scan only for a question."""
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
    """Wait until the watcher is active and its first events are processed."""
    eventually(lambda: daemon.agent()["watcher"]["ok"])
    eventually(lambda: ask(daemon, "nothing")["health"]["complete"])


def ask(daemon: RunningDaemon, text: str) -> SearchReply:
    with Client(daemon.socket) as client:
        return client.search(text)


def found_paths(reply: SearchReply) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def is_complete(reply: SearchReply) -> bool:
    return reply["health"]["complete"] and not reply["health"]["pendingFiles"]


def write(workspace: Path, path: str, text: str) -> Path:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


def replace(target: Path, text: str) -> None:
    """Save as most editors do: write another file and rename it."""
    draft = target.with_suffix(".tmp")
    draft.write_text(text)
    draft.replace(target)


@pytest.mark.parametrize("watch", [True, False])
def test_just_saved_note_is_found(start: Start, workspace: Path, watch: bool) -> None:
    daemon = start(watch=watch)
    for number in range(5):
        target = write(workspace, f"memory/new-{number}.md", f"The quetzal{number} is here.\n")
        reply = ask(daemon, f"quetzal{number}")
        assert (found_paths(reply), is_complete(reply)) == ([f"memory/new-{number}.md"], True)
        replace(target, f"The heron{number} is here.\n")
        reply = ask(daemon, f"heron{number}")
        assert (found_paths(reply), is_complete(reply)) == ([f"memory/new-{number}.md"], True)
        # in place, with the same size
        with target.open("r+") as file:
            file.write("The stork")
        reply = ask(daemon, f"stork{number}")
        assert (found_paths(reply), is_complete(reply)) == ([f"memory/new-{number}.md"], True)


@pytest.mark.parametrize("watch", [True, False])
def test_just_moved_note_is_found_at_its_new_path(start: Start, workspace: Path, watch: bool) -> None:
    target = write(workspace, "memory/here.md", "The quetzal is here.\n")
    daemon = start(watch=watch)
    target.rename(workspace / "memory" / "there.md")
    assert found_paths(ask(daemon, "quetzal")) == ["memory/there.md"]
    (workspace / "memory" / "deep").mkdir()
    (workspace / "memory" / "there.md").rename(workspace / "memory" / "deep" / "there.md")
    assert found_paths(ask(daemon, "quetzal")) == ["memory/deep/there.md"]
    (workspace / "memory" / "deep").rename(workspace / "bank")
    reply = ask(daemon, "quetzal")
    assert (found_paths(reply), is_complete(reply)) == (["bank/there.md"], True)


@pytest.mark.parametrize("watch", [True, False])
def test_note_in_a_new_folder_is_found(start: Start, workspace: Path, watch: bool) -> None:
    daemon = start(watch=watch)
    for number in range(3):
        path = f"memory/{number}/a/b/note.md"
        write(workspace, path, f"The quetzal{number} is here.\n")
        reply = ask(daemon, f"quetzal{number}")
        assert (found_paths(reply), is_complete(reply)) == ([path], True)
        write(workspace, path, f"The heron{number} is here.\n")
        assert found_paths(ask(daemon, f"heron{number}")) == [path]


def test_note_being_written_is_pending_and_never_half_shown(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/edited.md", "The quetzal is here.\n")
    daemon = start(sync={"settleMs": 30_000})
    with target.open("w") as file:
        assert not is_complete(ask(daemon, "quetzal"))
        file.write("The heron is here.\n" * 50)
        file.flush()
        half = ask(daemon, "heron")
        assert (found_paths(half), is_complete(half), half["health"]["pendingFiles"]) == ([], False, 1)
        file.write("The stork is here.\n")
    reply = ask(daemon, "stork")
    assert (found_paths(reply), is_complete(reply)) == (["memory/edited.md"], True)


def test_note_that_is_empty_for_a_moment_is_pending(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/edited.md", "The quetzal is here.\n")
    for watch in (True, False):
        daemon = start(watch=watch)
        os.truncate(target, 0)
        assert not is_complete(ask(daemon, "quetzal"))
        assert ask(daemon, "quetzal")["health"]["pendingFiles"] == 1
        target.write_text("The quetzal is here again.\n")
        reply = ask(daemon, "again")
        assert (found_paths(reply), is_complete(reply)) == (["memory/edited.md"], True)
        daemon.stop()


def test_deleted_note_is_not_pending(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/gone.md", "The quetzal is here.\n")
    daemon = start()
    target.unlink()
    reply = ask(daemon, "quetzal")
    assert (found_paths(reply), is_complete(reply)) == ([], True)


def test_each_workspace_is_scanned_for_its_own_questions(tmp_path: Path) -> None:
    """One of them also indexes a folder of the other."""
    for agent in "ab":
        (tmp_path / agent / "memory").mkdir(parents=True)
    listed: list[dict[str, object]] = [
        {"id": "a", "workspace": str(tmp_path / "a"), "memorySearch": {"extraPaths": ["../b/memory"]}},
        {"id": "b", "workspace": str(tmp_path / "b")},
    ]
    search = {"sync": SLOW, "query": AMPLE}
    with daemon_of_agents(tmp_path, listed, search=search) as daemon, daemon.client() as client:
        client.sync()
        eventually(lambda: all(status["watcher"]["ok"] for status in client.status()["agents"]))
        for number in range(3):
            write(tmp_path / "b", "memory/note.md", f"The quetzal{number} is here.\n")
            write(tmp_path / "a", "memory/note.md", f"The heron{number} is here.\n")
            for agent, word, path in (
                ("a", f"quetzal{number}", "../b/memory/note.md"),
                ("b", f"quetzal{number}", "memory/note.md"),
                ("a", f"heron{number}", "memory/note.md"),
            ):
                reply = client.search(word, agent=agent)
                assert (found_paths(reply), is_complete(reply)) == ([path], True)


def test_note_that_became_private_is_not_shown(start: Start, workspace: Path) -> None:
    target = write(workspace, "memory/mine.md", "The quetzal is here.\n")
    daemon = start()
    assert found_paths(ask(daemon, "quetzal")) == ["memory/mine.md"]
    replace(target, "---\nmemory: false\n---\nThe quetzal is here.\n")
    reply = ask(daemon, "quetzal")
    assert (found_paths(reply), is_complete(reply)) == ([], True)


def test_answer_without_waiting_reports_pending_files(start: Start, workspace: Path) -> None:
    daemon = start(query={"freshMs": 0})
    for number in range(3):
        write(workspace, f"memory/new-{number}.md", f"The quetzal met heron{number} by the lake.\n")
        write(workspace, f"memory/new-{number}.txt", "This is no note.\n")
        reply = ask(daemon, "quetzal")
        assert (found_paths(reply), is_complete(reply), reply["health"]["pendingFiles"]) == ([], False, number + 1)
    daemon.client().sync()
    reply = ask(daemon, "quetzal")
    assert is_complete(reply)
    assert found_paths(ask(daemon, "heron2")) == ["memory/new-2.md"]


def test_large_new_note_is_pending_while_small_ones_are_found(start: Start, workspace: Path) -> None:
    daemon = start()
    write(workspace, "memory/large.md", "The heron is here.\n\n" + "Reeds by the water, again.\n\n" * 80_000)
    write(workspace, "memory/small.md", "The quetzal is here.\n")
    reply = ask(daemon, "quetzal")
    assert found_paths(reply) == ["memory/small.md"]
    assert (is_complete(reply), reply["health"]["pendingFiles"]) == (False, 1)
    eventually(lambda: is_complete(ask(daemon, "heron")))
    assert found_paths(ask(daemon, "heron")) == ["memory/large.md"]


def test_answer_is_not_complete_while_events_overflow(start: Start, workspace: Path) -> None:
    daemon = start()
    os.kill(daemon.pid, signal.SIGSTOP)
    overflow_events(workspace / "memory")
    write(workspace, "memory/new.md", "The quetzal is here.\n")
    os.kill(daemon.pid, signal.SIGCONT)
    reply = ask(daemon, "quetzal")
    assert found_paths(reply) == ["memory/new.md"] or not is_complete(reply)
    eventually(lambda: is_complete(ask(daemon, "quetzal")))
    assert found_paths(ask(daemon, "quetzal")) == ["memory/new.md"]


def test_simultaneous_questions_share_a_scan(start: Start, workspace: Path) -> None:
    daemon = start()
    failures: list[str] = []

    def follow(thread: int) -> None:
        with Client(daemon.socket) as client:
            for number in range(20):
                word = f"quetzal{thread}x{number}"
                replace(workspace / "memory" / f"own-{thread}.md", f"The {word} is here.\n")
                reply = client.search(word)
                if is_complete(reply) and found_paths(reply) != [f"memory/own-{thread}.md"]:
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
    assert found_paths(ask(daemon, last)) == ["memory/stream.md"]


def test_unreadable_folder_makes_the_answer_incomplete(start: Start, workspace: Path) -> None:
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
