"""The pages: one table, those of each subject from the end of its module, and the app that serves it.

Routes and navigation are made of the table. A failure is a page, too, which says what to do.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from memoryd.api import problems
from memoryd.api.access import Services
from memoryd.api.call import AtReload
from memoryd.api.http.body import DECODED, decode_form
from memoryd.api.http.counting import note_route
from memoryd.api.http.sockets import PAGE
from memoryd.domain.access import folded_id
from memoryd.domain.expressions import expression
from memoryd.errors import MemorydError, NotFound
from memoryd.web import ask, changes, conversations, entities, health, memories
from memoryd.web.door import AGENT, COOKIE, LOGIN, REFUSED, SESSION, STATIC
from memoryd.web.pages import NOTICE, ROOT, Page, Redirect, Visit, sentences, url_of
from memoryd.web.session import PageSession, PageSessions
from memoryd.wire import ErrorCode


async def leave(visit: Visit) -> Response:
    """End the session, whoever else has its cookie."""
    visit.session.end()
    response = RedirectResponse(LOGIN, status_code=303)
    response.delete_cookie(COOKIE, path=f"{ROOT}/{visit.session.key}/", httponly=True, samesite="strict")
    return response


TABLE = (
    *ask.PAGES,
    *memories.PAGES,
    *entities.PAGES,
    *conversations.PAGES,
    *changes.PAGES,
    *health.PAGES,
    Page(path="logout", method="POST", handler=leave),
)


def page_deadlines() -> dict[str, timedelta]:
    """Return the paths whose answers may take longer than others."""
    return {page.full_path: page.deadline for page in TABLE if page.deadline is not None}


def pages_at_reload() -> dict[str, AtReload]:
    """Return what happens to pages at a reload, by the paths of those that are not simply held and waited for."""
    return {page.full_path: page.at_reload for page in TABLE if page.at_reload is not AtReload.WAITS}


class Site:
    """The app of the pages. `services` are those of the API, as they are now."""

    def __init__(self, services: Callable[[], Services | None], sessions: PageSessions, table: Sequence[Page] = TABLE):
        self._services = services
        self._sessions = sessions
        self._pages = {(page.method, page.full_path): page for page in table}
        self._navigation = [page for page in table if page.title and page.method == "GET" and not page.under]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request that the door let through."""
        path: str = scope["path"]
        session: PageSession | None = scope[SESSION]
        if path == "/":
            note_route(scope, LOGIN)
            response: Response = RedirectResponse(LOGIN, status_code=303)
        elif path.startswith(STATIC):
            response = _static(path.removeprefix(STATIC))
        elif path == LOGIN or session is None:
            response = self._login(scope)
        else:
            response = await self._page(scope, session)
        await response(scope, receive, send)

    def _login(self, scope: Scope) -> Response:
        """Ask for the token of a link, which only a script reads from its address; begin a session for a right one."""
        note_route(scope, LOGIN)
        refused: MemorydError | None = scope.get(REFUSED)
        if scope["method"] == "POST" and refused is None:
            try:
                session = self._sessions.begin(scope[DECODED].get("token", [""])[0].rpartition("#")[2])
            except MemorydError as exc:
                refused = exc
            else:
                response = RedirectResponse(f"{ROOT}/{session.key}/", status_code=303)
                response.set_cookie(
                    COOKIE, session.secret, path=f"{ROOT}/{session.key}/", httponly=True, samesite="strict"
                )
                return response
        status = 200 if refused is None else refused.http_status
        return _html("login.html", {"problem": sentences(str(refused or "")), "typed": _typed(scope)}, status)

    async def _page(self, scope: Scope, session: PageSession) -> Response:
        """Return the answer of a page; what its handler or template raises is shown on a page as well."""
        agent = folded_id(scope[AGENT])
        try:
            page, services = self._pages.get((scope["method"], scope["path"])), self._services()
            if services is not None and scope["path"] == f"{ROOT}/":
                first = agent or session.agent or services.gate.default
                return RedirectResponse(f"{ROOT}/{session.key}/{first}/ask", status_code=303)
            if page is None or services is None:
                raise NotFound("there is no such page", hint="choose one from the navigation")
            note_route(scope, page.full_path)
            services.gate.admit_call(PAGE, page.who)
            sent = dict(_sent(scope))
            notice = session.notices.pop(sent.pop(NOTICE, [""])[0], None)
            answer = await page.handler(Visit(session, services, agent, sent))
            if isinstance(answer, dict):
                address = url_of(page.path, **sent) if page.method == "GET" else page.under or page.path
                shown = {"address": address, "notice": notice, **answer}
                return self._html(f"{page.path}.html", shown, agent, page)
        except Exception as exc:
            problem = problems.problem_of(exc)
            if problem.code is ErrorCode.INTERNAL:
                problems.log_unexpected(scope, exc)
            title = "That cannot be shown" if scope["method"] == "GET" else "That was not done"
            values = {"title": title, "typed": _typed(scope), **_in_words(problem)}
            return self._html("error.html", values, agent, None, problem.http_status)
        if isinstance(answer, Redirect):
            return RedirectResponse(_address(answer, session), status_code=303)
        return answer

    def _html(
        self, template: str, values: Mapping[str, Any], agent: str, page: Page | None, status: int = 200
    ) -> Response:
        services = self._services()
        shared = {
            "navigation": self._navigation,
            "here": "" if page is None else page.under or page.path,
            "title": "" if page is None else page.title,
            "notice": None,
            "agents": [] if services is None else services.gate.agents,
            "agent": agent,
            "address": "",
        }
        return _html(template, {**shared, **values}, status)


def _address(answer: Redirect, session: PageSession) -> str:
    """Return where to go on; a notice goes there and to no other tab, so the address names it."""
    if answer.notice is None:
        return answer.to
    page, mark, fragment = answer.to.partition("#")
    return f"{page}{'&' if '?' in page else '?'}{NOTICE}={session.keep_notice(answer.notice)}{mark}{fragment}"


def _in_words(problem: MemorydError) -> Mapping[str, str]:
    """Return what a person reads of a failure: no command, call or directory, and times as the clock on the wall."""
    if _PRIVATE in str(problem):
        return {"message": "This conversation is private.", "hint": "Have it remembered again on Conversations."}
    hint = problem.hint
    if not hint or _FOR_PROGRAMS.search(hint):
        hint = _WHAT_TO_DO.get(problem.code, _LATER)
    message = _STAMP.sub(lambda found: health.wall_clock(found[0]), problems.hide_directories(str(problem)))
    return {"message": sentences(message), "hint": sentences(hint)}


_FOR_PROGRAMS = expression(r"memoryctl|\b(GET|POST) |openapi|socket|--\w|sessionKey")
_STAMP = expression(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)(?!\w)")
_PRIVATE = 'is marked "do not remember"'
_LATER = "try again in a moment; the page Health tells how all parts are"
_WHAT_TO_DO = {
    ErrorCode.INVALID_REQUEST: "go back, and change what you sent",
    ErrorCode.TOO_LARGE: "go back, and send less",
    ErrorCode.NOT_FOUND: "it may have been changed, moved or forgotten meanwhile: look for it again",
    ErrorCode.UNKNOWN_AGENT: "choose another agent",
    ErrorCode.DISABLED: "your configuration turns it off",
    ErrorCode.DENIED: "your configuration says who may do that",
}
"""Where the hint is for programs, and for who types commands."""


def _sent(scope: Scope) -> Mapping[str, Sequence[str]]:
    return decode_form(scope["query_string"]) if scope["method"] == "GET" else scope[DECODED]


def _typed(scope: Scope) -> str:
    """Return what somebody wrote into a form: where it is not kept it is shown, for a browser may have lost it."""
    return scope.get(DECODED, {}).get("text", [""])[-1] if scope["method"] == "POST" else ""


def _static(name: str) -> Response:
    from memoryd.web.rendering import static_file

    found = static_file(name)
    return Response(status_code=404) if found is None else Response(found[0], media_type=found[1])


def _html(template: str, values: Mapping[str, Any], status: int) -> Response:
    # the templates and Markdown: most daemons are never asked for a page
    from memoryd.web.rendering import render

    return Response(render(template, dict(values)), status, media_type="text/html")
