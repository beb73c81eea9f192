"""One-time links to the page, and the sessions that they begin; all of it is forgotten at the end of the daemon."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgspec import Struct

from memoryd.errors import Unauthorized

LINK_SECONDS: Final = 60.0
IDLE: Final = timedelta(minutes=30)
"""How long a session lasts without a request, and the port that was opened for it."""
MOST: Final = 16
"""Links, and sessions, at a time: the oldest gives way."""
AGAIN: Final = "memoryctl web makes a new link"


class Notice(Struct, frozen=True):
    """What the next page says of what was done; `changes` or the `run` take it back."""

    text: str
    changes: tuple[int, ...] = ()
    run: str = ""
    is_error: bool = False


class PageSession(Struct, kw_only=True):
    """Who is in. Other ports of this host get no cookie of its `key`, which is a part of the path of all of its pages.

    A browser sends a cookie to every port of a host, but to no path that it is not of.
    """

    key: str
    secret: str
    is_kept: bool
    seen_at: float
    """When it last asked, in seconds of the clock."""
    agent: str | None = None
    """The agent that is looked at; None: the default one."""
    notice: Notice | None = None


class _Link(Struct, frozen=True):
    """A link that nobody has come by yet."""

    until: float
    is_kept: bool
    agent: str | None


class PageSessions:
    """The links that were given out and not used, and the sessions. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._links: dict[str, _Link] = {}
        self._sessions: dict[str, PageSession] = {}
        self.used_at = clock()
        """When somebody last was let in, or was given a link."""

    def issue(self, agent: str | None = None, *, is_kept: bool) -> str:
        """Return the token of a link that begins one session, within a minute."""
        token = secrets.token_urlsafe(32)
        self.used_at = self._clock()
        self._links[token] = _Link(self._clock() + LINK_SECONDS, is_kept, agent)
        _trim(self._links)
        return token

    def begin(self, token: str) -> PageSession:
        """Begin the session of a link; raises Unauthorized for one that is used, stale or none of ours."""
        link = self._links.pop(token, None)
        if link is None or link.until <= self._clock():
            raise Unauthorized("this link was used already, or is older than a minute", hint=AGAIN)
        session = PageSession(
            key=secrets.token_urlsafe(12),
            secret=secrets.token_urlsafe(32),
            is_kept=link.is_kept,
            seen_at=self._clock(),
            agent=link.agent,
        )
        self._sessions[session.key] = session
        _trim(self._sessions)
        return session

    def find(self, key: str, *given: str) -> PageSession:
        """Return the session of a path and one of these cookies, which lasts on; raises Unauthorized."""
        session = self._sessions.get(key)
        if session is None or not any(secrets.compare_digest(session.secret.encode(), one.encode()) for one in given):
            raise Unauthorized("nobody is in by this address", hint=AGAIN)
        if not session.is_kept and self._clock() - session.seen_at > IDLE.total_seconds():
            self.end(session)
            raise Unauthorized("nothing was asked for half an hour", hint=AGAIN)
        session.seen_at = self.used_at = self._clock()
        return session

    def end(self, session: PageSession) -> None:
        """Let it in no more."""
        self._sessions.pop(session.key, None)

    @property
    def is_kept(self) -> bool:
        """Whether a session is to last until the daemon ends."""
        return any(session.is_kept for session in self._sessions.values())


def _trim(held: dict[str, _Link] | dict[str, PageSession]) -> None:
    while len(held) > MOST:
        held.pop(next(iter(held)))
