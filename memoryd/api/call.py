"""A call of the API: one row states who may make it, its path, and its handler.

The route, the access rule, the validation and the description are derived from the row and the annotations of its
handler. The body is a pydantic model; an `Injected` parameter is computed from the request; any other parameter is part
of the path if the path names it, else of the query. Validators are built when a call is first made or described, which
keeps the start fast.
"""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, NotRequired, get_type_hints

from msgspec import Struct
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from memoryd.api.http.body import DECODED
from memoryd.api.problems import FIELDS_HINT, why_refused
from memoryd.domain.access import Who
from memoryd.errors import InvalidRequest
from memoryd.wire import API

Handler = Callable[..., Coroutine[object, object, object]]
Sent = Mapping[str, Any]
"""The values of the path and the query, or of the body, by parameter name; an omitted parameter is absent."""
REQUIRED = inspect.Parameter.empty
"""The default of a required parameter."""


class Transport(StrEnum):
    """The transport on which a call is answered."""

    EVERYWHERE = "everywhere"
    SOCKET = "socket"
    """On Unix sockets only: a leaked token must not allow what cannot be undone."""
    PORT = "port"
    """On the loopback port only: paths of another program's API, for its clients."""


class AtReload(StrEnum):
    """What happens to a call while a reload replaces the parts that it uses."""

    WAITS = "waits"
    """The reload waits for calls in flight, longer if they have a deadline of their own; then it holds new ones."""
    AGAIN = "again"
    """The call only waits: it is cancelled and repeated."""
    STREAMS = "streams"
    """A new call is held; one in flight continues."""
    FREE = "free"
    """The call continues, since it uses no part that is replaced."""


class Injected(Struct, frozen=True, dict=True):
    """Marks a parameter that `make` computes from the request, and from the body or additional query parameters."""

    make: Callable[[Request, Sent], object]
    query: Mapping[str, object] = {}
    """The types of the additional parameters by their names; all are optional."""
    is_of_body: bool = False
    """Whether `make` gets the fields of the validated body."""

    @cached_property
    def checks(self) -> TypeAdapter[Any]:
        """The validator of the additional parameters."""
        return _checks({name: NotRequired[kind] for name, kind in self.query.items()})


class Row(Struct, frozen=True, dict=True):
    """One call, with its path as the description writes it. `deadline` limits the answer; None is the default limit."""

    method: str
    path: str
    who: Who
    handler: Handler
    status: int = 200
    deadline: timedelta | None = None
    is_described: bool = True
    served: Transport = Transport.EVERYWHERE
    at_reload: AtReload = AtReload.WAITS

    @property
    def description(self) -> str:
        """The description of the call: the docstring of its handler."""
        return inspect.cleandoc(self.handler.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0].rstrip(".")

    @cached_property
    def reply(self) -> Any:
        """The type of the reply."""
        return get_type_hints(self.handler).get("return")

    @property
    def stream(self) -> type[Response] | None:
        """The class of a reply that is not JSON; None for a JSON reply."""
        return self.reply if isinstance(self.reply, type) and issubclass(self.reply, Response) else None

    async def answer(self, request: Request) -> object:
        """Return the handler's reply. Raises Denied, InvalidRequest, and the exceptions of the handler."""
        return await self.handler(**self._read(request))

    def _read(self, request: Request) -> dict[str, object]:
        sent = {**request.query_params, **request.path_params}
        try:
            # computed first: a caller who is denied by the query learns nothing about other errors in it
            values = {
                name: mark.make(request, mark.checks.validate_python(sent) if mark.query else {})
                for name, mark in self._injected.items()
                if not mark.is_of_body
            }
            checked = self.checks.validate_python(sent) if self.parameters else {}
            bodies = {name: model.model_validate(request.scope[DECODED]) for name, model in self._bodies.items()}
        except ValidationError as exc:
            raise InvalidRequest(why_refused(exc), hint=FIELDS_HINT) from exc
        fields = {name: value for body in bodies.values() for name, value in body}
        values |= {name: mark.make(request, fields) for name, mark in self._injected.items() if mark.is_of_body}
        return {**values, **bodies, **{name: value for name, value in checked.items() if name in self._hints}}

    @property
    def body(self) -> type[BaseModel] | None:
        """The model of the body; None if the call has no body."""
        return next(iter(self._bodies.values()), None)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The types of the parameters in path and query, by their names: path, additional, then other parameters."""
        own = {name: kind for name, kind in self._hints.items() if name not in {**self._injected, **self._bodies}}
        in_path = {name: kind for name, kind in own.items() if self.is_in_path(name)}
        added = {name: kind for mark in self._injected.values() for name, kind in mark.query.items()}
        return {**in_path, **added, **own}

    def is_in_path(self, parameter: str) -> bool:
        """Return whether the path contains a parameter."""
        return f"{{{parameter}}}" in self.path

    def default(self, parameter: str) -> Any:
        """Return the default of a parameter, `REQUIRED` if it has none."""
        declared = inspect.signature(self.handler).parameters.get(parameter)
        return None if declared is None else declared.default

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        hints = get_type_hints(self.handler, include_extras=True)
        return {name: kind for name, kind in hints.items() if name != "return"}

    @cached_property
    def _injected(self) -> Mapping[str, Injected]:
        return {
            name: mark
            for name, kind in self._hints.items()
            for mark in getattr(kind, "__metadata__", ())
            if isinstance(mark, Injected)
        }

    @cached_property
    def _bodies(self) -> Mapping[str, type[BaseModel]]:
        return {
            name: kind for name, kind in self._hints.items() if isinstance(kind, type) and issubclass(kind, BaseModel)
        }

    @cached_property
    def checks(self) -> TypeAdapter[Any]:
        """The validator of path and query: a dictionary from the sent names to parameter names."""
        return _checks(
            {
                name: kind if self.default(name) is REQUIRED else NotRequired[kind]
                for name, kind in self.parameters.items()
            }
        )


def _checks(fields: Mapping[str, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(TypedDict("Sent", dict(fields)))  # type: ignore[operator]  # built from the handlers' annotations


def call(method: str, path: str, who: Who, handler: Handler, **more: Any) -> Row:
    """Return the row of a call with a path below `/v1`."""
    return Row(method, f"{API}{path}", who, handler, **more)


LONGEST_WAIT = timedelta(hours=1, minutes=1)
"""Slightly longer than the longest wait that a caller may request."""
FORGETTING = timedelta(minutes=2)
"""Long enough to rewrite the words of a large index."""
