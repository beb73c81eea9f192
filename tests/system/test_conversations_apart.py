"""Agents on one workspace, through their own sockets: no word of one's conversations reaches another, by any way.

The words are random, and so are the questions. A question may hold words of others, since one may guess them: then the
answer must be the one that was given before they said them, to the last digit of a score.
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
from tests.system.over_socket import send
from tests.waiting import eventually

AGENTS = ("ada", "ben", "cem")
SIGNS = {"ada": "海边的木船", "ben": "修好了屋顶", "cem": "今天和文起"}
"""Words of a script without spaces are made of each agent's own signs."""
DEFAULT = ("boiler", "repaired", "the", "who", "because", "config", "discord", "error")
NAMES = ("shared", "monday")
"""Sessions that any agent may mean."""

UNASKED = ("start", "/qa/sessions", "/qa/topics", "/qa/stats", "/status", "/sessions")
"""Ways on which no question can be asked; they tell times and sizes."""
LETTERS = st.text(st.sampled_from("bcdfghjklmnpqrstvwxz"), min_size=6, max_size=9)
STEMS = st.lists(LETTERS, min_size=2, max_size=6, unique=True)
SIGN_PLACES = st.lists(st.integers(0, 4), min_size=2, max_size=4)
"""Of a question in another script."""


def word_of(agent: str, stem: str) -> str:
    """Return a word that this agent alone says; of none, one that nobody says."""
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
        bound: object = {"path": str(home / "run" / f"{agent}.sock"), "sessionKey": f"agent:{agent}:main"}
        listed.append({"id": agent, "sockets": [bound]})
    # one that has an index of notes of its own, too
    listed[2]["memorySearch"] = {"query": {"hybrid": {"candidateMultiplier": 6}}}
    search = {
        "provider": "none",
        "sources": ["memory", "sessions"],
        "experimental": {"sessionMemory": True},
        "sync": {"sessions": {"deltaBytes": 0, "deltaMessages": 0}},
    }
    agents = {"defaults": {"workspace": str(workspace), "memorySearch": search}, "list": listed}
    config = home / "config.json5"
    config.write_text(json.dumps({"agents": agents, "memory": {"sessions": {"folders": folders}}}))
    config.chmod(0o600)
    with RunningDaemon(home, config, workspace) as running:
        running.client().sync()
        yield running


def asked(daemon: RunningDaemon, agent: str, method: str, path: str, body: object = None) -> str:
    """Return what an agent's socket answers, an error too, as text."""
    socket = daemon.socket.with_name(f"{agent}.sock")
    return json.dumps(send(socket, method, f"/v1{path}", body).json, ensure_ascii=False)


def is_kept(daemon: RunningDaemon, agent: str, question: str, answer: str, session: str | None) -> bool:
    """Say something; return whether it was stored, which it is not in a session that is another agent's."""
    body = {"q": question, "a": answer, "significance": 0.9, "topicTags": [question.split()[0]], "sessionId": session}
    return '"citation": "session:' in asked(daemon, agent, "POST", "/qa/turns", body)


def write_down(daemon: RunningDaemon, agent: str, said: str) -> None:
    """Have an agent's program write a transcript."""
    record = {"type": "user", "message": {"role": "user", "content": said}, "timestamp": "2026-11-01T10:00:00Z"}
    folder = daemon.home / "talks" / agent
    (folder / f"{len(list(folder.iterdir()))}.jsonl").write_text(json.dumps(record) + "\n")


def found(daemon: RunningDaemon, agent: str, query: str, **more: object) -> Any:
    return json.loads(asked(daemon, agent, "POST", "/search", {"query": query, **more}))


def is_found(daemon: RunningDaemon, agent: str, word: str) -> bool:
    reply = found(daemon, agent, word, sources=["sessions"])
    return bool(reply["results"]) and reply["health"]["arms"]["conversations"]["state"] == "ok"


def every_way(daemon: RunningDaemon, agent: str, question: str, sessions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Ask all that an agent may ask, with this question wherever one can stand; yield the way and the answer."""
    for sources in (["sessions"], ["memory"], ["memory", "sessions"], None):
        for more in ({}, {"explain": True, "maxResults": 50}, {"explain": True, "maxResults": 1, "minScore": 0.99}):
            body = {"query": question, "sources": sources, **more}
            yield f"search {sources} {more}", asked(daemon, agent, "POST", "/search", body)
    for shape in ('"{}"', "source:sessions {}", "path:session:shared {}", "{}log", "boiler -{}", "path:{} boiler"):
        query = shape.format(question.split()[0])
        yield shape, asked(daemon, agent, "POST", "/search", {"query": query, "explain": True, "sources": ["sessions"]})
    key = f"agent:{agent}:main"
    contexts: list[dict[str, str]] = [{"message": question, "sessionKey": key}, {"message": question}, {}]
    for asking in contexts:
        yield f"context {asking}", asked(daemon, agent, "POST", "/qa/context", asking)
    yield "start", asked(daemon, agent, "POST", "/sessions/start", {"sessionKey": key})
    for path in ("/qa/sessions", "/qa/topics", "/qa/stats", "/status", "/sessions"):
        yield path, asked(daemon, agent, "GET", path)
    own = own_sessions(daemon, agent)
    for session in sessions:
        name, word = quote(session, safe=""), quote(question.split()[0], safe="")
        yield "turns", asked(daemon, agent, "GET", f"/qa/sessions/{name}?grep={word}")
        yield "context of", asked(daemon, agent, "POST", "/qa/context", {"sessionId": session})
        mark = {"citation": f"session:{session}#Q1", "keep": True}
        yield "mark", asked(daemon, agent, "POST", "/qa/mark", mark)
        yield "file", asked(daemon, agent, "GET", f"/files/session%3A{name}")
        yield "lines", asked(daemon, agent, "GET", f"/sessions/lines?citation={name}%23Q1&context=5")
        if session not in own:
            # its own would take no turn any more
            body = {"session": session, "sessionKey": key, "remember": False}
            yield "remember", asked(daemon, agent, "POST", "/sessions/remember", body)
    for other in AGENTS:
        yield "transcript", asked(daemon, agent, "GET", f"/files/sessions/{other}/0.jsonl")
        cited = quote(f"sessions/{other}/0.jsonl#L1", safe="")
        yield "lines of a transcript", asked(daemon, agent, "GET", f"/sessions/lines?citation={cited}")
        if other != agent:
            body = {"session": f"sessions/{other}/0.jsonl", "sessionKey": key, "remember": False}
            yield "remember a transcript", asked(daemon, agent, "POST", "/sessions/remember", body)
        within = {"query": f"path:sessions/{other} {question}", "explain": True}
        yield "path", asked(daemon, agent, "POST", "/search", within)


def own_sessions(daemon: RunningDaemon, agent: str) -> set[str]:
    """Return the sessions of an agent."""
    return {
        one["session"]
        for one in json.loads(asked(daemon, agent, "GET", f"/qa/sessions?limit={SESSIONS_MAX}"))["sessions"]
    }


@contextmanager
def heard_by(daemon: RunningDaemon, agent: str) -> Iterator[Callable[[], str]]:
    """Follow what happens on an agent's socket; what is given tells all of it as text."""
    socket = socket_module.socket(socket_module.AF_UNIX, socket_module.SOCK_STREAM)
    heard = bytearray()

    def follow() -> None:
        while chunk := socket.recv(1 << 16):
            heard.extend(chunk)

    with socket:
        socket.connect(str(daemon.socket.with_name(f"{agent}.sock")))
        socket.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        following = threading.Thread(target=follow)
        following.start()
        try:
            eventually(lambda: b": connected" in heard)
            yield lambda: heard.decode()
        finally:
            socket.shutdown(socket_module.SHUT_RDWR)
            following.join(60)


def told_sessions(daemon: RunningDaemon) -> list[str]:
    """Return all sessions that there are; agents are not told those of others, but may guess."""
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
def test_no_word_of_one_agents_conversation_in_anothers_answers(
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
        kept = []
        for first, second in zip(words[agent], [*words[agent][1:], words[agent][0]], strict=True):
            question, answer = f"{first} {plain} {signs[agent]}?", f"{second} repaired the boiler, {signs[agent]}"
            if is_kept(daemon, agent, question, answer, named[agent]):
                kept.append(first)
        written = word_of(agent, said[agent][0]) + "log"
        write_down(daemon, agent, f"{written} {plain} {signs[agent]}")
        eventually(lambda: all(is_found(daemon, agent, word) for word in (*kept, written)))

    speak(asker)
    sessions, mixed = sorted({*told_sessions(daemon), *NAMES}), f"{guess} {plain} {signs[others[0]]}"
    before = list(every_way(daemon, asker, mixed, sessions))
    with heard_by(daemon, asker) as heard:
        for other in others:
            speak(other)
        after = list(every_way(daemon, asker, mixed, sessions))
        happened = heard()
    for (way, then), (_, now) in zip(before, after, strict=True):
        assert way in UNASKED or without_time(then) == without_time(now), way
    unsaid = [word for other in others for word in words[other]] + [sign for other in others for sign in signs[other]]
    for way, answer in every_way(daemon, asker, plain, told_sessions(daemon)):
        assert not [word for word in unsaid if word in answer], way
    assert not [word for word in unsaid if word in happened]
