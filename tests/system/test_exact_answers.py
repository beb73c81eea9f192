"""Random notes and questions: every hit shows the exact text of its lines, and cites them."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.domain.text.words import STOP_WORDS
from tests.daemon import RunningDaemon, write_config
from tests.sweeps import whole_or
from tests.system.over_socket import send

SNIPPET_CHARS = 700
WORDS = [
    "gateway",
    "alder",
    "lease",
    "boiler",
    "Zürich",
    "GW-4172",
    "price",
    "水泵",
    "降压药",
    "デプロイ",
    "배포",
    "rope",
]
FILLER = [
    "of",
    "the",
    "and",
    "which",
    "stood",
    "on",
    "every",
    "Monday",
    "in",
    "a",
    "row",
    "今天",
    "厨房",
    "🦞",
    "e\u0301",
]
MARKS = ["", "- ", "> ", "# ", "## ", "1. ", "    ", "```\n", "| a | b |\n", "\t"]
DIRECT, GROUP = "agent:main:main", "agent:main:discord:group:7"


def note(chance: random.Random) -> str:
    """Return a note with lines of random length, and blank lines between."""
    lines = []
    for _ in range(chance.randint(1, 120)):
        length = chance.choice([0, 1, 5, 12, 30, 400])
        words = [chance.choice(WORDS if chance.random() < 0.08 else FILLER) for _ in range(length)]
        lines.append(chance.choice(MARKS) + chance.choice([" ", "", "  "]).join(words) if words else "")
    return "\n".join(lines) + chance.choice(["", "\n"])


NOTES = {f"memory/note-{number:02}.md": note(random.Random(number)) for number in range(30)}
"""By path, with normalized line ends."""


def daemon_of(home: Path, citations: str) -> RunningDaemon:
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for number, (path, text) in enumerate(NOTES.items()):
        ends = ("\n", "\r\n")[number % 2]
        data = text.replace("\n", ends).encode(("utf-8", "utf-8-sig", "utf-16")[number % 3])
        (workspace / path).write_bytes(data)
    memory = {"citations": citations, "scope": {"default": "allow", "rules": []}}
    return RunningDaemon(home, write_config(home, workspace, None, memory=memory), workspace)


@pytest.fixture(scope="module", params=["auto", "on", "off"])
def daemon(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with daemon_of(tmp_path_factory.mktemp(request.param), request.param) as running:
        assert running.client().sync()["complete"]
        yield running


@settings(max_examples=whole_or(6, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from([*WORDS, *(word for word in FILLER if word != "🦞")]), min_size=1, max_size=5),
    excluded=st.sampled_from(["", "gateway", "boiler", "rope", "price"]),
    key=st.sampled_from([None, DIRECT, GROUP]),
    limit=st.integers(1, 40),
)
def test_hits_have_exact_text_lines_and_footers(
    daemon: RunningDaemon, words: list[str], excluded: str, key: str | None, limit: int
) -> None:
    query = " ".join([*words, f"-{excluded}"]) if excluded else " ".join(words)
    binds = excluded and STOP_WORDS.isdisjoint(words)
    body = {"query": query, "maxResults": limit, "explain": True, **({"sessionKey": key} if key else {})}
    reply = send(daemon.socket, "POST", "/v1/search", body)
    assert reply.status == 200
    cites = {"on": True, "off": False}.get(daemon.home.name.rstrip("0123456789"), key != GROUP)
    assert reply.json["citations"] == ("on" if cites else "off")
    assert len(reply.json["results"]) <= limit
    for hit in [*reply.json["results"], *reply.json["misses"]]:
        assert_exact(hit, cites=cites)
        assert not binds or excluded not in whole_words(hit["snippet"].partition("\n\nSource: ")[0])


def whole_words(snippet: str) -> list[str]:
    """Return the words of a snippet, except the first and last, which may be cut."""
    return re.findall(r"\w+", normalize("NFC", snippet))[1:-1]


def lines_of(hit: Any, first: str, last: str) -> str:
    return "\n".join(NOTES[hit["path"]].split("\n")[hit[first] - 1 : hit[last]])


def assert_exact(hit: Any, *, cites: bool) -> None:
    snippet, focus = hit["snippet"].replace("\r\n", "\n"), hit["focus"]
    citation = f"{hit['path']}#L{focus['startLine']}"
    if focus["endLine"] != focus["startLine"]:
        citation += f"-L{focus['endLine']}"
    if cites:
        assert hit["citation"] == citation
        snippet, _, footer = snippet.rpartition("\n\nSource: ")
        assert footer == citation
    else:
        assert "citation" not in hit
        assert "Source: " not in snippet
    assert len(snippet) <= SNIPPET_CHARS
    assert hit["startLine"] <= hit["snippetStartLine"] <= focus["startLine"]
    assert focus["startLine"] <= focus["endLine"] <= hit["snippetEndLine"] <= hit["endLine"]
    assert snippet.rstrip() in lines_of(hit, "snippetStartLine", "snippetEndLine")
    assert snippet.count("\n") == hit["snippetEndLine"] - hit["snippetStartLine"]
