"""Checks of requests on the loopback port: host, origin, token, and the limit for wrong tokens."""

import pytest

from memoryd.domain.access import DoorRules, TokenLimiter, bearer_token
from tests.fakes import FakeClock

RULES = DoorRules.of(18790, ["memory.internal:18790"], ["app://notes"])


@pytest.mark.parametrize(
    "host", ["127.0.0.1:18790", "localhost:18790", "[::1]:18790", "LOCALHOST:18790", "memory.internal:18790"]
)
def test_own_host_names_are_accepted(host: str) -> None:
    assert RULES.why_not_host([(b"host", host.encode())]) == ""


@pytest.mark.parametrize(
    "host",
    [
        "evil.com",
        "evil.com:18790",
        "localhost",
        "localhost:80",
        "localhost.:18790",
        "localhost:18790.evil.com",
        "127.0.0.1.nip.io:18790",
        "127.1:18790",
        "0.0.0.0:18790",
        "user@localhost:18790",
        " localhost:18790",
        "memory.internal",
        "",
    ],
)
def test_other_hosts_are_refused(host: str) -> None:
    assert RULES.why_not_host([(b"host", host.encode())])


def test_missing_or_second_host_is_refused() -> None:
    ours = (b"host", b"localhost:18790")
    assert RULES.why_not_host([])
    assert RULES.why_not_host([ours, (b"host", b"evil.com")])
    assert RULES.why_not_host([ours, ours])


def test_origin_must_be_listed_or_absent() -> None:
    assert RULES.why_not_origin([]) == ""
    assert RULES.why_not_origin([(b"origin", b"app://notes")]) == ""
    for origin in (b"https://evil.com", b"null", b"http://localhost:18790", b"", b"app://notes.evil.com"):
        assert RULES.why_not_origin([(b"origin", origin)]), origin
    assert RULES.why_not_origin([(b"origin", b"app://notes"), (b"origin", b"https://evil.com")])


def test_token_is_read_from_exactly_one_header() -> None:
    assert bearer_token([(b"authorization", b"Bearer abc")]) == b"abc"
    assert bearer_token([(b"authorization", b"bearer   abc ")]) == b"abc"
    for headers in (
        [],
        [(b"authorization", b"abc")],
        [(b"authorization", b"Basic abc")],
        [(b"authorization", b"Bearer")],
        [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")],
        [(b"cookie", b"Bearer abc")],
    ):
        assert bearer_token(headers) == b"", headers


def test_wrong_tokens_are_limited_per_minute() -> None:
    clock = FakeClock()
    limiter = TokenLimiter(clock, most=3, seconds=60)
    for _ in range(3):
        assert limiter.wait() == 0
        limiter.note()
        clock.advance(10)
    assert limiter.wait() == 30
    clock.advance(29)
    assert limiter.wait() == 1
    clock.advance(1)
    assert limiter.wait() == 0
    limiter.note()
    assert limiter.wait() == 10


HOST = (b"host", b"127.0.0.1:18790")
SAME_ORIGIN = (b"sec-fetch-site", b"same-origin")
NO_SITE = (b"sec-fetch-site", b"none")
SAME_SITE = (b"sec-fetch-site", b"same-site")
"""Sent by a browser for a page on another port of this host."""


@pytest.mark.parametrize(
    ("headers", "reads", "writes", "enters"),
    [
        ([], True, False, True),
        ([SAME_ORIGIN], True, True, True),
        ([SAME_ORIGIN, (b"origin", b"null")], True, True, True),
        ([SAME_ORIGIN, (b"origin", b"http://127.0.0.1:18790")], True, True, True),
        ([(b"origin", b"http://127.0.0.1:18790")], True, True, True),
        ([NO_SITE], True, False, True),
        ([SAME_SITE], False, False, True),
        ([(b"sec-fetch-site", b"cross-site")], False, False, True),
        ([SAME_ORIGIN, SAME_SITE], False, False, True),
        ([(b"origin", b"null")], False, False, False),
        ([SAME_SITE, (b"origin", b"http://127.0.0.1:1")], False, False, False),
        ([SAME_ORIGIN, (b"origin", b"http://127.0.0.1:1")], False, False, False),
        ([(b"origin", b"http://localhost:18790")], False, False, False),
        ([SAME_SITE, (b"origin", b"http://127.0.0.1:18790")], False, False, True),
    ],
)
def test_page_request_is_checked_by_site_and_origin(
    headers: list[tuple[bytes, bytes]], reads: bool, writes: bool, enters: bool
) -> None:
    sent = [HOST, *headers]
    assert (RULES.why_not_page(sent, is_write=False, is_entrance=False) == "") is reads
    assert (RULES.why_not_page(sent, is_write=True, is_entrance=False) == "") is writes
    assert (RULES.why_not_page(sent, is_write=True, is_entrance=True) == "") is writes
    assert (RULES.why_not_page(sent, is_write=False, is_entrance=True) == "") is enters


def test_pages_have_loopback_hosts_only() -> None:
    rules = DoorRules.of(18790, ["memory.internal:18790", "localhost:9999", "localhost.evil.com:1"]).of_pages()
    shown = ["127.0.0.1:18790", "localhost:18790", "[::1]:18790", "localhost:9999"]
    assert rules.hosts == set(shown)
