"""Lines of standard input become messages, or errors that say what is wrong."""

import pytest
from mcp_types import ErrorData, JSONRPCNotification, JSONRPCRequest

from memoryd.errors import InvalidRequest
from memoryd.mcp.arguments import GetArguments, NoArguments, SearchArguments, read
from memoryd.mcp.server import MESSAGE_BYTES_MAX, message_of


def test_request_is_read() -> None:
    message = message_of(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    assert isinstance(message, JSONRPCRequest)
    assert (message.id, message.method) == (1, "ping")


def test_notification_is_read() -> None:
    message = message_of(b'{"jsonrpc": "2.0", "method": "notifications/x", "params": {"id": {"a": 1}}}')
    assert isinstance(message, JSONRPCNotification)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"[" * 10_000, -32700),
        (b"1", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "tools/list"}', -32600),
        (b"x" * (MESSAGE_BYTES_MAX + 1), -32700),
    ],
)
def test_invalid_message_is_an_error_with_a_code(line: bytes, code: int) -> None:
    found = message_of(line)
    assert isinstance(found, ErrorData)
    assert found.code == code


def test_empty_line_is_ignored() -> None:
    assert message_of(b" \r") is None


def test_wrong_arguments_are_named_and_not_quoted() -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(SearchArguments, {"qery": "secret", "max_results": "secret", "since": ["secret"]})
    assert "'query' is" in str(caught.value)
    assert "max_results" in str(caught.value)
    assert "secret" not in f"{caught.value} {caught.value.hint}"


def test_arguments_have_the_names_of_the_schema() -> None:
    found = read(GetArguments, {"path": "a.md", "from": "3"})
    assert isinstance(found, GetArguments)
    assert found.from_line == 3
    assert "from" in GetArguments.json_schema()["properties"]
    assert read(NoArguments, None) == NoArguments()
