"""Access rules of every route, for each socket and session key; no route bypasses them."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from memoryd.api.access import AccessPolicy
from memoryd.api.application import TABLE, Application
from memoryd.api.call import Row, Transport, call
from memoryd.api.http.sockets import Peer
from memoryd.domain.access import AccessRules, Who
from memoryd.errors import RequestError
from memoryd.wire import ErrorCode
from tests.contract.two_agents import DIRECT, GROUP, MARKERS, SECRETS, client_of, prepare
from tests.daemon import RunningDaemon
from tests.integration.serving import services
from tests.sweeps import whole_or
from tests.waiting import eventually

ON_PORT = [row for row in TABLE if row.served is Transport.PORT]
POSTED: dict[str, dict[str, object]] = {
    "qa/turns": {"q": "Which lantern?", "a": "The one beside the boat.", "sessionId": "lanterns"},
    "qa/context": {"message": "lantern boat"},
    "qa/mark": {"citation": "session:lanterns#Q999", "keep": False},
    "sessions/remember": {"session": "nowhere", "remember": False},
    "retain": {"text": "W @Harbour: the pier was painted in spring"},
    "turns": {"role": "user", "text": "Where is the lantern of the boat?"},
    "opinions/replay": {},
    "memories/search": {"query": "lantern boat", "top_k": 50},
    "memories/00000000/pin": {},
    "memories/00000000/unpin": {},
    "memories/00000000/importance": {"importance": 0.5},
    "memories/00000000/replace": {"text": "the pier was painted in spring"},
}
QA_FETCHED = ("qa/sessions", "qa/sessions/lanterns", "qa/topics", "qa/stats")
FETCHED = {
    "sessions/list": {},
    "sessions/lines": {"citation": "session:lanterns#Q1"},
    "verify": {"citation": "MEMORY.md#L1"},
    "opinions": {},
    "opinions/00000000": {},
    "entities": {},
    "entities/nobody": {},
    "memories": {},
    "memories/stats": {},
    "memories/decay": {},
    "memories/00000000/why": {},
    "memories/00000000": {},
}
"""`sessions/list` is `GET /v1/sessions`; plain `sessions` means beginning one here."""
RECALLED = {"query": "lantern boat", "k": 50, "explain": True, "format": "bundle"}
ROUTES = ("search", "recall", "files", "events", "sessions", *POSTED, *QA_FETCHED, *FETCHED)
MAY_BE_MISSING = (
    "qa/mark",
    "qa/sessions/lanterns",
    "sessions/lines",
    "sessions/remember",
    "opinions/00000000",
    "entities/nobody",
    "memories/00000000",
    "memories/00000000/why",
    "memories/00000000/pin",
    "memories/00000000/unpin",
    "memories/00000000/importance",
    "memories/00000000/replace",
)
"""Routes that may answer `not_found`."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[RunningDaemon]:
    with prepare(tmp_path_factory.mktemp("two"), starter_model) as running:
        running.client().sync(wait="embedded")
        eventually(lambda: all(agent["embedded"] for agent in running.client().status()["agents"]))
        yield running


def ask(daemon: RunningDaemon, socket: str, route: str, query: str = "lantern boat", **asked: str) -> httpx.Response:
    """Call a route on a socket; a stream of events is closed after its first bytes."""
    with client_of(daemon, socket) as client:
        if route == "search":
            return client.post("/v1/search", json={"query": query, "maxResults": 50, "explain": True, **asked})
        if route == "recall":
            return client.post("/v1/recall", json={**RECALLED, **asked})
        if route == "files":
            return client.get("/v1/files/MEMORY.md", params=asked)
        if route == "sessions":
            return client.post("/v1/sessions/start", json=asked)
        if route in POSTED:
            body: dict[str, object] = {**POSTED[route], **asked}
            if "sessionKey" in asked or socket == "beta-fixed":
                # each key has its own session
                body.pop("sessionId", None)
            return client.post(f"/v1/{route}", json=body)
        if route in FETCHED:
            return client.get(f"/v1/{route.removesuffix('/list')}", params={**FETCHED[route], **asked})
        if route in QA_FETCHED:
            return client.get(f"/v1/{route}", params=asked)
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
    ("owner", {"agent": "BETA", "sessionKey": " Agent:Beta:MAIN "}, "ok"),
    ("owner", {"sessionKey": "agent:ghost:main"}, "denied"),
    ("owner", {"agent": "alpha", "sessionKey": "agent:ghost:main"}, "denied"),
    ("owner", {"agent": "alpha", "sessionKey": "agent:ghost:telegram:direct:42"}, "denied"),
    ("owner", {"agent": "alpha", "sessionKey": "agent:ghost:subagent:x"}, "denied"),
    ("beta", {"sessionKey": "agent:ghost:main"}, "denied"),
    ("beta-fixed", {"sessionKey": "agent:ghost:main"}, "denied"),
    ("beta", {}, "denied"),
    ("beta", {"sessionKey": DIRECT.format("beta")}, "ok"),
    ("beta", {"agent": "BETA", "sessionKey": "telegram:direct:42"}, "ok"),
    ("beta", {"sessionKey": DIRECT.format("alpha")}, "denied"),
    ("beta", {"agent": "alpha", "sessionKey": DIRECT.format("beta")}, "denied"),
    ("beta", {"agent": "nobody", "sessionKey": DIRECT.format("beta")}, "denied"),
    ("beta", {"sessionKey": GROUP.format("beta")}, "denied"),
    ("beta", {"sessionKey": "agent:beta:subagent:x"}, "denied"),
    ("beta", {"sessionKey": "agent:beta:telegram:gr\u200boup:7"}, "denied"),
    ("beta", {"sessionKey": "agent:beta:telegram:supergroup:7"}, "denied"),
    ("beta-fixed", {}, "ok"),
    ("beta-fixed", {"sessionKey": DIRECT.format("beta")}, "ok"),
    ("beta-fixed", {"sessionKey": "agent:beta:other"}, "denied"),
    ("beta-fixed", {"agent": "alpha"}, "denied"),
]


@pytest.mark.parametrize("route", ROUTES)
def test_f145_matrix_of_sockets_and_keys(daemon: RunningDaemon, route: str) -> None:
    """Each socket and key is allowed or denied on each route as the table says, without a marker."""
    for socket, asked, expected in MATRIX:
        reply = ask(daemon, socket, route, **asked)
        row, code = (socket, asked), outcome(reply)
        if route == "sessions" and "sessionKey" not in asked:
            assert (row, code) == (row, "invalid_request"), "a session needs a key"
            continue
        assert (row, code) == (row, expected) or (expected, code, route in MAY_BE_MISSING) == ("ok", "not_found", True)
        if expected == "denied":
            assert (row, reply.status_code) == (row, httpx.codes.FORBIDDEN)
            assert not [marker for marker in itertools.chain(*MARKERS.values()) if marker in reply.text], row


def test_denial_is_logged_with_channel_and_chat_type_but_no_key(daemon: RunningDaemon) -> None:
    ask(daemon, "owner", "search", sessionKey="agent:alpha:telegram:group:0049301234567")
    line = next(line for line in reversed(daemon.log.read_text().splitlines()) if "access denied" in line)
    assert "telegram" in line
    assert "group" in line
    assert "0049301234567" not in daemon.log.read_text()


def test_session_key_selects_its_agent(daemon: RunningDaemon) -> None:
    hits = ask(daemon, "owner", "search", sessionKey=DIRECT.format("beta")).json()["results"]
    assert hits
    assert any("ultramarin" in hit["snippet"] for hit in hits)
    assert not any(marker in hit["snippet"] for marker in MARKERS["alpha"] for hit in hits)


def test_key_without_an_agent_gets_events_of_the_default_agent(tmp_path: Path) -> None:
    with prepare(tmp_path, None) as running:
        running.client().sync()
        asked = {"sessionKey": "telegram:direct:42"}
        with client_of(running, "owner") as client, client.stream("GET", "/v1/events", params=asked) as reply:
            lines = reply.iter_lines()
            assert next(lines) == ": connected"
            for agent in ("beta", "alpha"):
                (tmp_path / agent / "memory" / "new.md").write_text("# New\n\nSaved.\n")
                running.client().sync(agent=agent)
            event = next(line for line in lines if line.startswith("data:"))
        assert '"alpha"' in event


def test_socket_of_an_agent_shows_only_that_agent(daemon: RunningDaemon) -> None:
    with client_of(daemon, "beta") as client:
        status = client.get("/v1/status")
        assert [agent["id"] for agent in status.json()["agents"]] == ["beta"]
        assert "alpha" not in status.text
        assert client.post("/v1/sync", json={"agent": "alpha"}).json()["error"]["code"] == "denied"
        assert client.post("/v1/sync", json={}).is_success


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
        command = running.client().turn("/forget zinnober", session_key=GROUP.format("alpha"))["command"]
        assert "Nothing was deleted: ask for it in a direct chat" in str(command)


def test_owner_needs_a_key_if_the_scope_requires_one(tmp_path: Path) -> None:
    with prepare(tmp_path, None, {"requireSessionKey": True}, citations="off") as running:
        for route in ROUTES:
            assert outcome(ask(running, "owner", route)) == ("invalid_request" if route == "sessions" else "denied")
            asked = outcome(ask(running, "owner", route, sessionKey=DIRECT.format("alpha")))
            assert asked == "ok" or (asked == "not_found" and route in MAY_BE_MISSING)
        running.client().sync()
        reply = ask(running, "owner", "search", "zinnober", sessionKey=DIRECT.format("alpha")).json()
        assert (reply["citations"], "citation" in reply["results"][0]) == ("off", False)
        assert "Source:" not in reply["results"][0]["snippet"]


WORDS = [*itertools.chain(*MARKERS.values()), "lantern", "boat", "sea", "wet day", "Core", "red lamp", "blue ship"]
FOREIGN = {"alpha": MARKERS["beta"], "beta": MARKERS["alpha"]}


@settings(max_examples=whole_or(6, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    agent=st.sampled_from(sorted(SECRETS)),
    socket=st.sampled_from(["owner", "alpha", "beta", "alpha-fixed", "beta-fixed"]),
    named=st.sampled_from([None, "alpha", "beta"]),
    key=st.sampled_from([None, DIRECT.format("alpha"), DIRECT.format("beta"), GROUP.format("beta"), "main", "x"]),
    path=st.sampled_from(["MEMORY.md", "../beta/MEMORY.md", "../alpha/memory/2026-11-18.md", "memory/2026-11-18.md"]),
)
def test_f145_no_text_of_one_agent_reaches_another(
    daemon: RunningDaemon,
    words: list[str],
    agent: str,
    socket: str,
    named: str | None,
    key: str | None,
    path: str,
) -> None:
    """Random questions, agents, keys and paths never return a marker of another agent."""
    asked = {name: value for name, value in (("agent", named), ("sessionKey", key)) if value is not None}
    query = " ".join(words)
    with client_of(daemon, socket) as client:
        found = client.post("/v1/search", json={"query": query, "maxResults": 50, "explain": True, **asked})
        read = client.get(f"/v1/files/{path.replace('/', '%2f')}", params=asked)
    # the agent of the request: its socket's, the named one, its key's, the default
    of_key = key.split(":")[1] if key and key.startswith("agent:") else None
    effective = (None if socket == "owner" else socket.removesuffix("-fixed")) or named or of_key or "alpha"
    for reply in (found, read):
        if not reply.is_success:
            assert reply.json()["error"]["code"] in (ErrorCode.DENIED, ErrorCode.NOT_FOUND)
        texts = reply.text if reply is read else str((reply.json().get("results"), reply.json().get("misses")))
        shown = texts if reply.is_success else ""
        assert not any(marker in shown for marker in FOREIGN[effective])
    if found.is_success and {"lantern", "boat"} & set(words):
        assert found.json()["mode"] == "hybrid"


CALLS: dict[tuple[str, str], dict[str, object]] = {
    ("GET", "/openapi.json"): {},
    ("GET", "/v1/health"): {},
    ("GET", "/v1/status"): {},
    ("GET", "/metrics"): {},
    ("POST", "/v1/search"): {"json": {"query": "lantern"}},
    ("GET", "/v1/files/{path}"): {"url": "/v1/files/MEMORY.md"},
    ("POST", "/v1/sessions/start"): {"json": {"sessionKey": GROUP.format("beta")}},
    ("GET", "/v1/sessions"): {},
    ("GET", "/v1/sessions/lines"): {"params": {"citation": "session:lanterns#Q1"}},
    ("POST", "/v1/sessions/sync"): {"json": {"wait": False}},
    ("POST", "/v1/sessions/forget"): {"json": {"session": "lanterns", "dryRun": True}},
    ("POST", "/v1/reflect"): {"json": {"dryRun": True}},
    ("POST", "/v1/team/promote"): {"json": {"target": "lantern", "dryRun": True}},
    ("POST", "/v1/team/revoke"): {"json": {"target": "lantern", "dryRun": True}},
    ("POST", "/v1/team/sync"): {"json": {}},
    ("GET", "/v1/disagreements"): {},
    ("POST", "/v1/disagreements/{disagreement}"): {
        "url": "/v1/disagreements/00000000-11111111",
        "json": {"keep": "newer"},
    },
    ("GET", "/v1/conflicts"): {},
    ("POST", "/v1/conflicts/settle"): {"json": {"path": "memory/no (conflicted copy).md", "keep": "copy"}},
    ("GET", "/v1/proposals"): {},
    ("GET", "/v1/proposals/{proposal}"): {"url": "/v1/proposals/0123456789ab"},
    ("POST", "/v1/proposals/{proposal}/accept"): {"url": "/v1/proposals/0123456789ab/accept", "json": {}},
    ("POST", "/v1/proposals/{proposal}/reject"): {"url": "/v1/proposals/0123456789ab/reject", "json": {}},
    ("POST", "/v1/sessions/remember"): {"json": {"session": "lanterns", "remember": False}},
    ("POST", "/v1/qa/turns"): {"json": POSTED["qa/turns"]},
    ("GET", "/v1/qa/sessions"): {},
    ("GET", "/v1/qa/sessions/{session}"): {"url": "/v1/qa/sessions/lanterns"},
    ("POST", "/v1/qa/context"): {"json": POSTED["qa/context"]},
    ("POST", "/v1/qa/mark"): {"json": POSTED["qa/mark"]},
    ("GET", "/v1/qa/topics"): {},
    ("GET", "/v1/qa/stats"): {},
    ("POST", "/v1/recall"): {"json": RECALLED},
    ("POST", "/v1/turns"): {"json": POSTED["turns"]},
    ("GET", "/v1/told"): {},
    ("POST", "/v1/told"): {"json": {"number": 1, "name": "lantern", "judgement": "noise"}},
    ("POST", "/v1/capture"): {"json": {"text": "I live in Graz.", "dryRun": True}},
    ("POST", "/v1/retain"): {"json": POSTED["retain"]},
    ("GET", "/v1/memories"): {},
    ("POST", "/v1/memories"): {"json": {"text": "the pier was painted in spring"}},
    ("POST", "/v1/memories/search"): {"json": {"query": "lantern"}},
    ("GET", "/v1/memories/stats"): {},
    ("GET", "/v1/memories/decay"): {},
    ("GET", "/v1/memories/export"): {},
    ("POST", "/v1/memories/import"): {"json": {"memories": [{"text": "the pier is green"}], "run": "0" * 32}},
    ("GET", "/v1/memories/{memory}/why"): {"url": "/v1/memories/00000000/why"},
    ("GET", "/v1/memories/{memory}"): {"url": "/v1/memories/00000000"},
    ("DELETE", "/v1/memories/{memory}"): {"url": "/v1/memories/00000000"},
    ("POST", "/v1/memories/{memory}/pin"): {"url": "/v1/memories/00000000/pin", "json": {}},
    ("POST", "/v1/memories/{memory}/unpin"): {"url": "/v1/memories/00000000/unpin", "json": {}},
    ("POST", "/v1/memories/{memory}/importance"): {
        "url": "/v1/memories/00000000/importance",
        "json": {"importance": 0.5},
    },
    ("POST", "/v1/memories/{memory}/replace"): {
        "url": "/v1/memories/00000000/replace",
        "json": {"text": "the pier was painted in spring"},
    },
    ("POST", "/v1/forget"): {"json": {"target": "lantern", "dryRun": True}},
    ("POST", "/v1/lines/replace"): {"json": {"citation": "MEMORY.md#L1", "old": "xylophone", "new": "x"}},
    ("GET", "/v1/verify"): {"params": {"citation": "MEMORY.md#L1"}},
    ("GET", "/v1/opinions"): {},
    ("GET", "/v1/opinions/{opinion}"): {"url": "/v1/opinions/00000000"},
    ("POST", "/v1/opinions/replay"): {"json": {}},
    ("GET", "/v1/core"): {},
    ("POST", "/v1/core/append"): {"json": {"text": "- The lantern is lit."}},
    ("POST", "/v1/core/replace"): {"json": {"old": "xylophone", "new": ""}},
    ("POST", "/v1/core/insert"): {"json": {"text": "- x", "after": "# Xylophone"}},
    ("GET", "/v1/entities"): {},
    ("GET", "/v1/entities/{entity}"): {"url": "/v1/entities/nobody"},
    ("GET", "/v1/entities/{entity}/links"): {"url": "/v1/entities/nobody/links"},
    ("POST", "/v1/entities/merge"): {"json": {"name": "Pete", "into": "Peter", "dryRun": True}},
    ("POST", "/v1/entities/split"): {"json": {"alias": "Pete", "dryRun": True}},
    ("GET", "/v1/changes"): {},
    ("POST", "/v1/undo"): {"json": {"id": 1, "dryRun": True}},
    ("GET", "/v1/events"): {},
    ("POST", "/v1/sync"): {"json": {"wait": "none"}},
    ("POST", "/v1/reindex"): {"json": {}},
    ("POST", "/v1/reload"): {},
    ("POST", "/v1/page"): {"json": {}},
    **{(row.method, row.path): {"url": row.path.format(memory="00000000")} for row in ON_PORT},
}
"""How each row of the table is called: on an agent's socket without its required key."""


def test_daemon_serves_exactly_the_table(daemon: RunningDaemon) -> None:
    with client_of(daemon, "owner") as client:
        paths = client.get("/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert described | {("GET", "/openapi.json")} == {(row.method, row.path) for row in TABLE}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.method} {row.path}")
def test_agent_socket_allows_what_the_table_says(daemon: RunningDaemon, row: Row) -> None:
    call = CALLS[row.method, row.path]
    with client_of(daemon, "beta") as client:
        reply = client.request(row.method, **{"url": row.path, **call})  # type: ignore[arg-type]  # a table of values
    expected = "ok" if row.who in (Who.ANYONE, Who.AGENT) else "denied"
    assert outcome(reply) == expected
    if row.who is Who.SESSION:
        assert any(row.path.startswith(f"/v1/{route}") for route in ROUTES), "the matrix above calls it"


async def test_application_routes_exactly_the_table() -> None:
    app = Application()
    for row in TABLE:
        named = {name: f"some-{name}" for name in re.findall(r"\{(\w+)\}", row.path)}
        assert app._row(row.method, row.path.format(**named)) == (row, named), (
            "its own row, with the parameters of its path"
        )
    assert len({(row.method, row.path) for row in TABLE}) == len(TABLE)
    for method, path in (("GET", "/v1/nothing"), ("DELETE", "/v1/search"), ("GET", "/v1/search/"), ("GET", "/")):
        with pytest.raises(RequestError):
            app._row(method, path)


async def test_row_for_nobody_is_denied_on_the_owner_socket() -> None:
    """A handler is never called if the table does not admit the caller."""

    async def secrets() -> dict[str, str]:
        raise AssertionError("it was called")

    gate = AccessPolicy(rules=AccessRules(), agents=["main"], bindings={})
    app = Application(services(gate=gate), [call("GET", "/late", None, secrets)])  # type: ignore[arg-type]

    async def on_owner_socket(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {"peer": Peer(uid=0, pid=0, socket="owner")}}, receive, send)

    transport = httpx.ASGITransport(on_owner_socket)
    async with httpx.AsyncClient(transport=transport, base_url="http://memoryd") as client:
        assert outcome(await client.get("/v1/late")) == "denied"
