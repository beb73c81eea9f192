"""Rows 119 and 120 of the fault catalogue: attacks of web pages and other programs on the loopback port."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import psutil
import pytest

from tests.loopback import OpenPort, open_port
from tests.waiting import SECONDS

SECRET = ("alder", "GW-4172", "pier")
"""Words of the notes."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPort]:
    with open_port(tmp_path_factory.mktemp("door")) as running:
        yield running
        assert running.token not in running.daemon.log.read_text()
        assert running.ask("GET", "/v1/health").is_success


def assert_refused(reply: httpx.Response, status: int, code: str) -> None:
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), reply.text
    assert not any(name.startswith("access-control-") for name in reply.headers)
    assert not any(word in reply.text for word in SECRET)


@pytest.mark.parametrize(
    "host",
    ["evil.com", "evil.com:{}", "localhost", "localhost.:{}", "127.0.0.1", "127.0.0.1.evil.com:{}", "0.0.0.0:{}"],
)
def test_f119_name_of_another_host_is_denied(opened: OpenPort, host: str) -> None:
    """A page whose own name resolves to 127.0.0.1 is denied, even with the token."""
    named = {"Host": host.format(opened.port)}
    assert_refused(opened.ask("POST", "/v1/search", headers=named, json={"query": "gateway"}), 403, "denied")
    assert_refused(opened.ask("GET", "/v1/health", headers=named, token=""), 403, "denied")


@pytest.mark.parametrize("name", ["127.0.0.1:{}", "localhost:{}", "LocalHost:{}", "[::1]:{}"])
def test_f119_names_of_loopback_are_accepted(opened: OpenPort, name: str) -> None:
    """Every name of this machine is accepted."""
    assert opened.ask("GET", "/v1/status", headers={"Host": name.format(opened.port)}).is_success


@pytest.mark.parametrize(
    "origin", ["https://evil.com", "null", "http://localhost:{}", "file://", "chrome-extension://x"]
)
def test_f119_request_of_a_web_page_is_denied(opened: OpenPort, origin: str) -> None:
    """A request with an Origin header is denied, even with our own origin and the token."""
    headers = {"Origin": origin.format(opened.port)}
    assert_refused(opened.ask("POST", "/v1/search", headers=headers, json={"query": "gateway"}), 403, "denied")
    assert_refused(opened.ask("GET", "/api/v1/memory/docs", headers=headers), 403, "denied")


@pytest.mark.parametrize("kind", ["text/plain", "text/plain; charset=utf-8", "application/x-www-form-urlencoded", None])
def test_f119_body_that_is_not_declared_json_is_refused(opened: OpenPort, kind: str | None) -> None:
    """A body without the content type of JSON writes nothing, even with the token."""
    note = opened.daemon.workspace / "MEMORY.md"
    before = note.read_bytes()
    headers = {} if kind is None else {"Content-Type": kind}
    reply = opened.ask("POST", "/v1/core/append", headers=headers, content=b'{"text": "- planted"}')
    assert_refused(reply, 400, "invalid_request")
    assert note.read_bytes() == before


def test_f119_preflight_request_gets_no_permission(opened: OpenPort) -> None:
    """OPTIONS is answered without access-control headers, with and without origin and token."""
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    origin = {"Origin": "https://evil.com"}
    assert_refused(opened.ask("OPTIONS", "/v1/search", headers={**asking, **origin}, token=""), 403, "denied")
    assert_refused(opened.ask("OPTIONS", "/v1/search", headers={**asking, **origin}), 403, "denied")
    assert_refused(opened.ask("OPTIONS", "/v1/search", headers=asking, token=""), 401, "unauthorized")
    assert_refused(opened.ask("OPTIONS", "/v1/search", headers=asking), 405, "invalid_request")


def test_f119_missing_partial_or_repeated_token_is_refused(opened: OpenPort) -> None:
    """Only the complete token, once, in its header, is accepted; refusals contain no text of notes."""
    token = opened.token
    for given in (token[:-1], token[: len(token) // 2], token + "x", token.swapcase(), "x"):
        assert_refused(opened.ask("POST", "/v1/search", token=given, json={"query": "gateway"}), 401, "unauthorized")
    for headers in ({}, {"Authorization": token}, {"Authorization": f"Basic {token}"}, {"Cookie": f"token={token}"}):
        assert_refused(opened.ask("GET", "/v1/status", token="", headers=headers), 401, "unauthorized")
    assert_refused(
        opened.ask("GET", "/v1/status", token="", params={"token": token, "access_token": token}), 401, "unauthorized"
    )
    twice = f"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1:{opened.port}\r\nConnection: close\r\n"
    twice += f"Authorization: Bearer {token}\r\n" * 2
    assert opened.talk(f"{twice}\r\n".encode()).startswith(b"HTTP/1.1 401 ")


def test_f119_guessing_is_limited_and_the_right_token_accepted(opened: OpenPort) -> None:
    """After ten wrong tokens a minute the next must wait, and the right one is still accepted."""
    replies = [opened.ask("GET", "/v1/status", token="x" * 43).status_code for _ in range(12)]
    assert replies[-1] == httpx.codes.TOO_MANY_REQUESTS
    assert set(replies) <= {httpx.codes.UNAUTHORIZED, httpx.codes.TOO_MANY_REQUESTS}
    assert opened.ask("GET", "/v1/status").is_success
    assert opened.state()["refused"]["too many wrong tokens"] >= 1


def test_f119_port_listens_on_loopback_only(opened: OpenPort) -> None:
    """The port listens on the address of loopback only."""
    listening = [
        connection.laddr.ip
        for connection in psutil.Process(opened.daemon.pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


def test_f120_header_of_two_megabytes_is_refused(opened: OpenPort) -> None:
    """An endless header is answered with an error and a closed connection, before the token is checked."""
    start = f"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:{opened.port}\r\nX-Long: ".encode()
    received = opened.talk(start + b"x" * 2_000_000 + b"\r\n\r\n")
    # a reset may overtake the answer: much is sent that is never read
    assert not received or received.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ", b"HTTP/1.1 413 "))
    many = start + b"x\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(10_000)) + b"\r\n"
    assert b" 200 " not in opened.talk(many)
    assert opened.ask("GET", "/v1/health").is_success


def test_f120_body_is_not_read_before_the_token(opened: OpenPort) -> None:
    """A client without a token is refused before it has sent its body, and the connection is closed."""
    header = f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{opened.port}\r\nContent-Type: application/json\r\n"
    received = opened.talk(f"{header}Content-Length: 1000000000\r\n\r\n".encode())
    assert received.startswith(b"HTTP/1.1 401 ")
    assert b"connection: close" in received


def test_f120_slow_and_silent_clients_are_disconnected(opened: OpenPort) -> None:
    """Clients that stop in a request are disconnected, while others are answered on port and socket."""
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", opened.port), timeout=SECONDS)) for _ in range(3)
        ]
        slow[0].sendall(b"GET /v1/heal")
        slow[1].sendall(f"GET /v1/health HTTP/1.1\r\nHost: localhost:{opened.port}\r\nX".encode())
        assert opened.ask("GET", "/v1/health").is_success
        assert opened.daemon.client().health()["ok"]
        assert [connection.recv(65536) for connection in slow] == [b"", b"", b""]


def test_f120_many_connections_on_the_port_do_not_block_the_socket(opened: OpenPort) -> None:
    """More connections than the port accepts do not delay calls on the socket."""
    with ExitStack() as stack:
        for _ in range(120):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", opened.port), timeout=SECONDS))
            sock.sendall(b"GET ")
        assert opened.daemon.client().search("gateway")["results"]
        assert opened.state()["connections"] <= 96
