"""The guard: requests refused before a route sees them, and the form of every error."""

import asyncio
import errno
import json
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from memoryd.api.http.body import decode
from memoryd.api.http.connection import Exchange
from memoryd.api.http.limits import Admission, GuardLimits, limit_time
from memoryd.api.http.server import Server
from memoryd.api.problems import body_of, hide_directories, problem_of
from memoryd.errors import InvalidRequest
from memoryd.wire import ErrorCode
from tests.fakes import blow_up
from tests.integration.serving import Stage, client, serving, talk
from tests.waiting import eventually_async

MAX = 1024 * 1024
HOSTILE = {
    "deep arrays": b"[" * 100_000,
    "deep objects": b'{"a":' * 33 + b"1" + b"}" * 33,
    "long integer": b'{"text": ' + b"9" * 5000 + b"}",
    "integer beyond 64 bits": b'{"text": 9223372036854775808}',
    "nan": b'{"text": NaN}',
    "infinity": b'{"text": -Infinity}',
    "overflowing float": b'{"text": [1e999]}',
    "lone surrogate": b'{"text": "\\ud800"}',
    "surrogate in utf-8": b'{"text": "\xed\xa0\x80"}',
    "invalid utf-8": b'{"text": "\xff"}',
    "byte order mark": b'\xef\xbb\xbf{"text": "a"}',
    "utf-16": '{"text": "a"}'.encode("utf-16"),
    "nul": b'{"text": "\x00"}',
    "truncated": b'{"text": "a"',
    "trailing": b'{"text": "a"} x',
    "not json": b"hello",
    "blank": b"  \r\n",
    "comment": b'{"text": "a" /* b */}',
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "m.sock"


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def server(path: Path, stage: Stage) -> AsyncIterator[Server]:
    async with serving(path, stage) as running:
        yield running


@pytest.fixture
async def http(path: Path, server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with client(path) as opened:
        yield opened


def code_of(reply: httpx.Response) -> str:
    """Return the code of an error reply, after checking its whole form."""
    error = reply.json()["error"]
    assert set(reply.json()) == {"error"}
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] in set(ErrorCode)
    assert "Traceback" not in reply.text
    assert "pydantic" not in reply.text
    assert "/home/" not in reply.text
    return str(error["code"])


@pytest.mark.parametrize("name", HOSTILE)
async def test_f109_f110_hostile_json_is_an_invalid_request(name: str, http: httpx.AsyncClient) -> None:
    """Each kind of hostile JSON is invalid_request, and health answers afterwards."""
    for route in ("/v1/echo", "/v1/raw"):
        reply = await http.post(route, content=HOSTILE[name], headers={"content-type": "application/json"})
        assert (reply.status_code, code_of(reply)) == (400, "invalid_request")
    assert (await http.get("/v1/health")).json() == {"ok": True}


@pytest.mark.parametrize("name", HOSTILE)
async def test_f109_f110_connection_lives_on_after_hostile_json(path: Path, stage: Stage, name: str) -> None:
    """On one connection, the request after hostile JSON is answered.

    Two requests in one go: the second is answered on the same connection, as if the first had been a good one.
    """
    head = b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with serving(path, stage):
        second = b"GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        received = await talk(path, head % len(HOSTILE[name]) + HOSTILE[name] + second)
    refused, _, answered = received.partition(b"HTTP/1.1 200 ")
    assert refused.startswith(b"HTTP/1.1 400 ")
    assert answered.endswith(b'{"ok":true}')


def test_f110_depth_is_counted_in_levels_and_not_in_width() -> None:
    """32 levels, wide or not, pass; 33 are refused."""
    decode(b"[" * 32 + b"]" * 32)
    decode(b"[" + b"[]," * 1000 + b"{}]")
    decode(b'{"a": 1, "a": 2}')
    decode(b"[9223372036854775807, -9223372036854775808, 1e308, -0.0]")
    with pytest.raises(InvalidRequest, match="nests more than 32"):
        decode(b"[" * 33 + b"]" * 33)
    with pytest.raises(InvalidRequest, match="nests more than 32"):
        decode(b'{"a":[' * 16 + b"[]" + b"]}" * 16)


@given(
    st.recursive(st.none() | st.booleans() | st.text(), lambda kind: st.lists(kind) | st.dictionaries(st.text(), kind))
)
def test_any_plain_json_passes(value: object) -> None:
    assert passes(json.dumps(value, ensure_ascii=False).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_invalid(body: bytes) -> None:
    assert not passes(body) or json.dumps(json.loads(body))


def passes(body: bytes) -> bool:
    try:
        decode(body)
    except InvalidRequest:
        return False
    return True


@pytest.mark.parametrize("size", [MAX + 1, 3 * MAX])
async def test_f108_large_body_is_refused(size: int, http: httpx.AsyncClient) -> None:
    """A body over the limit is 413 too_large, with or without its length announced, and one at the limit is read."""
    for content in (b" " * size, _chunks(size)):
        reply = await http.post("/v1/echo", content=content, headers={"content-type": "application/json"})
        assert (reply.status_code, code_of(reply)) == (413, "too_large")
    fits = b'{"text": "a"}'.ljust(MAX)
    assert (await http.post("/v1/echo", content=fits)).json()["text"] == "a"


async def _chunks(size: int):  # type: ignore[no-untyped-def]  # an async generator of a test needs no type
    for _ in range(size // 65536 + 1):
        yield b" " * 65536


@pytest.mark.parametrize("sent", [0, 1000, MAX + 1000])
async def test_f108_large_body_is_refused_as_soon_as_it_is_announced(path: Path, stage: Stage, sent: int) -> None:
    """A body that is announced over the limit is 413 at once, however much of it comes; the client may still send."""
    start = b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % (2 * MAX)
    async with serving(path, stage):
        reading, writing = await asyncio.open_unix_connection(str(path))
        writing.write(start + b" " * sent)
        async with asyncio.timeout(GuardLimits().body_timeout.total_seconds() / 2):
            assert (await reading.readuntil(b"\r\n")).startswith(b"HTTP/1.1 413 ")
            assert b"too_large" in await reading.readuntil(b"}}")
        writing.write(b" " * (2 * MAX - sent))
        await writing.drain()
        assert await reading.read() == b""
        writing.close()


async def test_f108_endless_body_is_cut_off(path: Path, stage: Stage) -> None:
    """An endless body is cut off with 413 after a bounded part of it."""
    start = b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n"
    async with serving(path, stage) as server:
        with socket.socket(socket.AF_UNIX) as flooding:
            flooding.setblocking(False)
            flooding.connect(str(path))
            sent = 0

            def is_cut_off() -> bool:
                nonlocal sent
                try:
                    while True:
                        sent += flooding.send((start if not sent else b"") + b" " * 65536)
                except BlockingIOError:
                    return False
                except ConnectionError:
                    return True

            await eventually_async(is_cut_off)
            assert sent < 16 * MAX
            assert flooding.recv(65536).startswith(b"HTTP/1.1 413")
        await eventually_async(lambda: server.connections.open == 0)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_f108_curl_asks_before_it_sends_too_much(path: Path, stage: Stage, tmp_path: Path) -> None:
    """A client like curl gets 413 before it has sent one byte of the body."""
    (tmp_path / "body").write_bytes(b" " * (2 * MAX))
    async with serving(path, stage):
        output = await _curl(
            path, "/v1/echo", "--data-binary", f"@{tmp_path / 'body'}", "-w", "%{http_code} %{size_upload}"
        )
    assert output.endswith("413 0")


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_curl_without_content_type_gets_a_hint(path: Path, stage: Stage) -> None:
    async with serving(path, stage):
        output = await _curl(path, "/v1/echo", "-d", '{"text": "a"}')
        error = json.loads(output)["error"]
        assert error["code"] == "invalid_request"
        assert "Content-Type: application/json" in error["hint"]
        assert json.loads(await _curl(path, "/v1/echo", "--json", '{"text": "a"}')) == {"text": "a", "maxResults": 6}
        assert json.loads(await _curl(path, "/v1/raw", "-X", "POST")) == {"value": {}}
        assert json.loads(await _curl(path, "/v1/raw", "-d", "")) == {"value": {}}


async def _curl(path: Path, target: str, *options: str) -> str:
    command = ["curl", "-sS", "--max-time", "10", "--unix-socket", str(path), *options, f"http://localhost{target}"]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out, _ = await child.communicate()
    return out.decode()


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        (None, 200),
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/merge-patch+json", 200),
        ("text/plain", 400),
        ("multipart/form-data; boundary=x", 400),
        ("application/json-seq", 400),
    ],
)
async def test_f119_only_json_is_accepted(path: Path, stage: Stage, content_type: str | None, status: int) -> None:
    """Only JSON content types are accepted; others are invalid_request."""
    headers = {"content-type": content_type} if content_type else {}
    async with serving(path, stage), client(path) as asking:
        reply = await asking.post("/v1/echo", content=b'{"text": "a"}', headers=headers)
        assert reply.status_code == status
        assert status == 200 or code_of(reply) == "invalid_request"


async def test_f119_no_cross_origin_permission_is_given(http: httpx.AsyncClient) -> None:
    """No reply permits another origin, and OPTIONS is refused."""
    for method in ("OPTIONS", "GET"):
        reply = await http.request(method, "/v1/health", headers={"origin": "https://evil.example"})
        assert not [name for name in reply.headers if name.startswith("access-control")]
    reply = await http.options("/v1/echo")
    assert (reply.status_code, reply.headers["allow"], code_of(reply)) == (405, "POST", "invalid_request")


async def test_head_is_get_without_a_body(stage: Stage, http: httpx.AsyncClient) -> None:
    head, get = await http.head("/v1/health"), await http.get("/v1/health")
    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)
    assert (await http.head("/v1/events")).headers["content-type"].startswith("text/event-stream")
    await eventually_async(lambda: stage.bus.subscribers == 0)
    assert (await http.head("/v1/nothing")).status_code == 404


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "text: is missing"),
        ({"text": ""}, "text: is too short: 1 or more characters are needed"),
        ({"text": None}, "text: must be a text"),
        ({"text": "a", "maxResults": 0}, "maxResults: must be at least 1"),
        ({"text": "a", "maxresults": 1}, "maxresults: unknown field"),
        ([], "the body: must be an object { … }"),
    ],
)
async def test_f111_wrong_fields_are_named(body: object, message: str, http: httpx.AsyncClient) -> None:
    """Each wrong field is invalid_request with the field's name and what is wrong."""
    reply = await http.post("/v1/echo", json=body)
    assert (reply.status_code, code_of(reply)) == (400, "invalid_request")
    assert reply.json()["error"]["message"] == message


async def test_message_about_many_wrong_fields_is_short(http: httpx.AsyncClient) -> None:
    reply = await http.post("/v1/echo", json={f"field{index}": "private words" for index in range(1000)})
    assert code_of(reply) == "invalid_request"
    assert "and 991 more" in reply.json()["error"]["message"]
    assert "private words" not in reply.text


async def test_body_is_parsed_once(path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Request, "json", blow_up)
    async with serving(path, stage), client(path) as asking:
        assert (await asking.post("/v1/raw", json={"a": [1.5]})).json() == {"value": {"a": [1.5]}}


async def test_unknown_routes_and_methods(http: httpx.AsyncClient) -> None:
    reply = await http.get("/v1/nothing")
    assert (reply.status_code, code_of(reply)) == (404, "not_found")
    reply = await http.get("/v1/echo")
    assert (reply.status_code, code_of(reply), reply.headers["allow"]) == (405, "invalid_request", "POST")


async def test_f151_unexpected_failure_is_hidden_and_logged(
    path: Path, stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    """A failure of ours is 500 internal without its text, and the log names the route, not the query."""
    async with serving(path, stage), client(path) as asking:
        reply = await asking.get("/v1/broken?query=private")
        assert (reply.status_code, code_of(reply)) == (500, "internal")
        assert "secret" not in reply.text
        assert (await asking.get("/v1/health")).status_code == 200
    logged = "".join(capfd.readouterr())
    assert logged.count("request failed") == 1
    assert "/v1/broken" in logged
    assert "private" not in logged


async def test_f151_known_failure_keeps_its_message(http: httpx.AsyncClient) -> None:
    """A known failure keeps its message, without the folder in it."""
    reply = await http.get("/v1/full")
    assert (reply.status_code, code_of(reply)) == (503, "unavailable")
    error = reply.json()["error"]
    assert (error["message"], error["hint"]) == ("cannot write …/index.sqlite: disk full", "free some space")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open '/etc/shadow'", "cannot open '…/shadow'"),
        ("a=/home/u/ws/MEMORY.md, b", "a=…/MEMORY.md, b"),
        ("path:/home/u/ws/MEMORY.md, b", "path:…/MEMORY.md, b"),
        ("memory/2026-01-01.md is missing", "memory/2026-01-01.md is missing"),
        ("see GET /openapi.json and /v1/files/memory/a.md", "see GET /openapi.json and /v1/files/memory/a.md"),
        ("1/2 or 3 / 4", "1/2 or 3 / 4"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("~/.config/memoryd/config.json5", "~/.config/memoryd/config.json5"),
    ],
)
def test_f151_absolute_paths_lose_their_directories(text: str, shown: str) -> None:
    """Absolute paths lose their folders, and nothing else changes."""
    assert hide_directories(text) == shown


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.ENOMEM])
def test_exhausted_resource_is_unavailable(number: int) -> None:
    """The client is told that it may retry."""
    problem = problem_of(OSError(number, os.strerror(number), "/home/me/ledger.sqlite.forgotten-key"))
    assert (problem.code, problem.http_status) == (ErrorCode.UNAVAILABLE, 503)
    assert os.strerror(number) in str(problem)
    assert problem_of(OSError(errno.EBADF, "Bad file descriptor")).code is ErrorCode.INTERNAL


def test_unreadable_names_can_be_sent() -> None:
    problem = problem_of(InvalidRequest("no such file: \udcff.md"))
    assert json.loads(body_of(problem))["error"]["message"] == "no such file: \udcff.md"


async def test_request_beyond_its_deadline_gets_timeout(path: Path, stage: Stage) -> None:
    limits = GuardLimits(deadline=timedelta(seconds=0.1))
    async with serving(path, stage, guard=limits), client(path) as asking:
        reply = await asking.get("/v1/wait")
        assert (reply.status_code, code_of(reply)) == (504, "timeout")
        assert (stage.waiting, stage.cancelled) == (0, 1)


async def test_stream_started_after_disconnect_is_cancelled() -> None:
    goes_on, exchange, ended = asyncio.Event(), Exchange(), asyncio.Event()

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await goes_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Message) -> None:
        pass

    app = limit_time(stream, default=timedelta(seconds=60), deadlines={})
    answering = asyncio.ensure_future(app({"path": "/", "state": {"exchange": exchange}}, receive, send))
    await asyncio.sleep(0)
    goes_on.set()
    exchange.end()
    async with asyncio.timeout(10):
        await answering
    assert ended.is_set()


async def test_path_may_have_its_own_deadline(path: Path, stage: Stage) -> None:
    short, long = timedelta(seconds=0.05), timedelta(seconds=30)
    limits = GuardLimits(deadline=short, deadlines={"/v1/wait": long})
    async with serving(path, stage, guard=limits), client(path) as asking, asking.stream("GET", "/v1/events"):
        pending = asyncio.create_task(asking.get("/v1/wait"))
        await eventually_async(lambda: stage.waiting == 1)
        begun = asyncio.get_running_loop().time()
        await eventually_async(lambda: asyncio.get_running_loop().time() > begun + 3 * short.total_seconds())
        assert not pending.done()
        assert stage.bus.subscribers == 1  # a stream has no deadline
        stage.release.set()
        assert (await pending).json() == {"done": True}


async def test_f120_slow_body_times_out(path: Path, stage: Stage) -> None:
    """A body that does not arrive is 408 timeout and a hang-up."""
    start = b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
    async with serving(path, stage, guard=GuardLimits(body_timeout=timedelta(seconds=0.1))):
        reply = await talk(path, start)
    assert reply.startswith(b"HTTP/1.1 408")
    assert b'"timeout"' in reply


GET = b"GET /v1/health HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\x01\x02\x03\r\n\r\n", 400),
        (b"hello\n\n", 400),
        (b"GET /v1/health HTTP/1.1\r\n\r\n", 400),
        (GET + b"a: b\r\n" * 10_000 + b"\r\n", 431),
        (GET + b"a: " + b"b" * 100_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n", 431),
        (GET + b"content-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
        (GET + b"content-length: -1\r\n\r\n", 400),
        (GET + b"content-length: 5\r\ntransfer-encoding: chunked\r\nbad header\r\n\r\n", 400),
        (GET + b"transfer-encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}}garbage\r\n", 400),
    ],
)
async def test_f120_invalid_http_gets_one_error_and_a_hang_up(
    path: Path, sent: bytes, status: int, server: Server
) -> None:
    """What is no HTTP gets one error of the usual form and a hang-up; the next client is answered."""
    reply = await talk(path, sent)
    assert reply.startswith(f"HTTP/1.1 {status} ".encode())
    assert reply.count(b"content-type") == 1
    assert set(json.loads(reply.partition(b"\r\n\r\n")[2])["error"]) == {"code", "message", "hint"}
    await eventually_async(lambda: server.connections.open == 0)
    async with client(path) as asking:
        assert (await asking.get("/v1/health")).status_code == 200


async def test_f109_garbage_after_a_good_request_is_harmless(path: Path, stage: Stage) -> None:
    """Garbage after a good request leaves its answer whole."""
    async with serving(path, stage):
        reply = await talk(path, GET + b"\r\n" + b"\x00garbage\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 200")
    assert b'{"ok":true}' in reply


async def test_f109_random_bytes_never_stop_the_daemon(path: Path, server: Server) -> None:
    """After 59 bursts of random bytes no connection is open, and health answers."""
    for size in range(1, 60):
        await talk(path, os.urandom(size) + b"\r\n\r\n", then_eof=True)
    await eventually_async(lambda: server.connections.open == 0)
    async with client(path) as asking:
        assert (await asking.get("/v1/health")).status_code == 200


async def test_excess_request_is_refused_but_health_is_answered(path: Path, stage: Stage) -> None:
    """A refused request may be repeated after a second, and is let in once there is room."""
    room = Admission(2)
    async with serving(path, stage, admission=room), client(path) as asking:
        waiting = [asyncio.create_task(asking.get("/v1/wait")) for _ in range(2)]
        await eventually_async(lambda: stage.waiting == 2)
        refused = await asking.post("/v1/echo", json={"text": "one too many"})
        assert (refused.status_code, code_of(refused)) == (503, ErrorCode.OVERLOADED)
        assert refused.headers["retry-after"] == "1"
        assert (await asking.get("/v1/health")).json() == {"ok": True}
        assert (room.at_work, room.refused) == (2, 1)
        stage.release.set()
        assert {reply.status_code for reply in await asyncio.gather(*waiting)} == {200}
        assert (await asking.post("/v1/echo", json={"text": "now"})).status_code == 200
        assert room.at_work == 0


async def test_failed_or_abandoned_requests_free_their_place(path: Path, stage: Stage) -> None:
    room = Admission(1)
    async with serving(path, stage, admission=room), client(path) as asking:
        assert (await asking.get("/v1/broken")).status_code == 500
        assert (await asking.post("/v1/echo", content=b"{")).status_code == 400
        with pytest.raises(httpx.ReadTimeout):
            await asking.get("/v1/wait", timeout=0.2)
        await eventually_async(lambda: room.at_work == 0)
        room.most = 0
        assert code_of(await asking.get("/v1/peer")) == ErrorCode.OVERLOADED
        room.most = 1
        assert (await asking.get("/v1/peer")).status_code == 200
