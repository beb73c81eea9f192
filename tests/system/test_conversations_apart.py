"""Agents of one workspace, each with its own socket: no word of a conversation reaches another agent by any call.

Words and questions are random. A question may guess words of another agent: then its answer must be the same as before
that agent said them, to the last digit of a score.
"""

import json
import re
import socket as socket_module
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memoryd.wire import SESSIONS_MAX
from tests.daemon import RunningDaemon
from tests.sweeps import whole_or
from tests.system.agents import daemon_of_agents, with_socket
from tests.system.over_socket import send
from tests.waiting import eventually

AGENTS = ("ada", "ben", "cem")
SIGNS = {"ada": "海边的木船", "ben": "修好了屋顶", "cem": "今天和文起"}
"""Each agent's own signs, of which words of a script without spaces are made."""
DEFAULT = ("boiler", "repaired", "the", "who", "because", "config", "discord", "error")
NAMES = ("shared", "monday")
"""Sessions that any agent may name."""

WITHOUT_QUESTION = ("start", "/qa/sessions", "/qa/topics", "/qa/stats", "/status", "/sessions")
"""Calls that take no question; they return times and sizes."""
LETTERS = st.text(st.sampled_from("bcdfghjklmnpqrstvwxz"), min_size=6, max_size=9)
STEMS = st.lists(LETTERS, min_size=2, max_size=6, unique=True)
SIGN_PLACES = st.lists(st.integers(0, 4), min_size=2, max_size=4)
"""Of a word in a script without spaces."""


def word_of(agent: str, stem: str) -> str:
    """Return a word that only this agent says; an agent that does not exist gives a word that nobody says."""
    return f"q{agent}{stem}"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("apart")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nWho repaired the boiler? Anna did, because of an error.\n")
    listed: list[dict[str, object]] = []
    folders = []
    for agent in AGENTS:
        (home / "talks" / agent).mkdir(parents=True)
        folders.append({"path": str(home / "talks" / agent), "agent": agent, "format": "claude-code"})
        listed.append(with_socket(home, agent, sessionKey=f"agent:{agent}:main"))
    # one has its own index of notes
    listed[2]["memorySearch"] = {"query": {"hybrid": {"candidateMultiplier": 6}}}
    search = {
        "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": True},
        "sync": {"sessions": {"deltaBytes": 0, "deltaMessages": 0}},
    }
    memory = {"sessions": {"folders": folders}}
    with daemon_of_agents(home, listed, workspace, search=search, memory=memory) as running:
        running.client().sync()
        yield running


def request(daemon: RunningDaemon, agent: str, method: str, path: str, body: object = None) -> str:
    """Return the reply of an agent's socket as text, also an error."""
    socket = daemon.socket.with_name(f"{agent}.sock")
    return json.dumps(send(socket, method, f"/v1{path}", body).json, ensure_ascii=False)


def is_stored(daemon: RunningDaemon, agent: str, question: str, answer: str, session: str | None) -> bool:
    """Add a turn; return whether it was stored, which it is not in a session of another agent."""
    body = {"q": question, "a": answer, "significance": 0.9, "topicTags": [question.split()[0]], "sessionId": session}
    return '"citation": "session:' in request(daemon, agent, "POST", "/qa/turns", body)


def write_transcript(daemon: RunningDaemon, agent: str, said: str) -> None:
    """Write a transcript as an agent's program does."""
    record = {"type": "user", "message": {"role": "user", "content": said}, "timestamp": "2026-11-01T10:00:00Z"}
    folder = daemon.home / "talks" / agent
    (folder / f"{len(list(folder.iterdir()))}.jsonl").write_text(json.dumps(record) + "\n")


def search(daemon: RunningDaemon, agent: str, query: str, **more: object) -> Any:
    return json.loads(request(daemon, agent, "POST", "/search", {"query": query, **more}))


def is_found(daemon: RunningDaemon, agent: str, word: str) -> bool:
    reply = search(daemon, agent, word, sources=["sessions"])
    return bool(reply["results"]) and reply["health"]["arms"]["conversations"]["state"] == "ok"


def all_requests(
    daemon: RunningDaemon, agent: str, question: str, sessions: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Make every request that an agent may make, with the question where one fits; yield the kind and the reply."""
    for sources in (["sessions"], ["memory"], ["memory", "sessions"], None):
        for more in ({}, {"explain": True, "maxResults": 50}, {"explain": True, "maxResults": 1, "minScore": 0.99}):
            body = {"query": question, "sources": sources, **more}
            yield f"search {sources} {more}", request(daemon, agent, "POST", "/search", body)
    for shape in ('"{}"', "source:sessions {}", "path:session:shared {}", "{}log", "boiler -{}", "path:{} boiler"):
        query = shape.format(question.split()[0])
        yield (
            shape,
            request(daemon, agent, "POST", "/search", {"query": query, "explain": True, "sources": ["sessions"]}),
        )
    key = f"agent:{agent}:main"
    contexts: list[dict[str, str]] = [{"message": question, "sessionKey": key}, {"message": question}, {}]
    for asking in contexts:
        yield f"context {asking}", request(daemon, agent, "POST", "/qa/context", asking)
    yield "start", request(daemon, agent, "POST", "/sessions/start", {"sessionKey": key})
    for path in ("/qa/sessions", "/qa/topics", "/qa/stats", "/status", "/sessions"):
        yield path, request(daemon, agent, "GET", path)
    own = own_sessions(daemon, agent)
    for session in sessions:
        name, word = quote(session, safe=""), quote(question.split()[0], safe="")
        yield "turns", request(daemon, agent, "GET", f"/qa/sessions/{name}?grep={word}")
        yield "context of", request(daemon, agent, "POST", "/qa/context", {"sessionId": session})
        mark = {"citation": f"session:{session}#Q1", "keep": True}
        yield "mark", request(daemon, agent, "POST", "/qa/mark", mark)
        yield "file", request(daemon, agent, "GET", f"/files/session%3A{name}")
        yield "lines", request(daemon, agent, "GET", f"/sessions/lines?citation={name}%23Q1&context=5")
        if session not in own:
            # its own session would take no more turns
            body = {"session": session, "sessionKey": key, "remember": False}
            yield "remember", request(daemon, agent, "POST", "/sessions/remember", body)
    for other in AGENTS:
        yield "transcript", request(daemon, agent, "GET", f"/files/sessions/{other}/0.jsonl")
        cited = quote(f"sessions/{other}/0.jsonl#L1", safe="")
        yield "lines of a transcript", request(daemon, agent, "GET", f"/sessions/lines?citation={cited}")
        if other != agent:
            body = {"session": f"sessions/{other}/0.jsonl", "sessionKey": key, "remember": False}
            yield "remember a transcript", request(daemon, agent, "POST", "/sessions/remember", body)
        within = {"query": f"path:sessions/{other} {question}", "explain": True}
        yield "path", request(daemon, agent, "POST", "/search", within)


def own_sessions(daemon: RunningDaemon, agent: str) -> set[str]:
    """Return the sessions of an agent."""
    return {
        session["session"]
        for session in json.loads(request(daemon, agent, "GET", f"/qa/sessions?limit={SESSIONS_MAX}"))["sessions"]
    }


@contextmanager
def followed_events(daemon: RunningDaemon, agent: str) -> Iterator[Callable[[], str]]:
    """Follow the events on an agent's socket; yield a function that returns all of them as text."""
    socket = socket_module.socket(socket_module.AF_UNIX, socket_module.SOCK_STREAM)
    received = bytearray()

    def follow() -> None:
        while chunk := socket.recv(1 << 16):
            received.extend(chunk)

    with socket:
        socket.connect(str(daemon.socket.with_name(f"{agent}.sock")))
        socket.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        following = threading.Thread(target=follow)
        following.start()
        try:
            eventually(lambda: b": connected" in received)
            yield lambda: received.decode()
        finally:
            socket.shutdown(socket_module.SHUT_RDWR)
            following.join(60)


def all_sessions(daemon: RunningDaemon) -> list[str]:
    """Return all sessions of all agents; an agent is not told of those of others, but may guess them."""
    return sorted(path.stem for path in (daemon.workspace / "memory" / "sessions").glob("[!.]*.json"))


def without_time(reply: str) -> str:
    return re.sub(r'"tookMs": [0-9.]+', "", reply)


@settings(
    max_examples=whole_or(2, 40),
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    asker=st.sampled_from(AGENTS),
    said=st.fixed_dictionaries(dict.fromkeys(AGENTS, STEMS)),
    named=st.fixed_dictionaries({agent: st.sampled_from([None, *NAMES]) for agent in AGENTS}),
    usual=st.lists(st.sampled_from(DEFAULT), min_size=1, max_size=4),
    places=SIGN_PLACES,
    data=st.data(),
)
def test_answers_hold_no_word_of_another_agents_conversation(
    daemon: RunningDaemon,
    asker: str,
    said: Mapping[str, Sequence[str]],
    named: Mapping[str, str | None],
    usual: Sequence[str],
    places: Sequence[int],
    data: st.DataObject,
) -> None:
    words = {agent: [word_of(agent, stem) for stem in stems] for agent, stems in said.items()}
    signs = {agent: "".join(SIGNS[agent][at] for at in places) for agent in AGENTS}
    others = [agent for agent in AGENTS if agent != asker]
    plain, guess = " ".join(usual), data.draw(st.sampled_from([word for other in others for word in words[other]]))

    def speak(agent: str) -> None:
        stored = []
        for first, second in zip(words[agent], [*words[agent][1:], words[agent][0]], strict=True):
            question, answer = f"{first} {plain} {signs[agent]}?", f"{second} repaired the boiler, {signs[agent]}"
            if is_stored(daemon, agent, question, answer, named[agent]):
                stored.append(first)
        written = word_of(agent, said[agent][0]) + "log"
        write_transcript(daemon, agent, f"{written} {plain} {signs[agent]}")
        eventually(lambda: all(is_found(daemon, agent, word) for word in (*stored, written)))

    speak(asker)
    sessions, mixed = sorted({*all_sessions(daemon), *NAMES}), f"{guess} {plain} {signs[others[0]]}"
    before = list(all_requests(daemon, asker, mixed, sessions))
    with followed_events(daemon, asker) as received:
        for other in others:
            speak(other)
        after = list(all_requests(daemon, asker, mixed, sessions))
        happened = received()
    for (way, then), (_, now) in zip(before, after, strict=True):
        assert way in WITHOUT_QUESTION or without_time(then) == without_time(now), way
    unsaid = [word for other in others for word in words[other]] + [sign for other in others for sign in signs[other]]
    for way, answer in all_requests(daemon, asker, plain, all_sessions(daemon)):
        assert not [word for word in unsaid if word in answer], way
    assert not [word for word in unsaid if word in happened]
