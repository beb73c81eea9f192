"""The types of the pages: a page with its path, title, access rule and handler; a visit, which a handler gets."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from secrets import token_urlsafe
from typing import Any, TypeVar
from urllib.parse import urlencode

from msgspec import Struct
from pydantic import ValidationError
from starlette.responses import Response

from memoryd.agents.memories import AgentMemories
from memoryd.api.access import Caller, Services
from memoryd.api.call import AtReload
from memoryd.api.http import sockets
from memoryd.api.models import Request
from memoryd.api.problems import why_refused
from memoryd.domain.access import Admitted, Who
from memoryd.domain.documents import parse
from memoryd.domain.expressions import expression
from memoryd.domain.ranking.filters import date_in_name
from memoryd.errors import InvalidRequest, NotFound
from memoryd.web.session import Notice, PageSession, Receipt

ROOT = "/web"
"""The path prefix of all pages."""
NOTICE = "notice"
"""The query field with the name of a notice, which the page shows once."""
ROWS = 25
"""Rows on one page of a list."""
_OWN_PAGE = expression(r"[a-z-]+(\?[^\s#]*)?")

AnyRequest = TypeVar("AnyRequest", bound=Request)


View = dict[str, Any]
"""An answer that is rendered: the values of the page's template."""


class Redirect(Struct, frozen=True):
    """An answer that leads to another page, which first shows a notice of what was done."""

    to: str
    notice: Notice | None = None


class Visit(Struct, frozen=True, dict=True):
    """One request for a page, with its session. `sent` has the fields of the query, or of the posted form."""

    session: PageSession
    services: Services
    agent: str
    """The agent whose memory is shown, as the path names it."""
    sent: Mapping[str, Sequence[str]]

    @cached_property
    def caller(self) -> Caller:
        """The caller for calls of the API: the owner."""
        return Caller(self.services.gate, sockets.PAGE)

    @cached_property
    def admitted(self) -> Admitted:
        """The admission of the owner to the memory of the agent; raises Denied, UnknownAgent."""
        return self.caller.admit(self.agent, None)

    @property
    def memories(self) -> AgentMemories:
        """The memories of all agents."""
        return self.services.memories

    def text(self, name: str, default: str = "") -> str:
        """Return a field without surrounding blanks."""
        return self.typed(name, default).strip()

    def typed(self, name: str, default: str = "") -> str:
        """Return a field as it was sent; of a repeated field, the last value."""
        return self.sent.get(name, (default,))[-1]

    def all(self, name: str) -> list[str]:
        """Return the values of a repeated field as they were sent: a file name may contain any character."""
        return [value for value in self.sent.get(name, ()) if value]

    def number(self, name: str, default: int = 0) -> int:
        """Return a field that is a non-negative integer; raise InvalidRequest if it is not."""
        text = self.text(name)
        if not text:
            return default
        if not text.isdecimal() or len(text) > 12:
            raise InvalidRequest(f"{name} is to be a whole number", hint="go back, and choose from the page")
        return int(text)

    def request(self, kind: type[AnyRequest], **fields: object) -> AnyRequest:
        """Return the body of a call of the API, validated as if it were sent; raises InvalidRequest.

        Access is checked before the fields; raises Denied, UnknownAgent.
        """
        agent = self.admitted.agent
        try:
            return kind.model_validate({"agent": agent, **fields})
        except ValidationError as exc:
            raise InvalidRequest(_refusal_reason(exc), hint="go back, and correct it") from exc

    def store_receipt(self, page: str, values: View) -> Redirect:
        """Store what was done and redirect to the page that shows it, so that a reload does not repeat the action."""
        self.session.receipt = Receipt(token_urlsafe(6), values)
        return Redirect(url_of(page, receipt=self.session.receipt.name))

    def stored_receipt(self) -> View | None:
        """Return the receipt that the query names, None if it names none; raise NotFound if it is not the last one."""
        name, receipt = self.text("receipt"), self.session.receipt
        if not name:
            return None
        if receipt is None or receipt.name != name:
            raise NotFound("this receipt is not available any more", hint="the page Changes lists what was written")
        return receipt.values

    def back(self, default: str) -> str:
        """Return the page that the field `back` names, or the default if it is not one of our pages."""
        page = self.text("back")
        return page if _OWN_PAGE.fullmatch(page) else default


def _refusal_reason(refused: ValidationError) -> str:
    """Return why a form is refused; errors of texts are described without field names, which the page does not show."""
    error = refused.errors()[0]
    if error["type"] in ("string_too_short", "string_pattern_mismatch"):
        return "there is nothing in it: write what it should say"
    if error["type"] == "string_too_long":
        return f"it is too long: it may have {error['ctx']['max_length']:,} characters"
    return why_refused(refused)


def url_of(page: str, /, **fields: object) -> str:
    """Return the address of a page, relative to any other page; empty fields are left out."""
    query = urlencode({name: value for name, value in fields.items() if value not in (None, "")}, doseq=True)
    return f"{page}?{query}" if query else page


def sentences(*texts: str) -> str:
    """Join texts as sentences, each with a capital and a full stop; empty texts are left out."""
    return " ".join(f"{text[0].upper()}{text[1:].rstrip('.')}." for text in map(str.strip, texts) if text)


def notice_of(text: str, change: int | None, *notes: str) -> Notice:
    """Return a notice about an action that may have made a change, with remarks."""
    return Notice(sentences(text, *notes), (change,) if change else ())


def is_of_day(citation: str) -> bool:
    """Return whether a citation is in a note of a day; the date of other notes is unknown."""
    return date_in_name(parse(citation).path) is not None


PageHandler = Callable[[Visit], Awaitable[View | Redirect | Response]]


class Page(Struct, frozen=True):
    """One page, shown with the template `PATH.html`, or a form that pages post to.

    A GET page with a title and without `under` is in the navigation.
    """

    path: str
    handler: PageHandler
    who: Who = Who.SESSION
    method: str = "GET"
    title: str = ""
    under: str = ""
    """The page of the navigation that it belongs to; empty for itself."""
    deadline: timedelta | None = None
    at_reload: AtReload = AtReload.WAITS

    @property
    def full_path(self) -> str:
        """The path after the door: without the key of the session and the agent."""
        return f"{ROOT}/{self.path}"
