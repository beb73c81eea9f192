"""One-time links and the sessions they begin: how long each lasts, and how many there are."""

import pytest

from memoryd.agents.events import EventBus
from memoryd.errors import Unauthorized
from memoryd.web.door import _cookies
from memoryd.web.session import IDLE, LINK_SECONDS, SESSIONS_MAX, PageSessions
from tests.fakes import FakeClock


def test_link_is_valid_once_and_for_a_minute() -> None:
    clock = FakeClock()
    sessions = PageSessions(clock)
    first, second = sessions.issue(is_kept=False), sessions.issue(is_kept=False)
    sessions.begin(first)
    with pytest.raises(Unauthorized):
        sessions.begin(first)
    clock.now += LINK_SECONDS
    with pytest.raises(Unauthorized):
        sessions.begin(second)


def test_session_is_found_by_path_and_cookie_together() -> None:
    sessions = PageSessions(FakeClock())
    session, other = (sessions.begin(sessions.issue(is_kept=False)) for _ in range(2))
    assert sessions.find(session.key, session.secret) is session
    for key, secret in (
        (session.key, other.secret),
        (other.key, session.secret),
        (session.key, ""),
        ("", session.secret),
    ):
        with pytest.raises(Unauthorized):
            sessions.find(key, secret)


def test_cookies_of_other_ports_are_ignored() -> None:
    sessions = PageSessions(FakeClock())
    session = sessions.begin(sessions.issue(is_kept=False))
    header = f"theme=dark blue; memoryd={session.secret}; plain; =x; memoryd=evil; expires"
    given = _cookies({"headers": [(b"cookie", header.encode())]})
    assert given == [session.secret, "evil"]
    assert sessions.find(session.key, *given) is session
    with pytest.raises(Unauthorized):
        sessions.find(session.key, *_cookies({"headers": []}))


@pytest.mark.parametrize("is_kept", [True, False])
def test_idle_session_ends_unless_it_is_kept(is_kept: bool) -> None:
    clock = FakeClock()
    sessions = PageSessions(clock)
    session = sessions.begin(sessions.issue(is_kept=is_kept))
    for _ in range(3):
        clock.now += IDLE.total_seconds()
        assert sessions.find(session.key, session.secret) is session
    assert sessions.is_kept is is_kept
    clock.now += IDLE.total_seconds() + 1
    if is_kept:
        assert sessions.find(session.key, session.secret) is session
        return
    with pytest.raises(Unauthorized):
        sessions.find(session.key, session.secret)


def test_session_begins_with_the_named_agent() -> None:
    sessions = PageSessions(FakeClock())
    assert [sessions.begin(sessions.issue(name, is_kept=False)).agent for name in (None, "work")] == [None, "work"]


def test_least_recently_used_session_is_dropped() -> None:
    sessions = PageSessions(FakeClock())
    begun = [sessions.begin(sessions.issue(is_kept=False)) for _ in range(SESSIONS_MAX)]
    assert sessions.find(begun[0].key, begun[0].secret)
    sessions.begin(sessions.issue(is_kept=False))
    with pytest.raises(Unauthorized):
        sessions.find(begun[1].key, begun[1].secret)
    assert sessions.find(begun[0].key, begun[0].secret), "it was used a moment ago"


async def test_session_follows_one_stream_and_none_after_its_end() -> None:
    sessions, bus = PageSessions(FakeClock()), EventBus()
    session = sessions.begin(sessions.issue(is_kept=True))
    with bus.subscribe() as first, bus.subscribe() as second:
        session.follow(first)
        session.follow(second)
        assert await first.next() is None
        session.end()
        assert await second.next() is None
    assert not sessions.is_kept
    with pytest.raises(Unauthorized):
        sessions.find(session.key, session.secret)
