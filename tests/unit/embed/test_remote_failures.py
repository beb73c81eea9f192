"""What the error of a failed call says, and what it must never contain."""

import json
from datetime import UTC, datetime

import pytest

from memoryd.embed.remote.breaker import FailureKind, meaning, redacted
from memoryd.models.fetching import seconds_until

NOW = datetime(2026, 11, 18, 12, 0, 0, tzinfo=UTC)
NOTE = "The spare key for the bicycle shed hangs behind the fuse box now."


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        (" 3 ", 3.0),
        ("Wed, 18 Nov 2026 12:00:20 GMT", 20.0),
        ("Wed, 18 Nov 2026 11:00:00 GMT", 0.0),
        ("Wed, 18 Nov 2026 12:00:20 -0000", 20.0),
        ("999999999", 86_400.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1e9", None),
        ("٣", None),
    ],
)
def test_retry_after_is_read_in_both_forms(header: str, seconds: float | None) -> None:
    assert seconds_until(header, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "Unauthorized", FailureKind.NO_ACCESS),
        (400, "API key not valid. Please pass a valid API key.", FailureKind.NO_ACCESS),
        (404, "The model `x` does not exist", FailureKind.MISSING),
        (400, "This model's maximum context length is 8192 tokens, however you requested 9001", FailureKind.TOO_LONG),
        (500, "input is too large to process. increase the physical batch size", FailureKind.TOO_LONG),
        (413, "`inputs` must have less than 512 tokens. Given: 600", FailureKind.TOO_LONG),
        (413, "batch size 64 > maximum allowed batch size 32", FailureKind.TOO_MANY),
        (400, "Requested 416735 tokens, max 300000 tokens per request", FailureKind.TOO_MANY),
        (400, "Invalid 'input': array too long. Expected at most 2048", FailureKind.TOO_MANY),
        (400, "Too many tokens in batch. Max is 16384 got 20000", FailureKind.TOO_MANY),
        (429, "Rate limit reached", FailureKind.BUSY),
        (422, "Input should be a valid string", FailureKind.REFUSED),
        (500, "boom", FailureKind.FAILING),
        (503, "overloaded", FailureKind.UNAVAILABLE),
        (302, "", FailureKind.ELSEWHERE),
    ],
)
def test_status_and_message_give_the_kind_of_failure(status: int, message: str, kind: FailureKind) -> None:
    error = meaning(status, json.dumps({"error": {"message": message}}).encode(), "", NOW)
    assert error.kind is kind
    assert message in error.reason


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no"}},
        {"error": "no"},
        {"message": "no"},
        {"detail": "no"},
        {"detail": [{"loc": ["body"], "msg": "no", "input": NOTE}]},
        {"object": "error", "message": {"detail": [{"msg": "no", "input": NOTE}]}},
        [{"error": {"message": "no"}}],
    ],
)
def test_only_the_message_of_a_body_is_shown(body: object) -> None:
    assert meaning(400, json.dumps(body).encode(), "", NOW).reason == "400 no"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"[" * 100_000, b"\xff", b'{"error": 3}', NOTE.encode()])
def test_body_of_another_shape_shows_nothing(body: bytes) -> None:
    assert meaning(400, body, "", NOW).reason == "400"


def test_keys_are_redacted_known_or_not() -> None:
    reason = redacted(
        "bad key geheim-4711 and sk-proj-abcdefghijklmnop and AIzaSyA1234567890abcdef", ["geheim-4711"], []
    )
    assert reason == "bad key *** and *** and ***"


def test_message_that_quotes_a_part_of_a_text_is_withheld() -> None:
    for start in (0, 3, 20):
        assert "bicycle" not in redacted(f"400 cannot read: {NOTE[start:]}", [], [NOTE])
    assert redacted("400 cannot read this", [], [NOTE]) == "400 cannot read this"


def test_long_message_is_cut_and_on_one_line() -> None:
    reason = redacted("a\nb " * 500, [], [])
    assert "\n" not in reason
    assert len(reason) <= 241
