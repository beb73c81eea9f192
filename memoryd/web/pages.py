"""What a page is: a row with its path, title, who may ask for it and what answers; and what a handler gets."""

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
"""The path that all of it is below."""
NOTICE = "notice"
"""The field of an address that names what its page is to say once of what was done."""
ROWS = 25
"""Of one page of a list."""
_OWN_PAGE = expression(r"[a-z-]+(\?[^\s#]*)?")

AnyRequest = TypeVar("AnyRequest", bound=Request)


View = dict[str, Any]
"""An answer that is shown: what the page's template is filled with."""


class Redirect(Struct, frozen=True):
    """An answer that is another page, which begins with a notice of what was done."""

    to: str
    notice: Notice | None = None


class Visit(Struct, frozen=True, dict=True):
    """One request for a page, by who is in. `sent` are the fields of the query, or of the form that is posted."""

    session: PageSession
    services: Services
    agent: str
    """The agent whose memory is looked at, as the path names it."""
    sent: Mapping[str, Sequence[str]]

    @cached_property
    def caller(self) -> Caller:
        """Who asks, as calls of the API take it: the owner in person."""
        return Caller(self.services.gate, sockets.PAGE)

    @cached_property
    def admitted(self) -> Admitted:
        """The owner of the agent that is looked at, if the access rules let in; raises Denied, UnknownAgent."""
        return self.caller.admit(self.agent, None)

    @property
    def memories(self) -> AgentMemories:
        """The memories of all agents."""
        return self.services.memories

    def text(self, name: str, default: str = "") -> str:
        """Return a field, without blanks around it."""
        return self.typed(name, default).strip()

    def typed(self, name: str, default: str = "") -> str:
        """Return a field as it was sent."""
        return self.sent.get(name, (default,))[-1]

    def all(self, name: str) -> list[str]:
        """Return each value of a field that may be repeated, as it was sent: a file's name may hold any character."""
        return [value for value in self.sent.get(name, ()) if value]

    def number(self, name: str, default: int = 0) -> int:
        """Return a field that is a whole number; raises InvalidRequest."""
        text = self.text(name)
        if not text:
            return default
        if not text.isdecimal() or len(text) > 12:
            raise InvalidRequest(f"{name} is to be a whole number", hint="go back, and choose from the page")
        return int(text)

    def request(self, kind: type[AnyRequest], **fields: object) -> AnyRequest:
        """Return the body of a call of the API, checked as if it were sent; raises InvalidRequest.

        Who may not ask is told so first; raises Denied, UnknownAgent.
        """
        agent = self.admitted.agent
        try:
            return kind.model_validate({"agent": agent, **fields})
        except ValidationError as exc:
            raise InvalidRequest(_why(exc), hint="go back, and mend it") from exc

    def keep_receipt(self, page: str, values: View) -> Redirect:
        """Return the page that shows what was done, which it is to be asked for: to load it again does nothing."""
        self.session.receipt = Receipt(token_urlsafe(6), values)
        return Redirect(url_of(page, receipt=self.session.receipt.name))

    def kept_receipt(self) -> View | None:
        """Return the receipt, where one is asked for; raises NotFound for an older one than the last."""
        name, kept = self.text("receipt"), self.session.receipt
        if not name:
            return None
        if kept is None or kept.name != name:
            raise NotFound("this receipt is not kept any more", hint="the page Changes lists what was written")
        return kept.values

    def back(self, otherwise: str) -> str:
        """Return the page that a form says it was on; else another."""
        page = self.text("back")
        return page if _OWN_PAGE.fullmatch(page) else otherwise


def _why(refused: ValidationError) -> str:
    """Return why the fields of a form are refused: of texts in words of the page, which has no names of fields."""
    error = refused.errors()[0]
    if error["type"] in ("string_too_short", "string_pattern_mismatch"):
        return "there is nothing in it: write what it should say"
    if error["type"] == "string_too_long":
        return f"it is too long: it may have {error['ctx']['max_length']:,} characters"
    return why_refused(refused)


def url_of(page: str, /, **fields: object) -> str:
    """Return the address of a page, relative to any other; fields of no value are left out."""
    query = urlencode({name: value for name, value in fields.items() if value not in (None, "")}, doseq=True)
    return f"{page}?{query}" if query else page


def sentences(*texts: str) -> str:
    """Return texts as sentences, each with a capital and a full stop."""
    return " ".join(f"{text[0].upper()}{text[1:].rstrip('.')}." for text in map(str.strip, texts) if text)


def is_of_day(citation: str) -> bool:
    """Tell whether a place is in a note of a day: of others nobody knows when they were written."""
    return date_in_name(parse(citation).path) is not None


PageHandler = Callable[[Visit], Awaitable[View | Redirect | Response]]


class Page(Struct, frozen=True):
    """One page, shown by the template `PATH.html`, or a form that pages post; one with a title is in the navigation."""

    path: str
    handler: PageHandler
    who: Who = Who.SESSION
    method: str = "GET"
    title: str = ""
    under: str = ""
    """The page of the navigation that it belongs to; empty: itself."""
    deadline: timedelta | None = None
    at_reload: AtReload = AtReload.WAITS

    @property
    def full_path(self) -> str:
        """The path as the layers of the port see it, without a session's key and agent."""
        return f"{ROOT}/{self.path}"
