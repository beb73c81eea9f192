"""The layer that reads a request's body: bounded in size and time, decoded once, and strictly (RFC 8259).

The value is stored in the ASGI scope, from which the routes pass it to their handlers; it is not parsed twice.
"""

import asyncio
import math
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoryd.errors import InvalidRequest, SlowRequest, TooLarge

METHODS = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose body is decoded; that of any other method is read and ignored."""
DECODED = "memoryd.body"
"""The key of the ASGI scope for the decoded body."""
FIELDS_MAX = 500
"""The maximum number of fields of a form."""
INTEGER_MAX = 2**63 - 1


class Body(Struct, frozen=True, eq=False):
    """Passes the complete body to `app` in one message; a request without a body has `{}`.

    Raises TooLarge, SlowRequest and InvalidRequest. The app is not called if the client leaves before the end. With
    `is_strict` the content type must be `application/json`, since a web page can send a body without a content type.
    With `is_form` the body is decoded as the fields of a form.
    """

    app: ASGIApp
    max_bytes: int
    max_depth: int
    timeout: timedelta
    is_strict: bool
    is_form: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._read(scope, receive)
        if body is None:
            return
        if scope["method"] in METHODS:
            scope[DECODED] = self._decode(scope, body)
            others = [(name, value) for name, value in scope["headers"] if name != b"content-type"]
            # also for other JSON types, and without a body
            scope["headers"] = [*others, (b"content-type", b"application/json")]
            body = body or b"{}"
        await self.app(scope, replay({"type": "http.request", "body": body, "more_body": False}, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the body, or None if the client has left."""
        declared = header_of(scope, b"content-length")
        if declared.isdigit() and int(declared) > self.max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                return await self._collect(receive)
        except TimeoutError as exc:
            raise SlowRequest("the request's body did not come in time") from exc

    async def _collect(self, receive: Receive) -> bytes | None:
        chunks: list[bytes] = []
        size, is_more = 0, True
        while is_more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk, is_more = message.get("body", b""), message.get("more_body", False)
            size += len(chunk)
            if size > self.max_bytes:
                raise self._too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def _decode(self, scope: Scope, body: bytes) -> Any:
        if not body:
            return {}
        if self.is_form:
            return decode_form(body)
        _check_media_type(header_of(scope, b"content-type"), is_strict=self.is_strict)
        return decode(body, max_depth=self.max_depth)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"the body is larger than {self.max_bytes} bytes", hint="send less at a time")


def replay(message: Message, receive: Receive) -> Receive:
    """Return a function that returns `message` first, and then the messages of `receive`."""
    messages = iter([message])

    async def next_message() -> Message:
        return next(messages, None) or await receive()

    return next_message


def _check_media_type(content_type: bytes, *, is_strict: bool) -> None:
    media_type = content_type.split(b";")[0].strip().lower()
    is_like_json = not is_strict and (not media_type or media_type.endswith(b"+json"))
    # any other type is refused: a foreign web page can send text/plain without permission
    if media_type != b"application/json" and not is_like_json:
        kind = media_type[:80].decode("latin-1") or "of an unnamed type"
        raise InvalidRequest(f"the body is {kind}, not JSON", hint="send the header `Content-Type: application/json`")


def header_of(scope: Scope, name: bytes) -> bytes:
    """Return the value of the first header with this lower-case name, or an empty value."""
    return next((value for key, value in scope["headers"] if key == name), b"")


def decode(body: bytes, *, max_depth: int = 32) -> Any:
    """Return the value of `body`, which must be UTF-8 JSON that is safe to use; else raise InvalidRequest.

    Refused are a byte order mark, lone surrogates, NaN and infinities (also written as 1e999), integers beyond 64 bits,
    and more than `max_depth` levels. Of duplicate keys the last one is used. The time is linear in the body.
    """
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
    except ValueError as exc:
        raise InvalidRequest(f"the body is not valid JSON: {exc}", hint="send UTF-8 without a byte order mark") from exc
    _check(value, max_depth)
    return value


def decode_form(body: bytes) -> dict[str, list[str]]:
    """Return all values of each field of a form, with the line feeds that browsers replace restored.

    Raises InvalidRequest.
    """
    fields: dict[str, list[str]] = {}
    try:
        for name, value in parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX):
            fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
    except ValueError as exc:
        raise InvalidRequest("the body is not a form", hint="send the form of a page") from exc
    return fields


def _check(value: Any, max_depth: int) -> None:
    """Check a value level by level; a recursion could be made too deep by a client."""
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise InvalidRequest("the body has a number that is not finite")
            elif isinstance(item, int) and not -INTEGER_MAX - 1 <= item <= INTEGER_MAX:
                raise InvalidRequest("the body has an integer of more than 64 bits")
        depth += any(isinstance(item, dict | list) for item in level)
        if depth > max_depth:
            raise InvalidRequest(f"the body nests more than {max_depth} levels")
        level = below
