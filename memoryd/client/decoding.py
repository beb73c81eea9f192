"""What the daemon sends, as values: JSON, and a stream of events."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from memoryd.errors import MemorydError
from memoryd.replies.daemon import ServerEvent


def decoded(content: bytes | str) -> Any:
    """Return what JSON says; raises MemorydError if it is none."""
    try:
        return json.loads(content)
    except ValueError as exc:
        raise MemorydError("what answers on the socket is not memoryd: its reply is not JSON") from exc


def server_events(lines: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Decode text/event-stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    name, data = "message", list[str]()
    for raw in lines:
        field, _, value = raw.decode().rstrip("\r\n").partition(":")
        match field:
            case "event":
                name = value.removeprefix(" ")
            case "data":
                data.append(value.removeprefix(" "))
            case "" if not value and data:
                yield {"event": name, "data": decoded("\n".join(data))}
                name, data = "message", []
