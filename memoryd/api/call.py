"""A call of the API: one row says who may make it, by which path, and what answers it.

The route, the access rule, the checks of what was sent and the description are made of the row and of its handler's
annotations. The body is a pydantic model; an `Injected` parameter is computed from the request; any other is a part of
the path, where the path names it, or of the query. Checks are built when a call is first made or described: a start
pays for none.
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
"""The values of the path and the query, or of the body, by the names of parameters; one that was left out is absent."""
REQUIRED = inspect.Parameter.empty
"""The default of a parameter that may not be left out."""


class Served(StrEnum):
    """The transport on which a call is answered."""

    EVERYWHERE = "everywhere"
    SOCKET = "socket"
    """On Unix sockets alone: a lost token must not do what cannot be undone."""
    PORT = "port"
    """On the loopback port alone: paths of another program, for its clients."""


class AtReload(StrEnum):
    """What happens to a call while a reload exchanges the parts that it uses."""

    WAITS = "waits"
    """The reload waits for a call in flight, longer if that has a deadline of its own; then it holds new ones."""
    AGAIN = "again"
    """The call does nothing but wait: it is broken off and made again."""
    STREAMS = "streams"
    """A new call is held; one in flight goes on."""
    FREE = "free"
    """The call goes on, since it uses no part that is exchanged."""


class Injected(Struct, frozen=True, dict=True):
    """Marks a parameter that `make` computes from the request, and from query parameters that it adds or the body."""

    make: Callable[[Request, Sent], object]
    query: Mapping[str, object] = {}
    """The types of the added parameters by their names; each may be left out."""
    is_of_body: bool = False
    """Whether `make` is given the fields of the body, after these are checked."""

    @cached_property
    def checks(self) -> TypeAdapter[Any]:
        """The checks of the added parameters."""
        return _checks({name: NotRequired[kind] for name, kind in self.query.items()})


class Row(Struct, frozen=True, dict=True):
    """One call, its path as the description writes it; `deadline`: how long an answer may take, None: as any other."""

    method: str
    path: str
    who: Who
    handler: Handler
    status: int = 200
    deadline: timedelta | None = None
    is_described: bool = True
    served: Served = Served.EVERYWHERE
    at_reload: AtReload = AtReload.WAITS

    @property
    def description(self) -> str:
        """What the call does: the docstring of its handler."""
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
        """The class of a reply that is no JSON; None for any other."""
        return self.reply if isinstance(self.reply, type) and issubclass(self.reply, Response) else None

    async def answer(self, request: Request) -> object:
        """Return what the handler answers; raises Denied, InvalidRequest, and what it raises."""
        return await self.handler(**self._read(request))

    def _read(self, request: Request) -> dict[str, object]:
        sent = {**request.query_params, **request.path_params}
        try:
            # a caller who is denied by the query learns nothing of its other errors
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
        """The model of the body; None for a call that takes none."""
        return next(iter(self._bodies.values()), None)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The types of what stands in the path and in the query, by their names: the path's, the added, its own."""
        own = {name: kind for name, kind in self._hints.items() if name not in {**self._injected, **self._bodies}}
        in_path = {name: kind for name, kind in own.items() if self.is_in_path(name)}
        added = {name: kind for mark in self._injected.values() for name, kind in mark.query.items()}
        return {**in_path, **added, **own}

    def is_in_path(self, parameter: str) -> bool:
        """Tell whether the path names a parameter."""
        return f"{{{parameter}}}" in self.path

    def default(self, parameter: str) -> Any:
        """Return what holds for a parameter that is left out, `REQUIRED` where it may not be."""
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
        """The checks of path and query: a dictionary, from the names that are sent to those of parameters."""
        return _checks(
            {
                name: kind if self.default(name) is REQUIRED else NotRequired[kind]
                for name, kind in self.parameters.items()
            }
        )


def _checks(fields: Mapping[str, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(TypedDict("Sent", dict(fields)))  # type: ignore[operator]  # made here, of what handlers say


def call(method: str, path: str, who: Who, handler: Handler, **more: Any) -> Row:
    """Return the row of a call whose path is below `/v1`."""
    return Row(method, f"{API}{path}", who, handler, **more)


LONGEST_WAIT = timedelta(hours=1, minutes=1)
"""A little more than a caller may ask for."""
FORGETTING = timedelta(minutes=2)
"""The words of a large index are written anew."""
