"""A call of the API: one row says who may make it, by which path, and what answers it.

The route, the access rule, the checks of what was sent and the description are made of the row and of its handler's
annotations. The body is a model of pydantic's; what is `Given` is made of the request; all else is a part of the path,
where that names it, or of the query. Checks are built when a call is first made or described: a start pays for none.
"""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NotRequired, get_type_hints

from msgspec import Struct, field
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
"""What the path and the query say, by the names of parameters; what was left out is absent."""
REQUIRED: Final = inspect.Parameter.empty
"""The default of what may not be left out."""


class Served(StrEnum):
    """On which transport a call is answered."""

    EVERYWHERE = "everywhere"
    SOCKET = "socket"
    """On Unix sockets alone: what nobody can take back, a token that got lost does not do."""
    PORT = "port"
    """On the loopback port alone: paths that another program has, for its clients."""


class AtReload(StrEnum):
    """What becomes of a call while a reload exchanges what it asks."""

    WAITS = "waits"
    """One in flight is waited for before anybody is held, longer if it has a deadline of its own; then a new one is."""
    AGAIN = "again"
    """As it does nothing but wait, it is broken off and asked again."""
    STREAMS = "streams"
    """A new one is held; one in flight goes on."""
    FREE = "free"
    """It goes on, since it needs nothing that is exchanged."""


class Injected(Struct, frozen=True, dict=True):
    """Marks a parameter that a function makes of the request, and of parameters of the query that it adds."""

    make: Callable[[Request, Sent], object]
    query: Mapping[str, object] = field(default_factory=dict)
    """Their types by their names; each may be left out."""

    @cached_property
    def checks(self) -> TypeAdapter[Any]:
        """What these parameters are checked by."""
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
    def said(self) -> str:
        """What the call does, as its handler's docstring says."""
        return inspect.cleandoc(self.handler.__doc__ or "")

    @property
    def summary(self) -> str:
        """The same in one line."""
        return self.said.partition("\n")[0].rstrip(".")

    @cached_property
    def reply(self) -> Any:
        """The type of what is answered."""
        return get_type_hints(self.handler).get("return")

    @property
    def stream(self) -> type[Response] | None:
        """The class of what is answered, where that is no JSON."""
        return self.reply if isinstance(self.reply, type) and issubclass(self.reply, Response) else None

    async def answer(self, request: Request) -> object:
        """Return what the handler answers; raises Denied, InvalidRequest, and what it raises."""
        return await self.handler(**self._read(request))

    def _read(self, request: Request) -> dict[str, object]:
        sent = {**request.query_params, **request.path_params}
        try:
            # who is not let in hears nothing else
            read = {
                name: given.make(request, given.checks.validate_python(sent) if given.query else {})
                for name, given in self._given.items()
            }
            checked = self.checks.validate_python(sent) if self.parameters else {}
            bodies = {name: model.model_validate(request.scope[DECODED]) for name, model in self._bodies.items()}
        except ValidationError as exc:
            raise InvalidRequest(why_refused(exc), hint=FIELDS_HINT) from exc
        return {**read, **bodies, **{name: value for name, value in checked.items() if name in self._hints}}

    @property
    def body(self) -> type[BaseModel] | None:
        """The model of the body; None for a call that takes none."""
        return next(iter(self._bodies.values()), None)

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The types of what stands in the path and in the query, by their names: the path's, the added, its own."""
        own = {name: kind for name, kind in self._hints.items() if name not in {**self._given, **self._bodies}}
        in_path = {name: kind for name, kind in own.items() if self.is_in_path(name)}
        added = {name: kind for given in self._given.values() for name, kind in given.query.items()}
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
    def _given(self) -> Mapping[str, Injected]:
        marks = {name: getattr(kind, "__metadata__", ()) for name, kind in self._hints.items()}
        return {name: mark for name, found in marks.items() for mark in found if isinstance(mark, Injected)}

    @cached_property
    def _bodies(self) -> Mapping[str, type[BaseModel]]:
        models = {name: kind for name, kind in self._hints.items() if isinstance(kind, type)}
        return {name: kind for name, kind in models.items() if issubclass(kind, BaseModel)}

    @cached_property
    def checks(self) -> TypeAdapter[Any]:
        """What path and query are checked by: a dictionary, from the names that are sent to those of parameters."""
        return _checks(
            {
                name: kind if self.default(name) is REQUIRED else NotRequired[kind]
                for name, kind in self.parameters.items()
            }
        )


def _checks(fields: Mapping[str, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(TypedDict("Sent", dict(fields)))  # type: ignore[operator]  # made here, of what handlers say


def call(method: str, path: str, who: Who, handler: Handler, **more: Any) -> Row:
    """Return the row of a call whose path stands below `/v1`."""
    return Row(method, f"{API}{path}", who, handler, **more)


LONGEST_WAIT: Final = timedelta(hours=1, minutes=1)
"""A little more than a caller may ask for."""
FORGETTING: Final = timedelta(minutes=2)
"""The words of a large index are written anew."""
