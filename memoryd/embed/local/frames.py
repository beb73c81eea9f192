"""The wire format between the daemon and a worker that runs a model: typed messages in length-prefixed frames.

A frame is a big-endian 32-bit length and a message as MessagePack (a vector as float32 in the machine's byte order).
Both sides check sizes before they allocate. Malformed input raises ValueError: the connection is then unusable.
"""

import socket
import struct
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, msgpack
from msgspec.structs import asdict, replace

from memoryd.embed.protocol import Purpose

if TYPE_CHECKING:
    # used by the daemon only
    import asyncio

FRAME_BYTES = 2 * 1024 * 1024
"""The largest message that either side accepts; a vector of 65,536 dimensions takes an eighth of it."""

TEXT_CHARACTERS = 128 * 1024
"""Longer texts are cut before they are sent. It exceeds every model's context, and fits into a frame in any script."""

RANK_POOLING = "rank"
"""`Load.pooling` of a model that scores pairs."""

WRITE_POOLING = "write"
"""`Load.pooling` of a model that generates text, without pooling."""

_LENGTH = struct.Struct(">I")


class _Message(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    pass


class Load(_Message, frozen=True):
    """First message to the worker: the model to load. `context` bounds one text, or one pair, in tokens.

    With `gpu_layers` None llama.cpp decides how many layers run on a graphics card.
    """

    model: str
    pooling: str
    context: int
    threads: int
    gpu_layers: int | None = None


class _Numbered(_Message, frozen=True):
    """A request, its cancellation or its reply. Each request has one reply; replies are in order for each purpose."""

    id: int


class Embed(_Numbered, frozen=True):
    """To the worker: one text, including its prompt. The reply is Embedded or NoResult."""

    purpose: Purpose
    text: str


class Score(_Numbered, frozen=True):
    """To the worker: a question and a text that may answer it. The reply is Scored or NoResult."""

    purpose: ClassVar[Purpose] = Purpose.QUERY
    question: str
    text: str


class Write(_Numbered, frozen=True):
    """To the worker: a task and its data. The reply is Written or NoResult.

    `schema` is the JSON schema of the answer, as JSON; `max_tokens` bounds the answer.
    """

    purpose: ClassVar[Purpose] = Purpose.QUERY
    task: str
    data: str
    schema: str
    max_tokens: int


class Cancel(_Numbered, frozen=True):
    """To the worker: no caller waits for this request any more. If it is not computed yet, its reply is NoResult."""


class Ready(_Message, frozen=True):
    """From the worker: the model is loaded. `dimensions` is the number of values for a text, or for a pair.

    `offloads`: this build of llama.cpp can use a graphics card.
    """

    dimensions: int
    context: int
    offloads: bool = False


class Failed(_Message, frozen=True):
    """From the worker: the model cannot be loaded; the worker ends."""

    reason: str


class Embedded(_Numbered, frozen=True):
    """From the worker: a vector of length 1, as float32 bytes."""

    vector: bytes


class Scored(_Numbered, frozen=True):
    """From the worker: the raw output of the model's head for the pair; a higher score is a better answer."""

    score: float


class Written(_Numbered, frozen=True):
    """From the worker: a complete JSON text. The daemon checks it against the schema."""

    text: str


class NoResult(_Numbered, frozen=True):
    """From the worker: no usable result for this request."""

    reason: str


WorkerRequest = Embed | Score | Write
Message = Load | WorkerRequest | Cancel | Ready | Failed | Embedded | Scored | Written | NoResult
_DECODER = msgpack.Decoder(Message)


def encode(message: Message) -> bytes:
    """Return the frame of `message`. Lone surrogates become question marks."""
    try:
        body = msgpack.encode(message)
    except UnicodeEncodeError:
        texts = {name: value for name, value in asdict(message).items() if isinstance(value, str)}
        valid = {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
        body = msgpack.encode(replace(message, **valid))
    return _LENGTH.pack(len(body)) + body


def decode(body: bytes) -> Message:
    """Return the message in a frame; raises ValueError if it is malformed."""
    try:
        message: Message = _DECODER.decode(body)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    return message


def _size(length: bytes) -> int:
    (size,) = _LENGTH.unpack(length)
    if size > FRAME_BYTES:
        raise ValueError(f"frame of {size} bytes is too large")
    return int(size)


async def read(reader: "asyncio.StreamReader") -> Message:
    """Read one message; raises IncompleteReadError at the end of the stream, ValueError for garbage.

    After a cancellation in the middle of a frame the stream is unusable.
    """
    return decode(await reader.readexactly(_size(await reader.readexactly(_LENGTH.size))))


def receive(connection: socket.socket) -> Message | None:
    """Read one message, blocking; None at the end of the stream. Raises ValueError for garbage."""
    length = _receive_exactly(connection, _LENGTH.size)
    body = _receive_exactly(connection, _size(length)) if length else b""
    return decode(body) if body else None


def send(connection: socket.socket, message: Message) -> None:
    """Write one message, blocking; raises OSError if the other side has closed the connection."""
    connection.sendall(encode(message))


def _receive_exactly(connection: socket.socket, size: int) -> bytes:
    """Return `size` bytes, blocking; an empty value at the end of the stream."""
    data = bytearray()
    # loop: a signal may interrupt MSG_WAITALL
    while len(data) < size and (chunk := connection.recv(size - len(data), socket.MSG_WAITALL)):
        data += chunk
    return bytes(data) if len(data) == size else b""
