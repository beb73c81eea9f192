"""The wire between the daemon and a worker that runs a model: typed messages in length-prefixed frames.

A frame is two big-endian 32-bit lengths, a JSON header and raw bytes (a vector as float32 in the machine's byte
order). Both sides check sizes before they allocate. Malformed input raises ValueError: the connection is then unusable.
"""

import asyncio
import json
import socket
import struct
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import fields

from memoryd.embed.protocol import Purpose

HEADER_BYTES: Final = 2 * 1024 * 1024
"""The largest header either side accepts."""

PAYLOAD_BYTES: Final = 256 * 1024
"""The largest vector: 65,536 dimensions."""

TEXT_CHARACTERS: Final = 128 * 1024
"""Longer texts are cut before they are sent; far beyond any model's context, and the header holds it in any script."""

RANK_POOLING: Final = "rank"
"""What a model is loaded with that scores pairs."""

WRITE_POOLING: Final = "write"
"""What a model is loaded with that writes text: nothing is pooled."""

_LENGTHS: Final = struct.Struct(">II")


class Load(Struct, frozen=True):
    """To the worker, first: which model and how. `context` bounds one text, or one pair, in tokens."""

    model: str
    pooling: str
    context: int
    threads: int


class Embed(Struct, frozen=True):
    """To the worker: one text, prompt included. One Embedded or NoResult answers it, in order of its purpose."""

    id: int
    purpose: Purpose
    text: str


class Score(Struct, frozen=True):
    """To the worker: a question and a text that may answer it. One Scored or NoResult answers it, in order."""

    id: int
    question: str
    text: str

    @property
    def purpose(self) -> Purpose:
        """Somebody waits for it, always."""
        return Purpose.QUERY


class Write(Struct, frozen=True):
    """To the worker: what to do and the data to do it with. One Written or NoResult answers it, in order.

    `schema` is the JSON schema of the answer, as JSON; `max_tokens` bounds it.
    """

    id: int
    task: str
    data: str
    schema: str
    max_tokens: int

    @property
    def purpose(self) -> Purpose:
        """Somebody waits for it, always."""
        return Purpose.QUERY


class Cancel(Struct, frozen=True):
    """To the worker: nobody waits for this request any more; refuse it instead of computing, if it still can be."""

    id: int


class Ready(Struct, frozen=True):
    """From the worker: the model is loaded. It gives as many numbers as `dimensions` for a text, or for a pair."""

    dimensions: int
    context: int


class Failed(Struct, frozen=True):
    """From the worker: the model cannot be loaded; the worker ends."""

    reason: str


class Embedded(Struct, frozen=True):
    """From the worker: a vector of length 1, as float32 bytes."""

    id: int
    vector: bytes


class Scored(Struct, frozen=True):
    """From the worker: what the model's head gives for the pair, as it is: more is a better answer."""

    id: int
    score: float


class Written(Struct, frozen=True):
    """From the worker: a whole JSON text. Whether it fits the schema is for the daemon to see."""

    id: int
    text: str


class NoResult(Struct, frozen=True):
    """From the worker: no usable result for this request."""

    id: int
    reason: str


WorkerRequest = Embed | Score | Write
Message = Load | WorkerRequest | Cancel | Ready | Failed | Embedded | Scored | Written | NoResult

_KINDS: Final = {
    kind.__name__.lower(): kind
    for kind in (Load, Embed, Score, Write, Cancel, Ready, Failed, Embedded, Scored, Written, NoResult)
}
_FIELDS: Final[dict[type, dict[str, Any]]] = {
    kind: {field.name: field.type for field in fields(kind)} for kind in _KINDS.values()
}
"""The type of each field, by kind."""


def encode(message: Message) -> bytes:
    """Give the frame of `message`. Lone surrogates become question marks."""
    header: dict[str, str | int | float] = {"kind": type(message).__name__.lower()}
    payload = b""
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if isinstance(value, bytes):
            payload = value
        else:
            header[name] = value
    encoded = json.dumps(header, ensure_ascii=False).encode("utf-8", "replace")
    return _LENGTHS.pack(len(encoded), len(payload)) + encoded + payload


def decode(header: bytes, payload: bytes) -> Message:
    """Give the message in a frame; raises ValueError if it is none."""
    try:
        values = json.loads(header)
    except RecursionError as exc:
        raise ValueError("header nested too deeply") from exc
    if not isinstance(values, dict) or str(values.get("kind")) not in _KINDS:
        raise ValueError("not a message")
    kind = _KINDS[str(values.pop("kind"))]
    if kind is Embedded:
        values["vector"] = payload
    elif payload:
        raise ValueError("unexpected payload")
    return kind(**_checked(kind, values))


def _checked(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    expected = _FIELDS[kind]
    if values.keys() != expected.keys():
        raise ValueError(f"wrong fields for {kind.__name__}")
    if "purpose" in values:
        values["purpose"] = Purpose(str(values["purpose"]))
    for name, value in values.items():
        if type(value) is not expected[name]:
            raise ValueError(f"{kind.__name__}.{name} has the wrong type")
    return values


def _sizes(lengths: bytes) -> tuple[int, int]:
    header, payload = _LENGTHS.unpack(lengths)
    if header > HEADER_BYTES or payload > PAYLOAD_BYTES:
        raise ValueError(f"frame of {header} + {payload} bytes is too large")
    return header, payload


async def read(reader: asyncio.StreamReader) -> Message:
    """Read one message; raises IncompleteReadError at the end of the stream, ValueError for garbage.

    After a cancellation in the middle of a frame the stream is unusable.
    """
    header, payload = _sizes(await reader.readexactly(_LENGTHS.size))
    return decode(await reader.readexactly(header), await reader.readexactly(payload))


def receive(connection: socket.socket) -> Message | None:
    """Read one message, blocking; None at the end of the stream. Raises ValueError for garbage."""
    lengths = _receive_exactly(connection, _LENGTHS.size)
    if lengths is None:
        return None
    header, payload = (_receive_exactly(connection, size) for size in _sizes(lengths))
    return None if header is None or payload is None else decode(header, payload)


def send(connection: socket.socket, message: Message) -> None:
    """Write one message, blocking; raises OSError when the other side is gone."""
    connection.sendall(encode(message))


def _receive_exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray(size)
    view = memoryview(data)
    done = 0
    while done < size:
        count = connection.recv_into(view[done:])
        if count == 0:
            return None
        done += count
    return bytes(data)
