"""The loopback port needs the token, whose caller is the owner, except for irreversible calls."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from memoryd.api.application import TABLE
from memoryd.api.call import Row, Transport
from tests.contract.test_access_routes import CALLS, outcome
from tests.loopback import OpenPort, open_port

SCOPE = {"rules": [{"action": "allow", "match": {"chatType": "direct"}}]}
STREAM = "/v1/events"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPort]:
    with open_port(tmp_path_factory.mktemp("port"), memory={"scope": SCOPE}) as running:
        yield running


def asked(opened: OpenPort, row: Row, token: str | None) -> httpx.Response:
    call: dict[str, Any] = dict(CALLS[row.method, row.path])
    return opened.ask(row.method, call.pop("url", row.path), token=token, **call)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.method} {row.path}")
def test_no_call_is_answered_without_the_token(opened: OpenPort, row: Row) -> None:
    reply = asked(opened, row, "")
    assert (reply.status_code, outcome(reply)) == (httpx.codes.UNAUTHORIZED, "unauthorized")
    assert reply.headers["www-authenticate"] == "Bearer"
    assert set(reply.json()["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.path != STREAM], ids=lambda row: f"{row.method} {row.path}"
)
def test_token_allows_all_but_irreversible_calls(opened: OpenPort, row: Row) -> None:
    code = outcome(asked(opened, row, None))
    if row.served is Transport.SOCKET:
        assert code == "denied"
    elif row.path == "/v1/sessions/start":
        # it is called with the key of another agent
        assert code == "denied"
    elif row.path == "/v1/team/sync":
        # there is no team
        assert code == "disabled"
    else:
        assert code in ("ok", "not_found", "invalid_request"), "it is admitted"


def test_events_are_streamed_with_the_token(opened: OpenPort) -> None:
    headers = {"Authorization": f"Bearer {opened.token}"}
    with httpx.stream("GET", f"{opened.url}{STREAM}", headers=headers, timeout=20, verify=False) as reply:
        assert next(reply.iter_lines()) == ": connected"


def test_irreversible_calls_are_served_on_the_socket_only() -> None:
    final = {row.path for row in TABLE if row.served is Transport.SOCKET}
    shared = {"/v1/team/promote", "/v1/team/revoke"}
    assert final == {"/v1/forget", "/v1/sessions/forget", "/v1/reload", "/v1/page", *shared}


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.served is Transport.PORT], ids=lambda row: f"{row.method} {row.path}"
)
def test_paths_of_another_program_are_served_on_the_port_only(opened: OpenPort, row: Row) -> None:
    transport = httpx.HTTPTransport(uds=str(opened.daemon.socket), verify=False)
    with httpx.Client(transport=transport, base_url="http://memoryd", timeout=20) as client:
        reply = client.request(row.method, row.path.format(memory="00000000"))
    assert outcome(reply) == "not_found"
    assert "loopback port" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("agent:main:main", "ok"),
        ("telegram:direct:42", "ok"),
        ("agent:main:discord:group:7", "denied"),
        ("agent:main:subagent:x", "denied"),
        ("agent:ghost:main", "denied"),
        ("garbage", "denied"),
        ("", "denied"),
    ],
)
def test_session_key_restricts_on_the_port_as_on_the_socket(opened: OpenPort, key: str, expected: str) -> None:
    for reply in (
        opened.ask("POST", "/v1/search", json={"query": "gateway", "sessionKey": key}),
        opened.ask("GET", "/api/v1/memory/docs", params={"q": "pier", "sessionKey": key}),
        opened.ask("GET", "/api/v1/memory/stats", params={"sessionKey": key}),
    ):
        assert outcome(reply) == expected, reply.text
        assert expected == "ok" or not {"alder", "pier", "Harbour"} & set(reply.text.split())


def test_too_long_question_of_documents_is_too_large(opened: OpenPort) -> None:
    asked = opened.ask("GET", "/api/v1/memory/docs", params={"q": "pier " * 900})
    assert outcome(asked) == "too_large", asked.text
