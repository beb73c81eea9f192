"""One-time links to the page, and the sessions that they begin; all of it is forgotten at the end of the daemon."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from msgspec import Struct

from memoryd.agents.events import Subscription
from memoryd.errors import Unauthorized

LINK_SECONDS = 60.0
IDLE = timedelta(minutes=30)
"""How long a session lasts without a request, and the port that was opened for it."""
MOST = 16
"""Links, sessions, and notices of a session, at a time: the oldest gives way, of sessions the one that was not used for
longest."""
AGAIN = "memoryctl web makes a new link"


class Notice(Struct, frozen=True):
    """What a page says of what was done; `changes` or the `run` take it back."""

    text: str
    changes: tuple[int, ...] = ()
    run: str = ""
    is_error: bool = False


class Receipt(Struct, frozen=True):
    """What was done, as its page shows it; by its name it is shown again without being done again."""

    name: str
    values: dict[str, Any]


class PageSession(Struct, kw_only=True):
    """Who is in. Other ports of this host get no cookie of its `key`, which is a part of the path of all of its pages.

    A browser sends a cookie to every port of a host, but to no path that it is not of.
    """

    key: str
    secret: str
    is_kept: bool
    seen_at: float
    """When it last asked, in seconds of the clock; before it begins, when its link was given out."""
    agent: str | None = None
    """The agent that is shown first; None: the default one."""
    notices: dict[str, Notice] = {}
    """Those that were not shown yet, by the names in the addresses of the pages that are to show them."""
    receipt: Receipt | None = None
    """The last one."""
    is_over: bool = False
    stream: Subscription | None = None
    """What its live page follows; one at a time, so that many tabs take no more than one from the other streams."""

    def is_idle(self, now: float) -> bool:
        """Tell whether nothing was asked for too long."""
        return not self.is_kept and now - self.seen_at > IDLE.total_seconds()

    def follow(self, stream: Subscription) -> None:
        """Take a stream in the place of the one before, which ends."""
        if self.stream is not None:
            self.stream.close()
        self.stream = stream

    def keep_notice(self, notice: Notice) -> str:
        """Keep what a page is to say, and return the name by which it takes that; the oldest gives way."""
        name = secrets.token_urlsafe(6)
        self.notices[name] = notice
        if len(self.notices) > MOST:
            del self.notices[next(iter(self.notices))]
        return name

    def end(self) -> None:
        """Let it in no more, and end what it follows."""
        self.is_over = True
        if self.stream is not None:
            self.stream.close()


class PageSessions:
    """The links that were given out and not used, and the sessions. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._links: dict[str, PageSession] = {}
        """What each link will begin, by its token."""
        self._sessions: dict[str, PageSession] = {}
        self.used_at = clock()
        """When somebody last was let in, or was given a link."""

    def issue(self, agent: str | None = None, *, is_kept: bool) -> str:
        """Return the token of a link that begins one session, within a minute."""
        token, now = secrets.token_urlsafe(32), self._clock()
        self.used_at = now
        self._links[token] = PageSession(
            key=secrets.token_urlsafe(12), secret=secrets.token_urlsafe(32), is_kept=is_kept, seen_at=now, agent=agent
        )
        if len(self._links) > MOST:
            del self._links[next(iter(self._links))]
        return token

    def begin(self, token: str) -> PageSession:
        """Begin the session of a link; raises Unauthorized for one that is used, stale or none of ours."""
        session = self._links.pop(token, None)
        if session is None or session.seen_at + LINK_SECONDS <= self._clock():
            raise Unauthorized("this link was used already, or is older than a minute", hint=AGAIN)
        session.seen_at = self._clock()
        self._sessions[session.key] = session
        if len(self._sessions) > MOST:
            self._sessions.pop(next(iter(self._sessions))).end()
        return session

    def find(self, key: str, *given: str) -> PageSession:
        """Return the session of a path and one of these cookies, which lasts on; raises Unauthorized."""
        session = self._sessions.get(key)
        if (
            session is None
            or session.is_over
            or not any(secrets.compare_digest(session.secret.encode(), one.encode()) for one in given)
        ):
            raise Unauthorized("your session is over", hint=AGAIN)
        del self._sessions[key]
        if session.is_idle(self._clock()):
            session.end()
            raise Unauthorized("your session is over", hint=AGAIN)
        session.seen_at = self.used_at = self._clock()
        # to the end of those that may give way
        self._sessions[key] = session
        return session

    @property
    def is_kept(self) -> bool:
        """Whether a session is to last until the daemon ends."""
        return any(session.is_kept and not session.is_over for session in self._sessions.values())
