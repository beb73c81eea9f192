"""No page shows or changes memory against the access rules, and errors in a page are shown as a page."""

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, cast

import pytest
from starlette.responses import Response
from starlette.types import Message

from memoryd.agents.memories import AgentMemories
from memoryd.api.access import AccessPolicy, DaemonState, Services
from memoryd.api.http.body import DECODED
from memoryd.domain.access import AccessRules, Admitted
from memoryd.errors import Denied
from memoryd.web.door import AGENT, SESSION
from memoryd.web.pages import Page, View, Visit
from memoryd.web.session import PageSession, PageSessions
from memoryd.web.site import TABLE, Site

OF_NO_MEMORY = {"health", "doctor", "agent", "logout"}
"""Pages about the daemon and the session, and the choice of the agent."""
FIELDS = dict.fromkeys(("q", "id", "at", "target", "text", "name", "run", "session", "keep", "into", "alias"), ("1",))
"""All fields of pages, so that none stops before it checks access."""


def _daemon() -> DaemonState:
    raise AssertionError("no page of the memory asks for it")


class Closed(AccessPolicy):
    """A policy that denies everybody."""

    def admit(self, socket: str, agent: str | None, session_key: str | None) -> Admitted:
        raise Denied("nobody is let in")


async def _asked(
    page: Page, table: Sequence[Page] = TABLE, policy: type[AccessPolicy] = AccessPolicy, *, requires_key: bool = False
) -> tuple[int, bytes]:
    """Return the status and the body of a page."""
    gate = policy(rules=AccessRules(requires_key=requires_key), agents=["main"], bindings={}, default="main")
    # any use of the memories would be another error
    services = Services(gate, cast("AgentMemories", None), _daemon)
    session = PageSession(key="k", secret="s", is_kept=False, seen_at=0.0)
    scope: dict[str, Any] = {
        "type": "http",
        "method": page.method,
        "path": page.full_path,
        "query_string": "&".join(f"{name}={value}" for name, (value,) in FIELDS.items()).encode(),
        "headers": [],
        SESSION: session,
        AGENT: "main",
        DECODED: FIELDS,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("the body is read already")

    async def send(message: Message) -> None:
        sent.append(message)

    await Site(lambda: services, PageSessions(lambda: 0.0), table)(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


@pytest.mark.parametrize("page", [page for page in TABLE if page.path not in OF_NO_MEMORY], ids=lambda page: page.path)
async def test_page_is_refused_when_access_is_denied(page: Page) -> None:
    status, body = await _asked(page, policy=Closed)
    assert status == 403
    assert b"Nobody is let in." in body


async def test_owner_with_a_link_needs_no_session_key() -> None:
    async def shows(visit: Visit) -> Response:
        assert visit.admitted.is_owner
        return Response("let in")

    page = Page(path="ask", handler=shows)
    assert await _asked(page, [page], requires_key=True) == (200, b"let in")


async def test_failing_template_shows_an_error_page() -> None:
    async def of_nothing(_visit: Visit) -> View:
        return {}

    page = Page(path="memory", handler=of_nothing)
    status, body = await _asked(page, [page])
    assert status == 500
    assert b"That cannot be shown" in body


def test_links_and_forms_are_relative() -> None:
    """Relative addresses keep the agent of the page."""
    folder = files("memoryd.web") / "templates"
    texts = {one.name: one.read_text() for one in folder.iterdir() if one.name != "login.html"}
    led = {
        (name, to)
        for name, text in texts.items()
        for to in re.findall(r"""(?:href|action)=["'](/[^"']*)""", text)
        if not to.startswith("/web/static/")
    }
    assert led == set()
    assert len(texts) > 10
