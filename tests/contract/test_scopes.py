"""Row 145 beyond the builtin search: no text of one agent reaches another by qmd, events or status."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.client import Client
from tests.contract.two_agents import DIRECT, GROUP, MARKERS, SECRETS, client_of, prepare, socket_of
from tests.daemon import RunningDaemon
from tests.integration.qmd_standin import StandIn
from tests.real_qmd import real_qmd
from tests.sweeps import whole_or
from tests.waiting import SECONDS, eventually

AGENTS = sorted(SECRETS)
FOREIGN = {"alpha": MARKERS["beta"], "beta": MARKERS["alpha"]}
WORDS = [*itertools.chain(*MARKERS.values()), "lantern", "boat", "sea", "wet day", "Core"]
NOTES = ["MEMORY.md", "2026-11-18.md", "memory/2026-11-18.md"]
COLLECTIONS = [f"{kind}-{agent}" for kind in ("memory-root", "memory-dir") for agent in AGENTS]
ESCAPES = [
    "../{}/MEMORY.md",
    "../../{}/memory/2026-11-18.md",
    "/{}/MEMORY.md",
    "./../{}/MEMORY.md",
    "..%2f{}/MEMORY.md",
]


def post(daemon: RunningDaemon, socket: str, **asked: object) -> httpx.Response:
    with client_of(daemon, socket) as client:
        return client.post("/v1/search", json={"maxResults": 50, "explain": True, **asked})


def read(daemon: RunningDaemon, socket: str, path: str) -> httpx.Response:
    with client_of(daemon, socket) as client:
        return client.get(f"/v1/files/{path.replace('/', '%2f')}", params={"sessionKey": DIRECT.format(socket)})


def notes_shown(reply: httpx.Response) -> str:
    """Return what a reply shows of notes, without the explanation, which repeats the question."""
    body: Any = reply.json()
    return json.dumps([body.get("results"), body.get("misses"), body.get("text")], ensure_ascii=False)


def result(collection: str, path: str, number: int) -> dict[str, object]:
    return {"docid": f"#{number:06}", "score": 1 - number / 1000, "file": f"qmd://{collection}/{path}", "line": 1}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A qmd that answers every question with the files of both agents, under every possible name."""
    home = tmp_path_factory.mktemp("hostile")
    program = StandIn(home / "standin")
    paths = [*NOTES, *(path.format(agent) for path in ESCAPES for agent in AGENTS)]
    pairs = list(itertools.product(COLLECTIONS, paths))
    program.behave(results=[result(*pair, number) for number, pair in enumerate(pairs)])
    qmd = {"command": str(program.program), "limits": {"maxResults": 50, "maxInjectedChars": 100_000}}
    with prepare(home, None, backend="qmd", qmd=qmd) as running:
        running.client().sync()
        eventually(lambda: _backends(running) == ["qmd", "qmd"])
        yield running
    eventually(lambda: not program.alive())


def _backends(running: RunningDaemon) -> list[str]:
    with Client(running.socket) as client:
        return [client.search("lantern", agent=agent)["backend"] for agent in AGENTS]


@settings(max_examples=whole_or(6, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    socket=st.sampled_from(["owner", *AGENTS, *(f"{agent}-fixed" for agent in AGENTS)]),
    named=st.sampled_from([None, *AGENTS]),
    key=st.sampled_from([None, *(DIRECT.format(agent) for agent in AGENTS), GROUP.format("beta"), "main"]),
)
def test_f145_no_text_of_one_agent_reaches_another_through_qmd(
    hostile: RunningDaemon, words: list[str], socket: str, named: str | None, key: str | None
) -> None:
    """Random questions return no text of another agent, even if qmd returns hits in its notes."""
    asked = {name: value for name, value in (("agent", named), ("sessionKey", key)) if value is not None}
    reply = post(hostile, socket, query=" ".join(words), **asked)
    of_key = key.split(":")[1] if key and key.startswith("agent:") else None
    effective = (None if socket == "owner" else socket.removesuffix("-fixed")) or named or of_key or "alpha"
    if not reply.is_success:
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "denied")
        assert not any(marker in reply.text for marker in itertools.chain(*MARKERS.values()))
        return
    assert not any(marker in notes_shown(reply) for marker in FOREIGN[effective])
    assert reply.json()["backend"] == "qmd"
    if {"sea", "wet day", "Core", *MARKERS[effective]} & set(words):
        assert any(marker in notes_shown(reply) for marker in MARKERS[effective])


def test_f145_files_of_qmd_are_those_of_the_agent(hostile: RunningDaemon) -> None:
    """Files of qmd's collections are read by their own agent only."""
    for agent, collection, path in itertools.product(AGENTS, COLLECTIONS, [*NOTES, *ESCAPES]):
        reply = read(hostile, agent, f"qmd/{collection}/{path.format('beta' if agent == 'alpha' else 'alpha')}")
        assert reply.status_code in (200, 404)
        assert not any(marker in reply.text for marker in FOREIGN[agent])


@pytest.mark.torture
def test_f145_real_qmd_finds_only_the_agents_own_notes(tmp_path: Path) -> None:
    """The real qmd finds each agent its own notes and none of the other's."""
    with prepare(tmp_path, None, backend="qmd", qmd={"command": real_qmd(), "update": {"debounceMs": 200}}) as running:
        running.client().sync()
        eventually(lambda: _backends(running) == ["qmd", "qmd"])
        for agent, words in itertools.product(AGENTS, WORDS):
            reply = post(running, agent, query=words, sessionKey=DIRECT.format(agent))
            assert not any(marker in notes_shown(reply) for marker in FOREIGN[agent])
            if words in ("wet day", "sea", "Core"):
                assert any(marker in notes_shown(reply) for marker in MARKERS[agent])


def test_f145_events_and_status_show_nothing_of_another_agent(tmp_path: Path) -> None:
    """An agent's status and events contain no name, path or text of the other agent."""
    with prepare(tmp_path, None) as running:
        running.client().sync()
        seen: list[str] = []
        listening = threading.Event()
        following = threading.Thread(target=_follow, args=(running, seen, listening))
        following.start()
        assert listening.wait(SECONDS)
        with Client(running.socket) as client:
            for agent in AGENTS:
                for number, marker in enumerate(MARKERS[agent]):
                    name = tmp_path / agent / "memory" / f"{marker}-{number}.md"
                    name.write_text(f"# {marker}\n\n{SECRETS[agent]}\n")
                (tmp_path / agent / "memory" / f"{MARKERS[agent][0]}.link.md").symlink_to("/etc/hostname")
                client.sync(agent=agent)
            eventually(lambda: any('"beta"' in line for line in seen))
            status = Client(socket_of(tmp_path, "beta"))
            with status:
                shown = json.dumps(status.status())
        running.stop()
        following.join(20)
    assert MARKERS["beta"][0] in shown, "the skipped link"
    for text in (*seen, shown):
        assert "alpha" not in text
        assert not any(marker in text for marker in MARKERS["alpha"])
    assert not any(marker in "".join(seen) for marker in MARKERS["beta"]), "events contain no memory text"


def _follow(running: RunningDaemon, seen: list[str], listening: threading.Event) -> None:
    with client_of(running, "beta-fixed") as client, client.stream("GET", "/v1/events") as reply:
        for line in reply.iter_lines():
            listening.set()
            seen.append(line)


def test_excluded_words_and_phrases_apply_to_qmd(hostile: RunningDaemon) -> None:
    for query, backend, found in (
        ("lantern", "qmd", {"MEMORY.md", "memory/2026-11-18.md"}),
        ("lantern -wet", "qmd", {"MEMORY.md"}),
        ('lantern -"wet day"', "qmd", {"MEMORY.md"}),
        ('lantern "wet day"', "qmd", {"memory/2026-11-18.md"}),
        # nothing of qmd's answer is left, so the builtin index answers
        ("lantern -zinnober", "builtin", set()),
    ):
        body = post(hostile, "owner", query=query).json()
        assert (body["backend"], {hit["path"] for hit in body["results"]}) == (backend, found), query
        assert {miss["path"] for miss in body["misses"]} <= found
