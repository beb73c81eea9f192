"""A folder of Markdown that was not made for memoryd: the commands of the README, and hints without `--all`."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memoryd.client import Client
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.system.test_memoryctl import ask
from tests.waiting import eventually

README = Path(__file__).parents[2] / "README.md"
PROGRAMS = Path(sys.executable).parent
HINT = "start memoryd with --all"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Return a folder with notes in various places."""
    folder = tmp_path / "home" / "notes"
    (folder / "projects").mkdir(parents=True)
    (folder / "gateway.md").write_text("# Gateway\n\nThe gateway uses port 18789.\n")
    (folder / "projects" / "boat.md").write_text("# Boat\n\nThe boat is painted in ultramarine.\n")
    (folder / "diary.md").write_text("---\nmemory: false\n---\n# Private\n")
    return folder


@contextmanager
def daemon_over(notes: Path, *arguments: str, **search: object) -> Iterator[RunningDaemon]:
    """Run the daemon as a person does, with these arguments."""
    home = notes.parents[1]
    daemon = RunningDaemon(home, write_config(home, notes, None, search=search), notes)
    daemon.process = daemon.spawn(*arguments)
    try:
        eventually(daemon.answers)
        daemon.client().sync()
        yield daemon
    finally:
        daemon.stop()


def test_commands_of_the_readme_find_a_note(notes: Path) -> None:
    block = re.search(r"## Use it on your notes\n\n```sh\n(.*?)```", README.read_text(), re.DOTALL)
    assert block
    install, init, start, *questions = (line.split(" #")[0].strip() for line in block[1].splitlines())
    assert install.startswith("pipx install")
    home = notes.parents[1]
    daemon = RunningDaemon(home, home / "config.json5", notes, environment={"MEMORYD_OFFLINE": "1"})
    # instead of the question on a terminal
    run_line(daemon, f"{init} --all")
    assert start == "memoryd &"
    with daemon:
        daemon.client().sync()
        for question in questions:
            assert "gateway.md#L1-L3" in run_line(daemon, question)


def run_line(daemon: RunningDaemon, line: str) -> str:
    """Run a line of the page non-interactively, and return its output."""
    environment = {**daemon.env, "PATH": f"{PROGRAMS}:{daemon.env['PATH']}"}
    result = subprocess.run(
        ["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == Exit.DONE, result.stderr
    return result.stdout


@pytest.mark.parametrize(("arguments", "search"), [(["--all"], {}), ([], {"extraPaths": ["."]})])
def test_every_markdown_file_is_indexed_on_request(
    notes: Path, arguments: list[str], search: dict[str, object]
) -> None:
    with daemon_over(notes, *arguments, **search) as daemon:
        agent: Any = daemon.agent()
        assert (agent["files"], agent["outside"]) == (2, None)
        for question, path in (("port", "gateway.md"), ("ultramarine", "projects/boat.md")):
            assert [hit["path"] for hit in daemon.client().search(question)["results"]] == [path]
        (notes / "new").mkdir()
        (notes / "new" / "late.md").write_text("# Late\n\nThe heron nests by the sluice.\n")
        daemon.client().sync()
        assert daemon.client().get("new/late.md")["totalLines"] == 3
        assert not daemon.client().search("Private")["results"]


def test_notes_elsewhere_are_counted_with_a_hint(notes: Path) -> None:
    with daemon_over(notes) as daemon:
        eventually(lambda: daemon.agent().get("outside"))
        agent: Any = daemon.agent()
        assert agent["files"] == 0
        assert (agent["outside"]["files"], agent["outside"]["more"]) == (2, False)
        assert HINT in agent["outside"]["hint"]
        result = daemon.memoryctl("search", "port")
        assert result.returncode == Exit.NOTHING_FOUND
        assert "nothing is indexed" in result.stderr
        assert f"2 Markdown files elsewhere: {HINT}" in result.stderr
        shown = " ".join(daemon.memoryctl("status").stdout.split())
        assert "not indexed 2 Markdown files in other places" in shown
        assert HINT in shown
        assert doctor_state(daemon) == ("wrong", True)
    assert doctor_state(daemon) == ("wrong", True), "also without a daemon"


def test_notes_elsewhere_are_mentioned_beside_indexed_ones(notes: Path) -> None:
    (notes / "MEMORY.md").write_text("# Memory\n\nThe kettle is blue.\n")
    with daemon_over(notes) as daemon:
        client = daemon.client()
        eventually(lambda: daemon.agent().get("outside"))
        assert client.search("kettle")["results"]
        reason = client.search("ultramarine")["reason"]
        assert reason == "nothing in the notes matches; 2 Markdown files of the workspace are not among them"
        assert doctor_state(daemon) == ("ok", True)


def doctor_state(daemon: RunningDaemon) -> tuple[str, bool]:
    """Return the state of the notes in doctor, and whether its hint is the option."""
    result = daemon.memoryctl("doctor", "--json")
    check = next(check for check in json.loads(result.stdout)["checks"] if check["part"] == "notes of main")
    assert "2 Markdown files" in check["message"]
    return check["state"], HINT in check["hint"]


def test_missing_workspace_keeps_notes_at_its_top(notes: Path) -> None:
    with daemon_over(notes, "--all", sync={"rootGraceSeconds": 600, "deleteGraceMs": 100}) as daemon:
        files = daemon.agent()["files"]
        notes.rename(notes.with_name("moved"))
        daemon.client().sync(timeout_ms=3000)
        assert daemon.agent()["files"] == files
        notes.with_name("moved").rename(notes)
        assert ask(daemon, ["search", "ultramarine"])["results"][0]["path"] == "projects/boat.md"
        with Client(daemon.socket) as client:
            assert client.sync().get("complete")
            assert client.search("port")["results"][0]["path"] == "gateway.md"
