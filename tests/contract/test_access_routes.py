"""One gate before every route that returns memory text: who is let in, and that nobody passes beside it."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.api import events, files, search, sessions, status, sync
from memoryd.api.access import Gate
from memoryd.api.agents import AgentTable
from memoryd.api.models import HealthReply
from memoryd.api.status import StatusReply
from memoryd.config.limits import Limits
from memoryd.domain.access import AccessRules
from memoryd.wire import ErrorCode
from tests.contract.two_agents import DIRECT, GROUP, MARKERS, SECRETS, prepare, socket_of
from tests.daemon import RunningDaemon, eventually

WITHOUT_TEXT = {"/v1/health"}
"""Routes that say nothing of any agent."""
ROUTES = ("search", "files", "events", "sessions")
PATIENCE = 20.0


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    with prepare(tmp_path_factory.mktemp("two"), starter_model) as running:
        running.client().sync(wait="embedded")
        eventually(lambda: all(agent["embedded"] for agent in running.client().status()["agents"]), seconds=PATIENCE)
        yield running


def ask(daemon: RunningDaemon, socket: str, route: str, query: str = "lantern boat", **asked: str) -> httpx.Response:
    """Ask a route on a socket; a stream of events is left after its first bytes."""
    transport = httpx.HTTPTransport(uds=str(socket_of(daemon.home, socket)))
    with httpx.Client(transport=transport, base_url="http://memoryd", timeout=PATIENCE) as client:
        if route == "search":
            return client.post("/v1/search", json={"query": query, "maxResults": 50, "explain": True, **asked})
        if route == "files":
            return client.get("/v1/files/MEMORY.md", params=asked)
        if route == "sessions":
            return client.post("/v1/sessions/start", json=asked)
        with client.stream("GET", "/v1/events", params=asked) as reply:
            if reply.status_code != httpx.codes.OK:
                reply.read()
            return reply


def outcome(reply: httpx.Response) -> str:
    return "ok" if reply.is_success else str(reply.json()["error"]["code"])


MATRIX = [
    ("owner", {}, "ok"),
    ("owner", {"agent": "beta"}, "ok"),
    ("owner", {"sessionKey": DIRECT.format("alpha")}, "ok"),
    ("owner", {"sessionKey": GROUP.format("alpha")}, "denied"),
    ("owner", {"sessionKey": ""}, "denied"),
    ("owner", {"sessionKey": "garbage"}, "denied"),
    ("owner", {"sessionKey": "agent:alpha:subagent:x"}, "denied"),
    ("owner", {"agent": "beta", "sessionKey": DIRECT.format("alpha")}, "denied"),
    ("owner", {"agent": "beta", "sessionKey": "telegram:direct:42"}, "ok"),
    ("owner", {"agent": "nobody"}, "unknown_agent"),
    ("beta", {}, "denied"),
    ("beta", {"sessionKey": DIRECT.format("beta")}, "ok"),
    ("beta", {"agent": "BETA", "sessionKey": "telegram:direct:42"}, "ok"),
    ("beta", {"sessionKey": DIRECT.format("alpha")}, "denied"),
    ("beta", {"agent": "alpha", "sessionKey": DIRECT.format("beta")}, "denied"),
    ("beta", {"agent": "nobody", "sessionKey": DIRECT.format("beta")}, "denied"),
    ("beta", {"sessionKey": GROUP.format("beta")}, "denied"),
    ("beta", {"sessionKey": "agent:beta:subagent:x"}, "denied"),
    ("beta-fixed", {}, "ok"),
    ("beta-fixed", {"sessionKey": DIRECT.format("beta")}, "ok"),
    ("beta-fixed", {"sessionKey": "agent:beta:other"}, "denied"),
    ("beta-fixed", {"agent": "alpha"}, "denied"),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("socket", "asked", "expected"), MATRIX, ids=lambda value: str(value))
def test_f145_matrix_of_sockets_and_keys(
    daemon: RunningDaemon, route: str, socket: str, asked: dict[str, str], expected: str
) -> None:
    reply = ask(daemon, socket, route, **asked)
    if route == "sessions" and "sessionKey" not in asked:
        assert outcome(reply) == "invalid_request", "a session has a key"
        return
    assert outcome(reply) == expected
    if expected == "denied":
        assert reply.status_code == httpx.codes.FORBIDDEN
        assert not any(marker in reply.text for marker in itertools.chain(*MARKERS.values()))


def test_denial_is_logged_with_channel_and_chat_type_and_without_the_key(daemon: RunningDaemon) -> None:
    ask(daemon, "owner", "search", sessionKey="agent:alpha:telegram:group:0049301234567")
    line = next(line for line in reversed(daemon.log.read_text().splitlines()) if "access denied" in line)
    assert "telegram" in line
    assert "group" in line
    assert "0049301234567" not in daemon.log.read_text()


def test_key_of_an_agent_names_it(daemon: RunningDaemon) -> None:
    hits = ask(daemon, "owner", "search", sessionKey=DIRECT.format("beta")).json()["results"]
    assert hits
    assert all("ultramarin" in hit["snippet"] for hit in hits)


def test_socket_of_an_agent_shows_that_agent_alone(daemon: RunningDaemon) -> None:
    transport = httpx.HTTPTransport(uds=str(socket_of(daemon.home, "beta")))
    with httpx.Client(transport=transport, base_url="http://memoryd", timeout=PATIENCE) as client:
        seen = client.get("/v1/status")
        assert [agent["id"] for agent in seen.json()["agents"]] == ["beta"]
        assert "alpha" not in seen.text
        for path in ("/v1/sync", "/v1/reindex"):
            assert client.post(path, json={"agent": "alpha"}).json()["error"]["code"] == "denied"
            assert client.post(path, json={}).is_success


def test_citations_are_in_the_text_of_direct_chats_only(tmp_path: Path) -> None:
    with prepare(tmp_path, None, {"default": "allow", "rules": []}) as running:
        running.client().sync()
        for asked, resolved in (({}, "on"), ({"sessionKey": DIRECT.format("alpha")}, "on")):
            reply = ask(running, "owner", "search", "zinnober", **asked).json()
            assert reply["citations"] == resolved
            assert reply["results"][0]["snippet"].endswith(f"\n\nSource: {reply['results'][0]['citation']}")
        reply = ask(running, "owner", "search", "zinnober", sessionKey=GROUP.format("alpha")).json()
        assert reply["citations"] == "off"
        assert reply["results"][0]["path"]
        assert "citation" not in reply["results"][0]
        assert "Source:" not in str(reply["results"])


def test_owner_needs_a_key_where_the_scope_wants_one(tmp_path: Path) -> None:
    with prepare(tmp_path, None, {"requireSessionKey": True}, citations="off") as running:
        for route in ROUTES:
            assert outcome(ask(running, "owner", route)) == ("invalid_request" if route == "sessions" else "denied")
            assert outcome(ask(running, "owner", route, sessionKey=DIRECT.format("alpha"))) == "ok"
        running.client().sync()
        reply = ask(running, "owner", "search", "zinnober", sessionKey=DIRECT.format("alpha")).json()
        assert (reply["citations"], "citation" in reply["results"][0]) == ("off", False)
        assert "Source:" not in reply["results"][0]["snippet"]


WORDS = [*itertools.chain(*MARKERS.values()), "lantern", "boat", "sea", "wet day", "Core", "red lamp", "blue ship"]
FOREIGN = {"alpha": MARKERS["beta"], "beta": MARKERS["alpha"]}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    agent=st.sampled_from(sorted(SECRETS)),
    socket=st.sampled_from(["owner", "alpha", "beta", "alpha-fixed", "beta-fixed"]),
    named=st.sampled_from([None, "alpha", "beta"]),
    key=st.sampled_from([None, DIRECT.format("alpha"), DIRECT.format("beta"), GROUP.format("beta"), "main", "x"]),
    path=st.sampled_from(["MEMORY.md", "../beta/MEMORY.md", "../alpha/memory/2026-11-18.md", "memory/2026-11-18.md"]),
)
def test_f145_no_word_of_one_agent_surfaces_in_another(
    daemon: RunningDaemon,
    words: list[str],
    agent: str,
    socket: str,
    named: str | None,
    key: str | None,
    path: str,
) -> None:
    asked = {name: value for name, value in (("agent", named), ("sessionKey", key)) if value is not None}
    query = " ".join(words)
    transport = httpx.HTTPTransport(uds=str(socket_of(daemon.home, socket)))
    with httpx.Client(transport=transport, base_url="http://memoryd", timeout=PATIENCE) as client:
        found = client.post("/v1/search", json={"query": query, "maxResults": 50, "explain": True, **asked})
        read = client.get(f"/v1/files/{path.replace('/', '%2f')}", params=asked)
    # the agent that the request may mean: its socket's, the named one, its key's, the default
    of_key = key.split(":")[1] if key and key.startswith("agent:") else None
    meant = (None if socket == "owner" else socket.removesuffix("-fixed")) or named or of_key or "alpha"
    for reply in (found, read):
        if not reply.is_success:
            assert reply.json()["error"]["code"] in (ErrorCode.DENIED, ErrorCode.NOT_FOUND)
        texts = reply.text if reply is read else str((reply.json().get("results"), reply.json().get("misses")))
        shown = texts if reply.is_success else ""
        assert not any(marker in shown for marker in FOREIGN[meant])
    if found.is_success and {"lantern", "boat"} & set(words):
        assert found.json()["mode"] == "hybrid"


def _dependencies(dependant: Dependant) -> Iterator[object]:
    for below in dependant.dependencies:
        yield below.call
        yield from _dependencies(below)


def _routes(gate: Gate) -> list[APIRoute]:
    """Return the routes of every router that the daemon includes."""
    table, limits = AgentTable([]), Limits()

    async def no_status() -> StatusReply:
        raise NotImplementedError

    routers = [
        search.router(table, gate, limits),
        files.router(table, gate, limits),
        sync.router(table, gate),
        sessions.router(table, gate),
        events.router(events.EventBus(), gate),
        status.router(health=lambda: HealthReply(ok=True, ready=True), status=no_status, gate=gate),
    ]
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def test_every_route_that_is_not_listed_depends_on_the_gate() -> None:
    gate = Gate(rules=AccessRules(), agents=["main"], bindings={})
    guards = {gate.caller, gate.from_query}
    beside = {route.path for route in _routes(gate) if not guards & set(_dependencies(route.dependant))}
    assert beside == WITHOUT_TEXT


def test_no_route_of_the_daemon_is_missing_above(daemon: RunningDaemon) -> None:
    transport = httpx.HTTPTransport(uds=str(socket_of(daemon.home, "owner")))
    with httpx.Client(transport=transport, base_url="http://memoryd") as client:
        described = client.get("/openapi.json").json()["paths"]
    known = _routes(Gate(rules=AccessRules(), agents=["main"], bindings={}))
    assert set(described) == {route.path_format for route in known}
