"""What the API says of one call: its path, who may make it, on what it is answered, what becomes of it at a reload."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from starlette.responses import Response

from memoryd.domain.access import Who

Handler = Callable[..., Coroutine[object, object, object]]


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


@dataclass(frozen=True, slots=True)
class Row:
    """One call, its path as the description writes it.

    `replies` is the class of what is no plain JSON; `deadline` is how long an answer may take, None: as any other.
    """

    method: str
    path: str
    who: Who
    handler: Handler
    summary: str
    status: int = 200
    replies: type[Response] | None = None
    deadline: timedelta | None = None
    is_described: bool = True
    served: Served = Served.EVERYWHERE
    at_reload: AtReload = AtReload.WAITS
