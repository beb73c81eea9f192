"""What a request on the loopback port must say of itself, and how many wrong tokens are too many."""

import pytest

from memoryd.domain.access import DoorRules, TokenLimiter, bearer_token
from tests.fakes import FakeClock

RULES = DoorRules.of(18790, ["memory.internal:18790"], ["app://notes"])


@pytest.mark.parametrize(
    "host", ["127.0.0.1:18790", "localhost:18790", "[::1]:18790", "LOCALHOST:18790", "memory.internal:18790"]
)
def test_names_of_this_machine_are_let_in(host: str) -> None:
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
def test_other_hosts_are_not(host: str) -> None:
    assert RULES.why_not_host([(b"host", host.encode())])


def test_no_host_and_two_hosts_are_none_of_ours() -> None:
    ours = (b"host", b"localhost:18790")
    assert RULES.why_not_host([])
    assert RULES.why_not_host([ours, (b"host", b"evil.com")])
    assert RULES.why_not_host([ours, ours])


def test_origin_is_let_in_if_it_is_listed_or_none_is_named() -> None:
    assert RULES.why_not_origin([]) == ""
    assert RULES.why_not_origin([(b"origin", b"app://notes")]) == ""
    for origin in (b"https://evil.com", b"null", b"http://localhost:18790", b"", b"app://notes.evil.com"):
        assert RULES.why_not_origin([(b"origin", origin)]), origin
    assert RULES.why_not_origin([(b"origin", b"app://notes"), (b"origin", b"https://evil.com")])


def test_token_is_read_from_one_header_alone() -> None:
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


def test_wrong_tokens_are_counted_within_a_minute() -> None:
    clock = FakeClock()
    wrong = TokenLimiter(clock, most=3, seconds=60)
    for _ in range(3):
        assert wrong.wait() == 0
        wrong.note()
        clock.advance(10)
    assert wrong.wait() == 30
    clock.advance(29)
    assert wrong.wait() == 1
    clock.advance(1)
    assert wrong.wait() == 0
    wrong.note()
    assert wrong.wait() == 10


HOST = (b"host", b"127.0.0.1:18790")
OURS = (b"sec-fetch-site", b"same-origin")
TYPED = (b"sec-fetch-site", b"none")
BESIDE = (b"sec-fetch-site", b"same-site")
"""What a browser says of a page on another port of this host."""


@pytest.mark.parametrize(
    ("headers", "reads", "writes", "enters"),
    [
        ([], True, False, True),
        ([OURS], True, True, True),
        ([OURS, (b"origin", b"null")], True, True, True),
        ([OURS, (b"origin", b"http://127.0.0.1:18790")], True, True, True),
        ([(b"origin", b"http://127.0.0.1:18790")], True, True, True),
        ([TYPED], True, False, True),
        ([BESIDE], False, False, True),
        ([(b"sec-fetch-site", b"cross-site")], False, False, True),
        ([OURS, BESIDE], False, False, True),
        ([(b"origin", b"null")], False, False, False),
        ([BESIDE, (b"origin", b"http://127.0.0.1:1")], False, False, False),
        ([OURS, (b"origin", b"http://127.0.0.1:1")], False, False, False),
        ([(b"origin", b"http://localhost:18790")], False, False, False),
        ([BESIDE, (b"origin", b"http://127.0.0.1:18790")], False, False, True),
    ],
)
def test_page_is_read_and_written_by_itself_and_entered_from_anywhere(
    headers: list[tuple[bytes, bytes]], reads: bool, writes: bool, enters: bool
) -> None:
    given = [HOST, *headers]
    assert (RULES.why_not_page(given, is_write=False, is_entrance=False) == "") is reads
    assert (RULES.why_not_page(given, is_write=True, is_entrance=False) == "") is writes
    assert (RULES.why_not_page(given, is_write=True, is_entrance=True) == "") is writes
    assert (RULES.why_not_page(given, is_write=False, is_entrance=True) == "") is enters


def test_pages_are_shown_under_names_of_loopback_alone() -> None:
    rules = DoorRules.of(18790, ["memory.internal:18790", "localhost:9999", "localhost.evil.com:1"]).of_pages()
    shown = ["127.0.0.1:18790", "localhost:18790", "[::1]:18790", "localhost:9999"]
    assert rules.hosts == set(shown)
