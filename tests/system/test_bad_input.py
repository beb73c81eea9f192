"""Malformed requests get the right error and do the daemon no harm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.wire import ErrorCode
from tests.daemon import RunningDaemon, indexed_daemon
from tests.system.over_socket import send, send_raw

SEARCH = "/v1/search"
QUERY = {"query": "gateway"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all requests, words only: it has to survive each of them."""
    home = tmp_path_factory.mktemp("daemon")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe gateway runs on alder.\n")
    with indexed_daemon(home, workspace) as running:
        yield running
        assert running.client().search("gateway")["results"]
        assert "Traceback" not in running.log.read_text()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": 5},
        {"query": None},
        {"query": ["gateway"]},
        {"question": "gateway"},
        {**QUERY, "maxresults": 3},
        {**QUERY, "max_results": 3},
        {**QUERY, "maxResults": 0},
        {**QUERY, "maxResults": "3"},
        {**QUERY, "maxResults": 1.5},
        {**QUERY, "maxResults": 10**9},
        {**QUERY, "maxResults": True},
        {**QUERY, "minScore": -1},
        {**QUERY, "minScore": "high"},
        {**QUERY, "sources": "memory"},
        {**QUERY, "sources": ["everything"]},
        {**QUERY, "paths": [1]},
        {**QUERY, "paths": ["a"] * 65},
        {**QUERY, "since": "yesterday"},
        {**QUERY, "until": "2026-13-45"},
        {**QUERY, "since": "99999y"},
        {**QUERY, "deadlineMs": 0},
        {**QUERY, "explain": "yes"},
        {**QUERY, "agent": 7},
        {**QUERY, "agent": "x" * 65},
        [QUERY],
        "gateway",
        None,
    ],
    ids=lambda body: str(body)[:40],
)
def test_wrong_search_is_an_invalid_request(daemon: RunningDaemon, body: object) -> None:
    answer = send(daemon.socket, "POST", SEARCH, body if body is not None else b"null")
    assert (answer.status, answer.error) == (400, ErrorCode.INVALID_REQUEST)
    assert answer.message
    assert set(answer.json["error"]) == {"code", "message", "hint"}


def test_integer_may_have_a_decimal_point(daemon: RunningDaemon) -> None:
    answer = send(daemon.socket, "POST", SEARCH, b'{"query": "gateway", "maxResults": 1.0, "deadlineMs": 2e3}')
    assert (answer.status, len(answer.json["results"])) == (200, 1)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'query': 'gateway'}",
        b'{"query": "gateway",}',
        b'{"query": "\xff"}',
        b'\xef\xbb\xbf{"query": "gateway"}',
        b'{"query": "gateway", "minScore": NaN}',
        b'{"query": "\\ud800"}',
        b'{"query": "gateway", "maxResults": 99999999999999999999}',
        b"[" * 100_000,
        b"query=gateway",
    ],
    ids=lambda body: str(body[:40]),
)
def test_bad_json_is_an_invalid_request(daemon: RunningDaemon, body: bytes) -> None:
    answer = send(daemon.socket, "POST", SEARCH, body)
    assert (answer.status, answer.error) == (400, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_other_media_types_are_refused(daemon: RunningDaemon, media_type: str) -> None:
    answer = send(daemon.socket, "POST", SEARCH, QUERY, Content_Type=media_type)
    assert (answer.status, answer.error) == (400, ErrorCode.INVALID_REQUEST)
    assert "application/json" in answer.json["error"]["hint"]


def test_body_that_is_too_large_is_refused(daemon: RunningDaemon) -> None:
    answer = send(daemon.socket, "POST", SEARCH, {"query": "x" * (1 << 20)})
    assert (answer.status, answer.error) == (413, ErrorCode.TOO_LARGE)


@pytest.mark.parametrize("target", [SEARCH, "/v1/recall"])
def test_question_that_is_too_long_is_refused(daemon: RunningDaemon, target: str) -> None:
    answer = send(daemon.socket, "POST", target, {"query": "gateway " * 1000})
    assert (answer.status, answer.error) == (413, ErrorCode.TOO_LARGE)
    assert "longer than 4096 bytes" in answer.message


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("POST", SEARCH, {**QUERY, "agent": "nobody"}),
        ("POST", "/v1/sync", {"agent": "nobody"}),
        ("POST", "/v1/reindex", {"agent": "nobody"}),
        ("GET", "/v1/files/MEMORY.md?agent=nobody", None),
        ("GET", "/v1/events?agent=nobody", None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_unknown_agent_is_named_with_the_known_ones(
    daemon: RunningDaemon, method: str, target: str, body: object
) -> None:
    answer = send(daemon.socket, method, target, body)
    assert (answer.status, answer.error) == (404, ErrorCode.UNKNOWN_AGENT)
    assert "nobody" in answer.message
    assert "main" in answer.json["error"]["hint"]


@pytest.mark.parametrize("target", ["/", "/v1", "/v1/nothing", "/v2/search", "/v1/search/more", "/docs", "/v1/search/"])
def test_unknown_route_is_not_found(daemon: RunningDaemon, target: str) -> None:
    answer = send(daemon.socket, "GET", target)
    assert (answer.status, answer.error) == (404, ErrorCode.NOT_FOUND)


@pytest.mark.parametrize(
    ("method", "target"), [("GET", SEARCH), ("POST", "/v1/status"), ("DELETE", "/v1/files/MEMORY.md")]
)
def test_wrong_method_names_the_allowed_one(daemon: RunningDaemon, method: str, target: str) -> None:
    answer = send(daemon.socket, method, target)
    assert (answer.status, answer.error) == (405, ErrorCode.INVALID_REQUEST)
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    "query", ["from=0", "from=-1", "from=x", "lines=0", "lines=999999", "from=99999999999999999999", "lines=1.5"]
)
def test_wrong_line_range_is_an_invalid_request(daemon: RunningDaemon, query: str) -> None:
    answer = send(daemon.socket, "GET", f"/v1/files/MEMORY.md?{query}")
    assert (answer.status, answer.error) == (400, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    "body", [{"wait": "never"}, {"wait": 1}, {"timeoutMs": 0}, {"timeoutMs": "5"}, {"force": True}]
)
def test_wrong_sync_is_an_invalid_request(daemon: RunningDaemon, body: object) -> None:
    answer = send(daemon.socket, "POST", "/v1/sync", body)
    assert (answer.status, answer.error) == (400, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"hello there\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /v1/files/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/files/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/files/%ff%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=lambda data: str(data[:30]),
)
def test_malformed_http_is_refused_or_disconnected(daemon: RunningDaemon, data: bytes) -> None:
    reply = send_raw(daemon.socket, data)
    assert not reply or reply.split(b" ")[1][:1] == b"4"
    assert send(daemon.socket, "GET", "/v1/health").json == {"ok": True, "ready": True}


@pytest.mark.parametrize(
    "query",
    ['"', '"unclosed', "a AND (b", "NEAR(", "*", "col:x", "-", "'; DROP TABLE files; --", "\\", "%", "a\0b", "🦞"],
)
def test_query_is_never_read_as_fts_syntax(daemon: RunningDaemon, query: str) -> None:
    answer = send(daemon.socket, "POST", SEARCH, {"query": query})
    assert answer.status == 200
    assert answer.json["results"] or answer.json["reason"]


def test_blank_query_is_reported_as_without_words(daemon: RunningDaemon) -> None:
    answer = send(daemon.socket, "POST", SEARCH, {"query": "  \n "})
    assert answer.status in (200, 400)
    assert answer.status == 400 or "no words" in answer.json["reason"]


def test_errors_name_no_path_outside_the_workspace(daemon: RunningDaemon) -> None:
    for target in ("/v1/files/..%2f..%2fetc%2fpasswd", "/v1/files/%2fetc%2fpasswd", "/v1/files/memory%2fnone.md"):
        answer = send(daemon.socket, "GET", target)
        assert answer.status == 404
        assert str(Path(daemon.workspace).parent) not in str(answer.json)
