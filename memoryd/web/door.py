"""The layer before every page: host, origin and cookie, and the headers that keep a browser to what we sent.

Other ports of this host are the same site to a browser, but another origin: what they make it ask is refused, and the
cookie does not reach them (`PageSession`). Where the loopback port is off, it is opened for the page alone.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.api.http.body import header_of
from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.loopback import LoopbackListener, LoopbackPort, address_of, bind_loopback
from memoryd.api.http.server import Server
from memoryd.domain.access import DoorRules
from memoryd.errors import Denied, MemorydError, NotFound, NotNow, Unauthorized
from memoryd.replies.daemon import PageReply
from memoryd.web.pages import ROOT, sentences
from memoryd.web.session import IDLE, LINK_SECONDS, PageSessions

COOKIE = "memoryd"
SESSION = "memoryd.page_session"
"""The key of the ASGI scope for the session of a request that passed the door; None of one for a way in."""
REFUSED = "memoryd.page_refused"
"""The key of the ASGI scope for why there is no session."""
AGENT = "memoryd.page_agent"
"""The key of the ASGI scope for the agent that the path names, so that each tab keeps its own; empty: none is named."""
LOGIN = f"{ROOT}/login"
STATIC = f"{ROOT}/static/"
_OPEN = (LOGIN, STATIC)
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}


class PageDoor:
    """Lets requests for pages through to `app`, with session and agent in the scope in the place of those in the path.

    Raises Denied for what comes from elsewhere. A request that nobody is in by goes on as one for the login.
    """

    def __init__(self, app: ASGIApp, *, rules: DoorRules, sessions: PageSessions) -> None:
        self._app = app
        self._rules = rules.of_pages()
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_write = scope["method"] not in ("GET", "HEAD")
        try:
            entered = self._entered(scope, is_write=is_write)
        except (Denied, NotFound) as exc:
            if is_write:
                # its body is still to be read, which the layer around does
                raise
            await _refusal(exc)(scope, receive, send)
            return
        await self._app(entered, receive, send)

    def _entered(self, scope: Scope, *, is_write: bool) -> Scope:
        path: str = scope["path"]
        headers = scope["headers"]
        if why := self._rules.why_not_host(headers):
            raise Denied(f"the request is refused: {why}; the page is shown under 127.0.0.1 and localhost alone")
        if why := self._rules.why_not_page(headers, is_write=is_write, is_entrance=path == LOGIN):
            raise Denied(f"the request is refused: {why}", hint="open the page by the link of memoryctl web")
        if path in (ROOT, f"{ROOT}/"):
            path = LOGIN
        entered = {**scope, "path": path, SESSION: None}
        return entered if path == "/" or path.startswith(_OPEN) else self._with_session(entered, path)

    def _with_session(self, scope: Scope, path: str) -> Scope:
        key, slash, rest = path.removeprefix(f"{ROOT}/").partition("/")
        agent, _, page = rest.partition("/")
        if not slash:
            raise NotFound("there is no such page")
        try:
            session = self._sessions.find(key, *_cookies(scope))
        except Unauthorized as exc:
            return {**scope, "path": LOGIN, REFUSED: exc}
        return {**scope, "path": f"{ROOT}/{page}", SESSION: session, AGENT: agent}


def _refusal(problem: MemorydError) -> Response:
    """Return a page that says why nothing is shown, for a person who looks at it."""
    from memoryd.web.rendering import render

    # here: most daemons are never asked for a page
    return Response(
        render("login.html", {"problem": sentences(str(problem)), "typed": ""}),
        problem.http_status,
        media_type="text/html",
    )


def _cookies(scope: Scope) -> list[str]:
    """Return all values of our cookie: other ports of the host may set one of the same name, or some of any form."""
    pairs = (one.strip().partition("=") for one in header_of(scope, b"cookie").decode("latin-1").split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def with_headers(app: ASGIApp) -> ASGIApp:
    """Give each answer of `app`, also an error, the headers that let a browser load and send to nothing else."""
    ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    names = {name for name, _ in ours}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() not in names]
                message = {**message, "headers": [*others, *ours]}
            await send(message)

        await app(scope, receive, send_guarded)

    return answer


def behind_door(site: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Return an app that answers what passed the door by `site`, and all else, also pages on a socket, by `others`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (site if SESSION in scope else others)(scope, receive, send)

    return answer


def at_pages(pages: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Return an app that answers the paths of pages, also the root, by `pages`, and all others by `others`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["path"] in ("/", ROOT) or scope["path"].startswith(f"{ROOT}/")
        await (pages if is_page else others)(scope, receive, send)

    return answer


log = structlog.get_logger(__name__)


class PagePort:
    """Opens the port for `app`, and gives out links; where `configured` serves the port it only gives out links.

    `idle` is how long the port stays open without a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        configured: Callable[[], LoopbackPort | None],
        limits: ConnectionLimits,
        sessions: PageSessions,
        idle: timedelta = IDLE,
    ) -> None:
        self._app = app
        self._where = (host, port)
        self._configured = configured
        self._limits = limits
        self._sessions = sessions
        self._idle = idle.total_seconds()
        self._listener: LoopbackListener | None = None
        self._is_wanted = asyncio.Event()
        self._has_closed = asyncio.Event()
        self._clock: asyncio.Timeout | None = None

    async def link(self, agent: str | None = None, *, is_kept: bool) -> PageReply:
        """Return a new link, with the port open; raises NotNow where it cannot be."""
        # first: from where the port is opened until the link is made, nothing is waited for, or it might close again
        await asyncio.to_thread(_prepare)
        configured = self._configured()
        if configured is None:
            if self._clock is not None and self._clock.expired():
                # it closes within the next turns of the loop: a link to it would lead nowhere
                await self._has_closed.wait()
            if self._listener is None:
                self._listener = bind_loopback(*self._where)
                self._is_wanted.set()
        elif not (state := configured.state())["open"]:
            raise NotNow(f"the loopback port is not open: {state['reason'] or 'the daemon is starting'}")
        token = self._sessions.issue(agent, is_kept=is_kept)
        self._note_request()
        host, port = self._where
        url = f"http://{address_of(host, port)}{LOGIN}#{token}"
        return PageReply(url=url, host=host, port=port, expiresSeconds=LINK_SECONDS)

    async def run(self) -> None:
        """Serve the port whenever it was opened, until nobody asked for as long as `idle`; until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            if self._listener is not None:
                await self._serve(self._listener)

    async def _serve(self, listener: LoopbackListener) -> None:
        self._has_closed.clear()
        log.info("loopback port opened for the page", address=listener.address)
        try:
            async with asyncio.timeout(None) as self._clock:
                self._note_request()
                server = Server(
                    app=self._noting, listeners=[listener], limits=self._limits, on_stopping=self._note_closing
                )
                await server.run()
        except TimeoutError:
            log.info("loopback port closed", address=listener.address)
        finally:
            self._clock = None

    def _note_closing(self) -> None:
        # a link that is asked for while the last answers are on their way opens it anew
        self._listener = None
        self._has_closed.set()

    async def _noting(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            self._note_request()

    def _note_request(self) -> None:
        clock = self._clock
        if clock is None or clock.expired():
            return
        # the same clock as the sessions'; who is refused does not keep it open
        clock.reschedule(None if self._sessions.is_kept else self._sessions.used_at + self._idle)


def _prepare() -> None:
    """Import what pages need, so that the browser that comes by a link waits for no import."""
    from memoryd.web.rendering import prepare

    prepare()
