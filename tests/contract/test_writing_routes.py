"""Every call that writes into a workspace is denied if memory is read-only, and to other agents.

A new row of the table must be added here: to `WRITES` with its body, or to `READS`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from memoryd.api.application import TABLE
from memoryd.api.call import Transport
from memoryd.wire import API
from tests.contract.test_memories_apart import started
from tests.daemon import RunningDaemon
from tests.teams import team_of
from tests.waiting import SECONDS

Call = tuple[str, str]
WRITES: Mapping[Call, list[dict[str, object]]] = {
    ("POST", "/sessions/forget"): [{"session": "s1"}],
    ("POST", "/sessions/remember"): [{"session": "s1", "remember": False}],
    ("POST", "/qa/turns"): [{"q": "Which lamp?", "a": "The red one.", "sessionId": "s1"}],
    ("POST", "/qa/mark"): [{"citation": "session:s1#Q1", "keep": False}],
    ("POST", "/turns"): [{"role": "user", "text": text} for text in ("/remember tea", "/compact")],
    ("POST", "/capture"): [{"text": "I live in Graz."}],
    ("POST", "/retain"): [{"text": "W: tea"}, {"text": "W: tea", "replaces": "lantern"}],
    ("POST", "/memories"): [{"text": "tea"}],
    ("POST", "/memories/import"): [{"memories": [{"text": "tea"}], "run": "0" * 32}],
    ("DELETE", "/memories/{memory}"): [{}, {"dryRun": True}],
    ("POST", "/memories/{memory}/pin"): [{}],
    ("POST", "/memories/{memory}/unpin"): [{}],
    ("POST", "/memories/{memory}/importance"): [{"importance": 0.5}],
    ("POST", "/memories/{memory}/replace"): [{"text": "tea"}, {"text": "tea", "inPlace": True}],
    ("POST", "/forget"): [{"target": "lantern"}, {"target": "lantern", "dryRun": True}],
    ("POST", "/lines/replace"): [{"citation": "MEMORY.md#L1", "old": "lantern", "new": "tea"}],
    ("POST", "/conflicts/settle"): [{"path": "memory/x (conflicted copy).md", "keep": "copy"}],
    ("POST", "/core/append"): [{"text": "- tea"}],
    ("POST", "/core/replace"): [{"old": "lantern", "new": "tea"}],
    ("POST", "/core/insert"): [{"text": "- tea", "after": "# Core"}],
    ("POST", "/entities/merge"): [{"name": "Zinnober", "into": "Ultramarin"}],
    ("POST", "/entities/split"): [{"alias": "Zinnober"}, {"alias": "Zinnober", "dryRun": True}],
    ("POST", "/undo"): [{"id": 1}, {"id": 1, "dryRun": True}],
    ("POST", "/reflect"): [{}],
    ("POST", "/disagreements/{disagreement}"): [{"keep": "newer"}, {"keep": "older"}, {"keep": "both"}],
    ("POST", "/proposals/{proposal}/accept"): [{}],
    ("POST", "/proposals/{proposal}/reject"): [{}],
}
"""Bodies with which each call writes; the rows of the port are taken from the table."""
ON_PORT = [row for row in TABLE if row.served is Transport.PORT and row.method != "GET"]
BOTH = (Transport.EVERYWHERE, Transport.PORT)
READS: Mapping[str, dict[str, object]] = {
    "/search": {"query": "lantern"},
    "/sessions/start": {"sessionKey": "agent:c:main"},
    "/sessions/sync": {"wait": True},
    "/qa/context": {"message": "lantern"},
    "/recall": {"query": "lantern"},
    "/memories/search": {"query": "lantern"},
    "/opinions/replay": {},
    "/told": {"number": 1, "name": "MEMORY.md", "judgement": "noise"},
    "/sync": {"wait": "indexed"},
    "/reindex": {},
    "/reload": {},
    "/page": {},
    "/team/promote": {"target": "M209"},
    "/team/revoke": {"target": "teapot"},
    "/team/sync": {},
}
"""Calls by POST that change no workspace."""


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon made read-only after a conversation and a change that could be undone."""
    home = tmp_path_factory.mktemp("read-only")
    with started(home) as running:
        (home / "own" / "MEMORY.md").write_text("# Core\n\nThe lantern hangs beside a door.\n")
        running.client().sync()
        running.client().retain("W @Karmesin: The teapot is cracked.", agent="c")
        running.client().retain("W @Karmesin: The office printer is a Brother HL-2350.", agent="c")
        running.client().retain("W(from=agent) @Karmesin: The office printer is an HP M209.", agent="c")
        running.client().turn("Which lantern?", session_key="agent:c:main", agent="c")
        assert running.client().told(agent="c")["turns"]
        running.client().add_turn("Which lamp?", "The red one.", session="s1", agent="c", significance=1.0)
        running.stop()
        given = json.loads(running.config.read_text())
        team = team_of(running.state, home, "ana", agent="c")
        running.config.write_text(json.dumps({**given, "memory": {"readOnly": True}, "team": team}))
        running.start()
        running.client().sync()
        assert running.client().promote_memory("teapot", agent="c")["sent"]
        yield running


@pytest.fixture(scope="module")
def names(read_only: RunningDaemon) -> Mapping[str, str]:
    """Values for the placeholders of paths; all but the proposal exist."""
    client = read_only.client()
    memory = client.memories(agent="c")["memories"][0]["id"]
    (disagreement,) = client.disagreements(agent="c")["disagreements"]
    return {"memory": memory, "disagreement": disagreement["id"], "proposal": "0123456789ab"}


def bytes_of(home: Path) -> dict[str, bytes]:
    """Return the content of both workspaces."""
    files = [path for name in ("shared", "own") for path in (home / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def asked(client: httpx.Client, call: Call, names: Mapping[str, str], body: Mapping[str, object]) -> httpx.Response:
    """Make a call; without a body, the parameters are in the URL."""
    method, path = call
    url = path.format(**names)
    return client.delete(url, params=body) if method == "DELETE" else client.request(method, url, json=body)  # type: ignore[arg-type]  # a table of values


def on_socket(daemon: RunningDaemon, name: str) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=str(daemon.home / "run" / f"{name}.sock"), verify=False)
    return httpx.Client(transport=transport, base_url=f"http://memoryd{API}", timeout=SECONDS)


def on_port(daemon: RunningDaemon) -> httpx.Client:
    token = (daemon.state / "http-token").read_text().strip()
    port = daemon.client().status()["http"]
    assert port is not None
    return httpx.Client(
        base_url=f"http://{port['address']}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=SECONDS,
        verify=False,
    )


def test_every_row_of_the_table_is_listed() -> None:
    changing = {(row.method, row.path.removeprefix(API)) for row in TABLE if row.method != "GET"}
    assert changing - {(row.method, row.path) for row in ON_PORT} == {*WRITES, *(("POST", path) for path in READS)}


@pytest.mark.parametrize("call", sorted(WRITES), ids=" ".join)
def test_owner_cannot_write_if_memory_is_read_only(
    read_only: RunningDaemon, names: Mapping[str, str], call: Call
) -> None:
    before = bytes_of(read_only.home)
    with on_socket(read_only, "memoryd") as owner:
        for body in WRITES[call]:
            reply = asked(owner, call, names, {"agent": "c", **body})
            assert (reply.status_code, reply.json()["error"]["code"]) == (httpx.codes.FORBIDDEN, "denied"), reply.text
            assert "readOnly" in reply.text
    assert bytes_of(read_only.home) == before


def test_port_cannot_write_if_memory_is_read_only(read_only: RunningDaemon, names: Mapping[str, str]) -> None:
    """Neither by the port's own paths nor by those of the sockets."""
    before, everywhere = (
        bytes_of(read_only.home),
        {(row.method, row.path) for row in TABLE if row.served in BOTH},
    )
    calls = {(method, f"{API}{path}"): bodies for (method, path), bodies in WRITES.items()}
    calls |= {(row.method, row.path): [{"importance": 0.5} if "importance" in row.path else {}] for row in ON_PORT}
    with on_port(read_only) as client:
        for call, bodies in calls.items():
            for body in bodies:
                reply = asked(client, call, names, {"agent": "c", **body})
                assert (call, reply.json()["error"]["code"]) == (call, "denied")
                assert "readOnly" in reply.text or call not in everywhere
    assert bytes_of(read_only.home) == before


@pytest.mark.parametrize("call", sorted(WRITES), ids=" ".join)
def test_f145_another_agent_cannot_write(read_only: RunningDaemon, names: Mapping[str, str], call: Call) -> None:
    """On its own socket, with its own key or another agent's, it is denied and learns nothing of that agent."""
    before = bytes_of(read_only.home)
    with on_socket(read_only, "a") as stranger:
        for body in WRITES[call]:
            for who in ({"sessionKey": "agent:c:main"}, {"agent": "c", "sessionKey": "agent:a:main"}, {"agent": "c"}):
                reply = asked(stranger, call, names, {**body, **who})
                assert (reply.status_code, reply.json()["error"]["code"]) == (httpx.codes.FORBIDDEN, "denied")
                assert not any(word in reply.text for word in ("karmesin", "teapot", "lamp", "readOnly"))
    assert bytes_of(read_only.home) == before


@pytest.mark.parametrize("path", sorted(READS))
def test_reading_calls_change_no_byte(read_only: RunningDaemon, path: str) -> None:
    before = bytes_of(read_only.home)
    with on_socket(read_only, "memoryd") as owner:
        reply = owner.post(path, json={"agent": "c", **READS[path]})
    assert reply.is_success, reply.text
    assert bytes_of(read_only.home) == before


def test_message_is_answered_and_not_stored(read_only: RunningDaemon) -> None:
    before = bytes_of(read_only.home)
    with on_socket(read_only, "memoryd") as owner:
        reply = owner.post("/turns", json={"role": "user", "text": "My name is Ann.", "sessionKey": "agent:c:main"})
    assert (reply.json()["remembered"], reply.json()["capture"]) == (False, "off")
    assert bytes_of(read_only.home) == before
