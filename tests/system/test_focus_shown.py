"""The focus of a hit, from the daemon to the terminal: cited, marked, and read again with its neighbours."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryd.domain.documents import Citation
from memoryd.wire import Exit
from tests.daemon import MEMORYCTL, RunningDaemon, write_config
from tests.integration.pseudo_terminal import on_terminal
from tests.warm.programs import ran

FILLING = [f"- Chore {number}: water the plants on the sill, then sweep the hall." for number in range(18)]
ANSWER = "- The heating man, Quentin Aldebaran, comes on Thursday to mend the furnace and bleed the hot pipes."
GERMAN = [f"Der Kassenwart hat die Liste {number} für den Verein noch nicht geprüft." for number in range(30)]
MEANT = "when will our radiators be repaired"
NOTES = {
    "memory/house.md": "\n".join(["# House", "", *FILLING[:8], ANSWER, *FILLING[8:], ""]),
    "memory/windows.md": "\r\n".join(["# Windows", "", *FILLING[:9], "- Glazier: Wilhelmina", *FILLING[9:12], ""]),
    "memory/verein.md": "\n".join(["# Verein", "", *GERMAN[:20], "Das Turnier beginnt um zehn.", *GERMAN[20:], ""]),
    "memory/wall.md": f"one\n{'brick ' * 9000}Zacharias{' stone' * 9000}\nthree\n",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("focus")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for path, text in NOTES.items():
        (workspace / path).write_bytes(text.encode())
    config = write_config(home, workspace, starter_model, memory={"citations": "on"})
    with RunningDaemon(home, config, workspace) as running:
        assert running.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        yield running


def run(daemon: RunningDaemon, *arguments: str) -> str:
    result = ran([MEMORYCTL, *arguments], capture_output=True, env=daemon.env, timeout=60)
    # a weak hit is shown with another exit code
    assert result.returncode in (Exit.DONE, Exit.NOTHING_FOUND), result.stderr
    return result.stdout.decode()


def best(daemon: RunningDaemon, question: str) -> Any:
    return json.loads(run(daemon, "search", question, "-k", "1", "--explain", "--json"))["results"][0]


def lines_of(path: str, lines: Any) -> list[str]:
    return NOTES[path].split("\n")[lines["startLine"] - 1 : lines["endLine"]]


@pytest.mark.parametrize(
    ("question", "path", "line"),
    [
        ("Aldebaran", "memory/house.md", ANSWER),
        (MEANT, "memory/house.md", ANSWER),
        ("Wilhelmina", "memory/windows.md", "- Glazier: Wilhelmina\r"),
        ("Wer ist bei den Turnieren?", "memory/verein.md", "Das Turnier beginnt um zehn."),
    ],
)
def test_focus_holds_the_answering_line(daemon: RunningDaemon, question: str, path: str, line: str) -> None:
    hit = best(daemon, question)
    assert hit["path"] == path
    assert line in lines_of(path, hit["focus"])
    assert len(lines_of(path, hit["focus"])) <= 6
    shown = {"startLine": hit["snippetStartLine"], "endLine": hit["snippetEndLine"]}
    assert shown["startLine"] <= hit["focus"]["startLine"] <= hit["focus"]["endLine"] <= shown["endLine"]
    text, _, footer = hit["snippet"].rpartition("\n\nSource: ")
    assert text == "\n".join(lines_of(path, shown)).rstrip("\r\n")
    assert footer == hit["citation"] == str(Citation(path, hit["focus"]["startLine"], hit["focus"]["endLine"]))


def test_focus_is_explained(daemon: RunningDaemon) -> None:
    by_word = best(daemon, "Aldebaran")
    assert by_word["explain"]["focus"]["terms"] == ["aldebaran"]
    by_meaning = best(daemon, MEANT)
    passage = by_meaning["explain"]["focus"]["passage"]
    assert ANSWER in lines_of("memory/house.md", passage)
    text = run(daemon, "search", MEANT, "-k", "1", "--explain")
    assert f"the passage nearest in meaning (L{passage['startLine']}-L{passage['endLine']})" in text


def test_one_very_long_line_is_the_focus(daemon: RunningDaemon) -> None:
    hit = best(daemon, "Zacharias")
    assert hit["citation"] == "memory/wall.md#L2"
    assert "Zacharias" in hit["snippet"]


def test_search_marks_the_focus(daemon: RunningDaemon) -> None:
    hit = best(daemon, "Aldebaran")
    printed = run(daemon, "search", "Aldebaran", "-k", "1").splitlines()
    assert printed[0].startswith(f"1. {hit['citation']}  ")
    marked = [line.removeprefix(" > ") for line in printed if line.startswith(" > ")]
    assert marked == lines_of("memory/house.md", hit["focus"])
    assert "\x1b" not in "".join(printed)


def test_terminal_shows_the_focus_in_bold(daemon: RunningDaemon) -> None:
    socket = {"MEMORYD_SOCKET": os.fspath(daemon.socket)}
    _, seen = on_terminal("search", "Aldebaran", "-k", "1", **socket)
    assert f" > \x1b[1m{ANSWER}\x1b[0m\n" in seen
    _, plain = on_terminal("search", "Aldebaran", "-k", "1", NO_COLOR="1", **socket)
    assert f" > {ANSWER}\n" in plain
    assert "\x1b" not in plain


def test_get_returns_the_focus_and_optional_context(daemon: RunningDaemon) -> None:
    focus = best(daemon, "Aldebaran")["focus"]
    cited = str(Citation("memory/house.md", focus["startLine"], focus["endLine"]))
    wider = {"startLine": focus["startLine"] - 2, "endLine": focus["endLine"] + 2}
    assert run(daemon, "get", cited).splitlines() == lines_of("memory/house.md", focus)
    assert run(daemon, "get", cited, "-C", "2").splitlines() == lines_of("memory/house.md", wider)
    assert run(daemon, "get", "memory/house.md#L2", "--context", "1").splitlines() == ["# House", "", FILLING[0]]
    _, seen = on_terminal("get", cited, NO_COLOR="1", MEMORYD_SOCKET=os.fspath(daemon.socket))
    shown = [line for line in seen.splitlines() if line]
    assert [line[3:] for line in shown if line.startswith(" > ")] == lines_of("memory/house.md", focus)
    assert len(shown) == len(lines_of("memory/house.md", focus)) + 6


def test_context_never_displaces_the_cited_lines(daemon: RunningDaemon) -> None:
    assert run(daemon, "get", "memory/wall.md#L3", "--context", "2") == "three\n"
