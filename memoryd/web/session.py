"""One-time links to the page, and the sessions that they begin. They are in memory only and end with the daemon."""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from msgspec import Struct

from memoryd.agents.events import Subscription
from memoryd.errors import Unauthorized

LINK_SECONDS = 60.0
IDLE = timedelta(minutes=30)
"""How long a session, and the port that was opened for it, last without a request."""
SESSIONS_MAX = 16
"""Maximum number of links, of sessions, and of notices of a session. The oldest is removed; of sessions the one that
was unused for longest."""
AGAIN = "memoryctl web makes a new link"


class Notice(Struct, frozen=True):
    """A message about what was done; `changes` or the `run` can be undone."""

    text: str
    changes: tuple[int, ...] = ()
    run: str = ""
    is_error: bool = False


class Receipt(Struct, frozen=True):
    """The values of a page that shows what was done; `name` is in its address, so that a reload only shows it again."""

    name: str
    values: dict[str, Any]


class PageSession(Struct, kw_only=True):
    """A session of a browser. Its `key` is part of the path of all of its pages, and of the path of its cookie.

    A browser sends a cookie to every port of a host, but only to paths below that of the cookie: so other programs on
    this host do not get it.
    """

    key: str
    secret: str
    is_kept: bool
    seen_at: float
    """Time of the last request, in seconds of the clock; before the first, the time when its link was issued."""
    agent: str | None = None
    """The agent that is shown first; None for the default agent."""
    notices: dict[str, Notice] = {}
    """Notices that were not shown yet, by the names in the addresses of the pages that show them."""
    receipt: Receipt | None = None
    """The last receipt."""
    is_over: bool = False
    stream: Subscription | None = None
    """The event stream of the live page: one per session, so that many tabs do not use up the streams of others."""

    def is_idle(self, now: float) -> bool:
        """Return whether the last request was longer ago than `IDLE`."""
        return not self.is_kept and now - self.seen_at > IDLE.total_seconds()

    def follow(self, stream: Subscription) -> None:
        """Replace the stream; the previous one is closed."""
        if self.stream is not None:
            self.stream.close()
        self.stream = stream

    def add_notice(self, notice: Notice) -> str:
        """Store a notice until a page shows it, and return its name; if there are too many, drop the oldest."""
        name = secrets.token_urlsafe(6)
        self.notices[name] = notice
        if len(self.notices) > SESSIONS_MAX:
            del self.notices[next(iter(self.notices))]
        return name

    def end(self) -> None:
        """End the session and close its stream."""
        self.is_over = True
        if self.stream is not None:
            self.stream.close()


class PageSessions:
    """The unused links and the sessions. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._links: dict[str, PageSession] = {}
        """The session that each link will begin, by its token."""
        self._sessions: dict[str, PageSession] = {}
        self.used_at = clock()
        """Time of the last admitted request or issued link."""

    def issue(self, agent: str | None = None, *, is_kept: bool) -> str:
        """Return the token of a new link, which can begin a session once, within `LINK_SECONDS`."""
        token, now = secrets.token_urlsafe(32), self._clock()
        self.used_at = now
        self._links[token] = PageSession(
            key=secrets.token_urlsafe(12), secret=secrets.token_urlsafe(32), is_kept=is_kept, seen_at=now, agent=agent
        )
        if len(self._links) > SESSIONS_MAX:
            del self._links[next(iter(self._links))]
        return token

    def begin(self, token: str) -> PageSession:
        """Begin the session of a link; raise Unauthorized if the token was used, expired or is unknown."""
        session = self._links.pop(token, None)
        if session is None or session.seen_at + LINK_SECONDS <= self._clock():
            raise Unauthorized("this link was used already, or is older than a minute", hint=AGAIN)
        session.seen_at = self._clock()
        self._sessions[session.key] = session
        if len(self._sessions) > SESSIONS_MAX:
            self._sessions.pop(next(iter(self._sessions))).end()
        return session

    def find(self, key: str, *cookies: str) -> PageSession:
        """Return the session with this key if a cookie has its secret, and extend it; raises Unauthorized."""
        session = self._sessions.get(key)
        if (
            session is None
            or session.is_over
            or not any(secrets.compare_digest(session.secret.encode(), cookie.encode()) for cookie in cookies)
        ):
            raise Unauthorized("your session is over", hint=AGAIN)
        del self._sessions[key]
        if session.is_idle(self._clock()):
            session.end()
            raise Unauthorized("your session is over", hint=AGAIN)
        session.seen_at = self.used_at = self._clock()
        # inserted at the end, because the first session is removed when there are too many
        self._sessions[key] = session
        return session

    @property
    def is_kept(self) -> bool:
        """Whether a session lasts until the daemon ends."""
        return any(session.is_kept and not session.is_over for session in self._sessions.values())
