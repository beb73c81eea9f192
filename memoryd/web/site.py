"""The table of all pages, the app that serves them, and the page Health.

Routes and navigation are made from the table. An error is shown as a page that says what to do. Health shows live
figures of the index and of problems, and runs doctor on request.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from memoryd.api import problems
from memoryd.api.access import Services
from memoryd.api.call import AtReload
from memoryd.api.calls import status
from memoryd.api.calls.index import EventStream
from memoryd.api.http.body import DECODED, decode_form
from memoryd.api.http.counting import note_route
from memoryd.api.http.sockets import PAGE
from memoryd.domain.access import Admitted, Who, folded_id
from memoryd.domain.expressions import expression
from memoryd.errors import MemorydError, NotFound, NotNow
from memoryd.replies.status import AgentStatus, StatusReply
from memoryd.web import changes, conversations, entities, memories
from memoryd.web.door import AGENT, COOKIE, LOGIN, REFUSED, SESSION, STATIC
from memoryd.web.pages import NOTICE, ROOT, Page, Redirect, View, Visit, sentences, url_of
from memoryd.web.session import PageSession, PageSessions
from memoryd.wire import ErrorCode

QUIET_SECONDS = 5.0
"""Interval of figures without events."""
TOGETHER_SECONDS = 0.3
"""Events within this time are sent as one update."""
DOCTOR = timedelta(seconds=60)
_TEXT_CHARS = 400
_DOCTORS = asyncio.Semaphore(1)
"""One doctor runs at a time: each is a process that checks everything."""
WORST_FIRST = ("wrong", "open", "look", "off", "ok")
"""States of findings of doctor in the order in which the page lists them."""


async def health(visit: Visit) -> View:
    """Show the state of all parts."""
    reply = await _status(visit)
    address = visit.services.daemon().page_address
    return {"status": reply, "agents_shown": reply["agents"], "page_at": address, "figures": figures(reply)}


async def events(visit: Visit) -> EventStream:
    """Stream the figures of the page at each event."""
    return EventStream(_figure_events(visit, visit.admitted))


async def doctor(visit: Visit) -> View:
    """Show the findings of doctor, which runs as a program, because most checks examine the daemon from outside."""
    daemon = visit.services.daemon()
    environment = doctor_environment(daemon.socket, daemon.config["source"])
    async with _DOCTORS:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memoryd.cli", "doctor", "--json"),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            out, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    try:
        findings = json.loads(out)["checks"]
    except (ValueError, KeyError) as exc:
        raise NotNow("doctor could not be run", hint="run memoryctl doctor in a terminal") from exc
    return {"checks": sorted(findings, key=lambda finding: WORST_FIRST.index(finding["state"]))}


def doctor_environment(socket: str, source: str | None) -> dict[str, str]:
    """Return the environment that gives doctor the socket and the configuration file of this daemon."""
    config = {} if source is None else {"MEMORYD_CONFIG": str(Path(source).absolute())}
    return {**os.environ, "MEMORYD_SOCKET": socket, **config}


def figures(reply: StatusReply) -> dict[str, str | int]:
    """Return the values that change, as texts, by the names of their elements on the page."""
    values: dict[str, str | int] = dict(_daemon(reply))
    for agent in reply["agents"]:
        values |= {f"{agent['id']}.{name}": value for name, value in (*_agent(agent), *_parts(agent))}
    return values


def _daemon(reply: StatusReply) -> Iterator[tuple[str, str]]:
    config, port = reply["config"], reply["http"]
    yield "uptime", _span(reply["uptimeSeconds"])
    yield "rss", f"{reply['rssBytes'] / 1e6:.0f} MB"
    yield "problems", _lines(f"Configuration: {problem}" for problem in config["problems"])
    yield "unreachable", _lines(f"{closed['socket']}: {closed['reason']}" for closed in reply["unreachable"])
    yield "port", "open for this page alone" if port is None else "open" if port["open"] else "closed"
    yield "portReason", _reason(port["reason"] if port else "")


def _agent(agent: AgentStatus) -> Iterator[tuple[str, str | int]]:
    passages, embedded, waiting = agent["passages"], agent["embedded"], agent["pendingEmbeddings"]
    yield "files", f"{agent['files']:,}"
    yield "memories", f"{agent['memories']['memories']:,}"
    yield "passages", f"{passages:,}"
    yield "pendingFiles", f"{agent['pendingFiles']:,}"
    yield "pendingEmbeddings", f"{waiting:,}"
    yield "pendingCaptures", f"{agent['pendingCaptures']:,}"
    yield "done", round(100 * embedded / (embedded + waiting)) if waiting else 100
    seconds = agent["readingSecondsLeft"] or agent["embeddingSecondsLeft"]
    yield "left", f"about {_span(seconds)} left" if seconds else ""
    yield "state", _state(agent)


def _parts(agent: AgentStatus) -> Iterator[tuple[str, str]]:
    from memoryd.web.rendering import ago_in_words, size

    watcher, embedder = agent["watcher"], agent["embedder"]
    yield "degraded", _lines(_troubles(agent))
    yield "roots", _lines(f"{root['path']} {root['state']}{_reason(root['reason'])}" for root in agent["roots"])
    yield "scanned", ago_in_words(agent["lastScanAt"])
    yield "watcher", watcher["mode"]
    yield "watcherReason", _reason(watcher["reason"])
    model = f", {agent['model']}" if agent["model"] else ""
    yield "embedder", f"{agent['provider']}{model}, {embedder['state']} since {wall_clock(embedder['since'])}"
    yield "embedderReason", _reason(embedder["reason"])
    yield "rule", _clip(agent["embedding"]["rule"])
    yield "backend", agent["backend"]
    yield "backendReason", _reason(agent["qmd"]["reason"] if agent["qmd"] else "")
    sizes = {"index": agent["database"]["bytes"], "ledger": agent["ledger"]["bytes"]}
    if agent["sessions"]:
        sizes["conversations"] = agent["sessions"]["bytes"]
    yield "sizes", ", ".join(f"{name} {size(count)}" for name, count in sizes.items())
    yield "conflicts", _lines([file["path"] for file in agent["flagged"] if "conflict-copy" in file["flags"]]) or "none"
    yield "skipped", f"{agent['skippedCount']:,} files"


def _troubles(agent: AgentStatus) -> Iterator[str]:
    for part in agent["degraded"]:
        yield f"{part['part']}: {part['reason']} (since {wall_clock(part['since'])})"
    if fallback := agent["fallback"]:
        yield f"{fallback['from']} fell back: {fallback['reason']} (since {wall_clock(fallback['since'])})"
    if removal := agent["massRemoval"]:
        at = wall_clock(removal["at"])
        yield f"{removal['files']} files vanished at once ({at}): what was known of them is kept for now."


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(map(_clip, texts))


def _reason(text: str | None) -> str:
    return f": {_clip(text)}" if text else ""


def _clip(text: str) -> str:
    from memoryd.web.rendering import clip

    return clip(text, _TEXT_CHARS)


def wall_clock(stamp: str) -> str:
    """Return a time in local time, to the minute: unlike "3 minutes ago" it stays right while the page is open."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")


def _state(agent: AgentStatus) -> str:
    if agent["pendingFiles"] or agent["dirty"]:
        return "reading files"
    if agent["pendingEmbeddings"]:
        return "making passages findable by meaning"
    return "up to date"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


async def _status(visit: Visit) -> StatusReply:
    return await status.get_status(visit.caller, visit.services)


async def _figure_events(visit: Visit, admitted: Admitted) -> AsyncGenerator[bytes, None]:
    """Yield figures as server-sent events: at once, after each event of the daemon, and every `QUIET_SECONDS`.

    The stream ends with its session, which it does not extend, and when the session opens another stream; its last
    event `over` then stops the browser from reconnecting. At a reload it ends without `over`: the browser reconnects
    and gets the figures of the workspaces that are open then.
    """
    session, clock, at_first = visit.session, asyncio.get_running_loop().time, _loads(visit)
    with visit.memories.follow(admitted) as subscription:
        session.follow(subscription)
        while not session.is_idle(clock()) and _loads(visit) == at_first:
            try:
                yield _event("figures", json.dumps(figures(await _status(visit))))
            except MemorydError:
                break
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    if await subscription.next() is None:
                        break
            except TimeoutError:
                continue
            await asyncio.sleep(TOGETHER_SECONDS)
    if session.is_over or session.is_idle(clock()) or session.stream is not subscription:
        # without this event the browser reconnects, as it should after a reload
        yield _event("over")


def _loads(visit: Visit) -> tuple[str, str | None]:
    """Return when the configuration was last loaded and when loading last failed: workspaces may have changed then."""
    config = visit.services.daemon().config
    return config["loadedAt"], config["failedAt"]


def _event(name: str, data: str = "") -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


async def leave(visit: Visit) -> Response:
    """End the session for all browsers that have its cookie."""
    visit.session.end()
    response = RedirectResponse(LOGIN, status_code=303)
    response.delete_cookie(COOKIE, path=f"{ROOT}/{visit.session.key}/", httponly=True, samesite="strict")
    return response


TABLE = (
    *memories.PAGES,
    *entities.PAGES,
    *conversations.PAGES,
    *changes.PAGES,
    Page("health", health, title="Health", who=Who.AGENT),
    Page("events", events, at_reload=AtReload.STREAMS),
    Page("doctor", doctor, method="POST", title="Doctor", under="health", who=Who.OWNER, deadline=DOCTOR),
    Page("logout", leave, method="POST"),
)


def page_deadlines() -> dict[str, timedelta]:
    """Return the deadlines of pages that may take longer than others, by path."""
    return {page.full_path: page.deadline for page in TABLE if page.deadline is not None}


def pages_at_reload() -> dict[str, AtReload]:
    """Return the behaviour at a reload of pages that a reload does not simply hold and wait for, by path."""
    return {page.full_path: page.at_reload for page in TABLE if page.at_reload is not AtReload.WAITS}


class Site:
    """The ASGI app of the pages. `services` returns the present services of the API, None while there are none."""

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
        """Show the login page, whose script posts the token of the link; for a valid token begin a session."""
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
        return _html("login.html", {"problem": sentences(str(refused or "")), "typed": _typed_text(scope)}, status)

    async def _page(self, scope: Scope, session: PageSession) -> Response:
        """Return the answer of a page; an error of its handler or template is shown as a page."""
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
            sent = dict(decode_form(scope["query_string"]) if scope["method"] == "GET" else scope[DECODED])
            notice = session.notices.pop(sent.pop(NOTICE, [""])[0], None)
            answer = await page.handler(Visit(session, services, agent, sent))
            if isinstance(answer, dict):
                address = url_of(page.path, **sent) if page.method == "GET" else page.under or page.path
                return self._html(f"{page.path}.html", {"address": address, "notice": notice, **answer}, agent, page)
        except Exception as exc:
            problem = problems.problem_of(exc)
            if problem.code is ErrorCode.INTERNAL:
                problems.log_unexpected(scope, exc)
            title = "That cannot be shown" if scope["method"] == "GET" else "That was not done"
            values = {"title": title, "typed": _typed_text(scope), **_explain(problem)}
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
    """Return the address of a redirect; it names its notice, so that only this tab shows it."""
    if answer.notice is None:
        return answer.to
    page, mark, fragment = answer.to.partition("#")
    return f"{page}{'&' if '?' in page else '?'}{NOTICE}={session.add_notice(answer.notice)}{mark}{fragment}"


def _explain(problem: MemorydError) -> Mapping[str, str]:
    """Return message and hint of an error for the page: without commands, calls and folders, and with local times."""
    if _PRIVATE in str(problem):
        return {"message": "This conversation is private.", "hint": "Have it remembered again on Conversations."}
    hint = problem.hint
    if not hint or _FOR_PROGRAMS.search(hint):
        hint = _WHAT_TO_DO.get(problem.code, _LATER)
    message = _STAMP.sub(lambda match: wall_clock(match[0]), problems.hide_directories(str(problem)))
    return {"message": sentences(message), "hint": sentences(hint)}


_FOR_PROGRAMS = expression(r"memoryctl|\b(GET|POST) |openapi|socket|--\w|sessionKey")
_STAMP = expression(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)(?!\w)")
_PRIVATE = 'is marked "do not remember"'
_LATER = "try again in a moment; the page Health shows the state of all parts"
_WHAT_TO_DO = {
    ErrorCode.INVALID_REQUEST: "go back, and change what you sent",
    ErrorCode.TOO_LARGE: "go back, and send less",
    ErrorCode.NOT_FOUND: "it may have been changed, moved or forgotten: search for it again",
    ErrorCode.UNKNOWN_AGENT: "choose another agent",
    ErrorCode.DISABLED: "your configuration turns it off",
    ErrorCode.DENIED: "your configuration says who may do that",
}
"""Hints in place of those that are for programs and for the command line."""


def _typed_text(scope: Scope) -> str:
    """Return the text of a posted form, to show it after a failure: the browser may have lost it."""
    return scope.get(DECODED, {}).get("text", [""])[-1] if scope["method"] == "POST" else ""


def _static(name: str) -> Response:
    from memoryd.web.rendering import static_file

    file = static_file(name)
    return Response(status_code=404) if file is None else Response(file[0], media_type=file[1])


def _html(template: str, values: Mapping[str, Any], status: int) -> Response:
    # imported here: it loads templates and Markdown, and most daemons never show a page
    from memoryd.web.rendering import render

    return Response(render(template, dict(values)), status, media_type="text/html")
