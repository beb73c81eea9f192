"""The layer before every page: checks of host, origin and cookie, and headers that restrict the browser.

Other ports of this host are the same site for a browser, but another origin: their requests are refused, and the cookie
is not sent to them (`PageSession`). If the loopback port is not configured, it is opened for the page only.
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
"""The key of the ASGI scope for the session of a request that passed the door; None for login and static files."""
REFUSED = "memoryd.page_refused"
"""The key of the ASGI scope for the error that explains why there is no session."""
AGENT = "memoryd.page_agent"
"""The key of the ASGI scope for the agent in the path, which differs between tabs; empty if the path has none."""
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
    """Passes requests for pages to `app`, with session and agent moved from the path to the scope.

    Requests from another host or origin are denied. A request without a valid session continues as one for the login.
    """

    def __init__(self, app: ASGIApp, *, rules: DoorRules, sessions: PageSessions) -> None:
        self._app = app
        self._rules = rules.of_pages()
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_write = scope["method"] not in ("GET", "HEAD")
        try:
            entered = self._enter(scope, is_write=is_write)
        except (Denied, NotFound) as exc:
            if is_write:
                # the outer layer answers, because it also has to read the body
                raise
            await _refusal(exc)(scope, receive, send)
            return
        await self._app(entered, receive, send)

    def _enter(self, scope: Scope, *, is_write: bool) -> Scope:
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
    """Return a page that explains a refusal."""
    # imported here: most daemons never show a page
    from memoryd.web.rendering import render

    return Response(
        render("login.html", {"problem": sentences(str(problem)), "typed": ""}),
        problem.http_status,
        media_type="text/html",
    )


def _cookies(scope: Scope) -> list[str]:
    """Return all values of our cookie: other ports of the host may set more with its name, or malformed cookies."""
    pairs = (pair.strip().partition("=") for pair in header_of(scope, b"cookie").decode("latin-1").split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def with_headers(app: ASGIApp) -> ASGIApp:
    """Add `HEADERS` to each answer of `app`, errors included, so that a browser contacts no other place."""
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


def route_by_session(site: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Return an app that sends requests that passed the door to `site`, and all others to `others`.

    Requests for pages on a Unix socket also go to `others`.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (site if SESSION in scope else others)(scope, receive, send)

    return answer


def route_pages(pages: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Return an app that sends requests for pages and the root to `pages`, and all others to `others`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["path"] in ("/", ROOT) or scope["path"].startswith(f"{ROOT}/")
        await (pages if is_page else others)(scope, receive, send)

    return answer


log = structlog.get_logger(__name__)


class PagePort:
    """The port on which `app` serves the page, opened on demand, and the links to it.

    If `configured` returns a loopback port, that port serves the page, and this class only issues links. `idle` is how
    long the port stays open without a request.
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
        self._has_opened = asyncio.Event()
        self._has_closed = asyncio.Event()
        self._clock: asyncio.Timeout | None = None

    async def link(self, agent: str | None = None, *, is_kept: bool) -> PageReply:
        """Open the port and return a new link; raise NotNow if the configured port is not open."""
        # first: after the port is opened nothing may be awaited until the link is issued, or the port might close again
        await asyncio.to_thread(_prepare)
        configured = self._configured()
        if configured is None:
            if self._clock is not None and self._clock.expired():
                # the port is about to close: a link to it would be useless
                await self._has_closed.wait()
            if self._listener is None:
                self._listener = bind_loopback(*self._where)
                self._has_opened.set()
        elif not (state := configured.state())["open"]:
            raise NotNow(f"the loopback port is not open: {state['reason'] or 'the daemon is starting'}")
        token = self._sessions.issue(agent, is_kept=is_kept)
        self._note_request()
        host, port = self._where
        url = f"http://{address_of(host, port)}{LOGIN}#{token}"
        return PageReply(url=url, host=host, port=port, expiresSeconds=LINK_SECONDS)

    async def run(self) -> None:
        """Serve the port each time it is opened, until no request came for `idle`; repeat until cancelled."""
        while True:
            await self._has_opened.wait()
            self._has_opened.clear()
            if self._listener is not None:
                await self._serve(self._listener)

    async def _serve(self, listener: LoopbackListener) -> None:
        self._has_closed.clear()
        log.info("loopback port opened for the page", address=listener.address)
        try:
            async with asyncio.timeout(None) as self._clock:
                self._note_request()
                server = Server(
                    app=self._serve_page, listeners=[listener], limits=self._limits, on_stopping=self._note_closing
                )
                await server.run()
        except TimeoutError:
            log.info("loopback port closed", address=listener.address)
        finally:
            self._clock = None

    def _note_closing(self) -> None:
        # a link that is requested while the last answers are being sent opens the port again
        self._listener = None
        self._has_closed.set()

    async def _serve_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            self._note_request()

    def _note_request(self) -> None:
        clock = self._clock
        if clock is None or clock.expired():
            return
        # the sessions use the same clock; refused requests do not change `used_at`, and do not keep the port open
        clock.reschedule(None if self._sessions.is_kept else self._sessions.used_at + self._idle)


def _prepare() -> None:
    """Import the modules of pages, so that the first request does not wait for them."""
    from memoryd.web.rendering import prepare

    prepare()
