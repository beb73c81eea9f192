"""The client against a real server on a Unix socket: its requests, and how it handles replies and failures."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoryd import errors
from memoryd.client import Client, connection
from memoryd.config.paths import config_file, state_dir
from memoryd.daemon.lock import DaemonLock
from memoryd.wire import ErrorCode
from tests.integration.contract_server import Contract, Raw, Reply, Request, error, pending, serving
from tests.waiting import eventually

HEAVY = ("pydantic", "http.client", "ssl", "httpx", "starlette", "rich", "numpy", "asyncio", "click", "apsw")
NOT_JSON = Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n[")


@pytest.fixture
def client(contract: Contract) -> Iterator[Client]:
    with Client(contract.socket, timeout=5) as client:
        yield client


def test_import_loads_no_heavy_modules() -> None:
    program = "import json, sys, memoryd.client; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(json.loads(done.stdout))


def test_search_sends_only_given_parameters(client: Client, contract: Contract) -> None:
    client.search("port")
    client.search("端口", agent="a", max_results=3, since="2026-01-01", paths=["memory/*"], explain=True)
    assert contract.bodies("search") == [
        {"query": "port"},
        {
            "query": "端口",
            "agent": "a",
            "maxResults": 3,
            "since": "2026-01-01",
            "paths": ["memory/*"],
            "explain": True,
        },
    ]


def test_agent_and_session_default_to_those_of_client(contract: Contract) -> None:
    with Client(contract.socket, timeout=5, agent="a", session_key="agent:a:main") as client:
        client.search("port")
        client.search("port", agent="b")
        client.reindex()
        client.status()
    asked = {"query": "port", "sessionKey": "agent:a:main"}
    assert contract.bodies("search") == [{**asked, "agent": "a"}, {**asked, "agent": "b"}]
    assert contract.bodies("reindex") == [{"agent": "a"}], "it has no session"
    assert contract.requests[-1].query == {}


def test_search_returns_the_reply_as_decoded(client: Client) -> None:
    reply = client.search("port")
    assert reply["results"][0]["startLine"] == 3
    assert reply["health"]["complete"]


def test_get_requests_lines(client: Client) -> None:
    assert client.get("memory/2026-01-05.md", start=3, lines=1)["text"] == "The gateway listens on port 18789.\n"


def test_get_quotes_special_names(client: Client, contract: Contract) -> None:
    for name in ("bank/a b?c#d%41.md", "memory/日记.md"):
        with pytest.raises(errors.NotFound):
            client.get(name, agent="main")
        assert contract.requests[-1] == Request("GET", f"/v1/files/{name}", {"agent": "main"}, None)


def test_health_status_and_reindex(client: Client, contract: Contract) -> None:
    assert client.health() == {"ok": True, "ready": True}
    assert client.status()["agents"][0]["id"] == "main"
    assert client.reindex(force=True)["pendingFiles"] == 214
    assert contract.bodies("reindex") == [{"force": True}]


def test_calls_share_one_connection(client: Client, contract: Contract) -> None:
    for _ in range(5):
        client.health()
    assert contract.connections == 1


def test_closed_connection_is_reopened(contract: Contract) -> None:
    with Client(contract.socket, timeout=5) as client:
        body = b'{"ok": true, "ready": true}'
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        contract.replies["health"] = Raw(head + body)  # says keep-alive, then closes
        assert [client.health()["ok"] for _ in range(3)] == [True] * 3
        assert contract.connections == 3


def test_sync_timeout_defaults_to_that_of_client(client: Client, contract: Contract) -> None:
    client.sync()
    client.sync("embedded", timeout_ms=100, agent="a")
    assert contract.bodies("sync") == [
        {"wait": "indexed", "timeoutMs": 5000},
        {"agent": "a", "wait": "embedded", "timeoutMs": 100},
    ]


def test_reply_may_take_as_long_as_requested_wait(contract: Contract) -> None:
    may_answer = threading.Event()

    def slowly(_request: Request) -> Reply:
        may_answer.wait(60)
        return 200, pending(complete=True)

    contract.replies["sync"] = slowly
    timer = threading.Timer(0.3, may_answer.set)
    timer.start()
    with Client(contract.socket, timeout=0.05) as client:
        assert client.sync(timeout_ms=5000)["complete"] is True
    timer.join()


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (ErrorCode.INVALID_REQUEST, 400, errors.InvalidRequest),
        (ErrorCode.TOO_LARGE, 413, errors.TooLarge),
        (ErrorCode.NOT_FOUND, 404, errors.NotFound),
        (ErrorCode.UNKNOWN_AGENT, 404, errors.UnknownAgent),
        (ErrorCode.DISABLED, 409, errors.Disabled),
        (ErrorCode.DENIED, 403, errors.Denied),
        (ErrorCode.UNAVAILABLE, 503, errors.NotNow),
        (ErrorCode.SHUTTING_DOWN, 503, errors.ShuttingDown),
        (ErrorCode.TIMEOUT, 504, errors.DeadlineExceeded),
        (ErrorCode.INTERNAL, 500, errors.MemorydError),
    ],
)
def test_error_code_becomes_its_exception(
    client: Client, contract: Contract, code: ErrorCode, status: int, kind: type[errors.MemorydError]
) -> None:
    contract.replies["search"] = (status, error(code, "it cannot be", "do this"))
    with pytest.raises(kind) as caught:
        client.search("port")
    assert type(caught.value) is kind
    assert (caught.value.code, str(caught.value), caught.value.hint) == (code, "it cannot be", "do this")
    assert client.health()["ok"], "an error must not spoil the connection"


@pytest.mark.parametrize(
    "reply",
    [(404, {"detail": "Not Found"}), (500, error("a_new_code", "?")), Raw(b"+OK redis\r\n"), NOT_JSON],
)
def test_unknown_replies_are_a_plain_error(client: Client, contract: Contract, reply: Reply) -> None:
    contract.replies["search"] = reply
    with pytest.raises(errors.MemorydError) as caught:
        client.search("port")
    assert type(caught.value) is errors.MemorydError


@pytest.mark.parametrize("name", ["missing.sock", "file", "file/below.sock"])
def test_missing_daemon_is_explained(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("not a socket")
    with Client(tmp_path / name) as client, pytest.raises(errors.DaemonNotRunning) as caught:
        client.health()
    assert caught.value.hint == "start it: memoryd; to set it up first: memoryctl init"
    config_file().parent.mkdir(parents=True)
    config_file().write_text("{}")
    with Client(tmp_path / name) as client, pytest.raises(errors.DaemonNotRunning) as caught:
        client.health()
    assert caught.value.hint == "start it: memoryd"


def test_stale_socket_is_not_a_daemon(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "memoryd.sock"))
    with Client(tmp_path / "memoryd.sock") as client, pytest.raises(errors.DaemonNotRunning):
        client.health()


@pytest.mark.skipif(sys.platform == "darwin", reason="its kernel does not tell who holds a lock")
def test_starting_daemon_with_lock_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "memoryd.sock"
    with ExitStack() as starting, DaemonLock(state_dir(), socket=path), Client(path, timeout=5) as client:
        listening = threading.Timer(0.3, lambda: starting.enter_context(serving(path)))
        listening.start()
        starting.callback(listening.join)
        assert client.health()["ok"]
        listening.join()


@pytest.mark.skipif(sys.platform == "darwin", reason="its kernel does not tell who holds a lock")
def test_locked_daemon_that_never_listens_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memoryd.sock"
    monkeypatch.setattr(connection, "START_SECONDS", 0.1)
    with (
        DaemonLock(state_dir(), socket=path),
        Client(path) as client,
        pytest.raises(errors.DaemonNotRunning, match="does not listen") as caught,
    ):
        client.health()
    assert "start it" not in str(caught.value.hint)
    with Client(path) as client, pytest.raises(errors.DaemonNotRunning, match="not running"):
        client.health()


@pytest.mark.skipif(sys.platform == "darwin", reason="its kernel does not tell who runs")
def test_daemon_process_without_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memoryd.sock"
    monkeypatch.setenv("MEMORYD_SOCKET", str(path))
    with ExitStack() as starting, Client(timeout=5) as client:
        begun = subprocess.Popen(["memoryd", "30"], executable="/bin/sleep")
        starting.callback(begun.wait)
        starting.callback(begun.kill)
        eventually(lambda: Path(f"/proc/{begun.pid}/cmdline").read_bytes())  # the kernel writes it after the exec
        listening = threading.Timer(0.3, lambda: starting.enter_context(serving(path)))
        listening.start()
        starting.callback(listening.join)
        assert client.health()["ok"]
        listening.join()
    with Client() as client, pytest.raises(errors.DaemonNotRunning, match="not running"):
        client.health()


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd there")
def test_hint_names_the_installed_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = tmp_path / "config/systemd/user/memoryd.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with Client(tmp_path / "missing.sock") as client, pytest.raises(errors.DaemonNotRunning) as caught:
        client.health()
    assert caught.value.hint == "start it: memoryctl service start"


def test_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with Client(tmp_path / ("x" * 120)) as client, pytest.raises(errors.InvalidRequest, match="too long"):
        client.health()


def test_silent_daemon_times_out(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "memoryd.sock"))
        silent.listen()
        with Client(tmp_path / "memoryd.sock", timeout=0.1) as client:
            with pytest.raises(errors.DeadlineExceeded):
                client.health()
            with pytest.raises(errors.DeadlineExceeded):
                next(client.events())


def test_daemon_that_dies_before_answering(client: Client, contract: Contract) -> None:
    for fragment in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"):
        contract.replies["search"] = Raw(fragment)
        with pytest.raises(errors.NotNow):
            client.search("port")
    assert client.health()["ok"]


@pytest.mark.parametrize(
    "answer",
    [
        b"220 mail.example ESMTP\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101,
        b"HTTP/1.1 200 OK\r\nlong: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
    ],
)
def test_server_with_another_protocol_is_named(client: Client, contract: Contract, answer: bytes) -> None:
    contract.replies["search"] = Raw(answer)
    with pytest.raises(errors.MemorydError, match="is not memoryd") as caught:
        client.search("port")
    assert type(caught.value) is errors.MemorydError
    assert client.health()["ok"]


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\n{"res\r\nA\r\nults": []}\r\n0\r\nT: x\r\n\r\n',
        b'HTTP/1.0 200 OK\r\n\r\n{"results": []}',
        b'HTTP/1.1 200 OK\nCONTENT-LENGTH:15\nConnection: close\n\n{"results": []}',
    ],
    ids=["chunks", "until the end", "bare line feeds"],
)
def test_body_is_read_in_each_framing(client: Client, contract: Contract, answer: bytes) -> None:
    contract.replies["search"] = Raw(answer)
    assert client.search("port")["results"] == []
    assert client.health()["ok"]


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_reply_without_body_is_not_waited_for(client: Client, contract: Contract, status: bytes) -> None:
    contract.replies["search"] = Raw(b"HTTP/1.1 " + status + b"\r\n\r\n")
    with pytest.raises(errors.MemorydError, match="not JSON"):
        client.search("port")
    assert client.health()["ok"]


def test_aborted_call_is_not_sent_again(client: Client, contract: Contract) -> None:
    is_over = threading.Event()

    def slow(_: Request) -> Reply:
        is_over.wait(20)
        return 200, pending()

    assert client.health()["ok"]
    contract.replies["search"] = slow
    breaking = threading.Timer(0.3, client.abort)
    breaking.start()
    try:
        with pytest.raises(errors.NotNow):
            client.search("port")
        assert [one.path for one in contract.requests].count("/v1/search") == 1
    finally:
        is_over.set()
        breaking.join()


@pytest.mark.parametrize("path", ["/health HTTP/1.1\r\nX: y", "/files/a b", "/files/ä", "/files/a\n"])
def test_unquoted_path_is_refused(client: Client, contract: Contract, path: str) -> None:
    with pytest.raises(errors.InvalidRequest, match="printable ASCII"):
        client.call("GET", path)
    assert contract.requests == []


def test_events_are_decoded_from_any_chunks(client: Client, contract: Contract) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [b"event: mo", b'del\ndata: {"a"', b": 1}\n", b"\ndata: {}\n\n"]
    contract.replies["events"] = Raw(head + b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in pieces))
    events = client.events()
    assert [next(events), next(events)] == [{"event": "model", "data": {"a": 1}}, {"event": "message", "data": {}}]
    with pytest.raises(errors.NotNow):
        next(events)


@pytest.mark.usefixtures("contract")
def test_default_socket_is_read_from_environment() -> None:
    with Client() as client:
        assert client.health()["ok"]


def test_events_are_decoded_until_the_stream_ends(client: Client, contract: Contract) -> None:
    assert list(client.events(agent="main")) == [{"event": "sync", "data": {"agent": "main", "state": "finished"}}]
    assert contract.requests[-1].query == {"agent": "main"}


def test_events_of_several_data_lines_and_long_silence(client: Client, contract: Contract) -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    stream = b'id: 1\r\nevent: model\r\ndata: {"state":\r\ndata:"ready"}\r\n\r\n\r\ndata: {"a": 1}\n\nevent: cut'
    contract.replies["events"] = Raw(head + stream)
    assert list(client.events()) == [
        {"event": "model", "data": {"state": "ready"}},
        {"event": "message", "data": {"a": 1}},
    ]


def test_refused_events_raise_the_error(client: Client, contract: Contract) -> None:
    contract.replies["events"] = (404, error("unknown_agent", "no agent x"))
    with pytest.raises(errors.UnknownAgent):
        list(client.events(agent="x"))


def test_closing_events_early_closes_the_connection(contract: Contract) -> None:
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    contract.replies["events"] = Raw(head + b"data: {}\n\n" * 100_000)
    with Client(contract.socket) as client:
        events = client.events()
        assert next(events)["data"] == {}
        assert contract.open_connections == 1
        events.close()
    eventually(lambda: contract.open_connections == 0)
