"""A stand-in for the embedding worker that speaks its wire and then misbehaves: `standin.py MODE FD`.

Vectors are the unit vector along the dimension that the length of the text picks, four dimensions in all.
"""

import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable

from memoryd.embed.local.frames import Embed, Embedded, Failed, Load, NoResult, Ready, encode, receive, send

DIMENSIONS = 4


def vector(text: str) -> bytes:
    values = [0.0] * DIMENSIONS
    values[len(text) % DIMENSIONS] = 1.0
    return struct.pack(f"={DIMENSIONS}f", *values)


def sleep_for_ever() -> None:
    while True:
        time.sleep(60)


ACTIONS: dict[str, Callable[[], object]] = {
    "abort": os.abort,
    "exit": lambda: sys.exit("out of luck"),
    "hang": sleep_for_ever,
    "slow": lambda: time.sleep(0.1),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}

REPLIES: dict[str, Callable[[Embed], bytes]] = {
    "nan": lambda request: encode(Embedded(request.id, struct.pack("=4f", float("nan"), 0, 0, 0))),
    "infinite": lambda request: encode(Embedded(request.id, struct.pack("=4f", float("inf"), 0, 0, 0))),
    "zero": lambda request: encode(Embedded(request.id, bytes(16))),
    "long": lambda request: encode(Embedded(request.id, struct.pack("=4f", 3, 4, 0, 0))),
    "short": lambda request: encode(Embedded(request.id, bytes(12))),
    "refuse": lambda request: encode(NoResult(request.id, "cannot decode it")),
    "disorder": lambda request: encode(Embedded(request.id + 1, vector(request.text))),
    "twice": lambda request: encode(Embedded(request.id, vector(request.text))) * 2,
    "unknown-id": lambda request: encode(Embedded(10**6, vector(request.text))),
    "second-ready": lambda _: encode(Ready(DIMENSIONS, 512)),
    "garbage": lambda _: struct.pack(">I", 5) + b"help!",
    "nested": lambda _: struct.pack(">I", 100_000) + b"\x91" * 100_000,
    "oversize": lambda _: struct.pack(">I", 2**31) + bytes(1000),
}


def misbehave(mode: str, wire: socket.socket, request: Embed) -> None:
    """Answers a text that holds the word "poison" in its own way."""
    if mode in ACTIONS:
        ACTIONS[mode]()
        send(wire, Embedded(request.id, vector(request.text)))
    elif mode == "half":
        wire.sendall(encode(Embedded(request.id, vector(request.text)))[:-3])
        os._exit(0)
    else:
        wire.sendall(REPLIES[mode](request))


def refuse_to_load(wire: socket.socket) -> None:
    send(wire, Failed("unknown magic"))
    sys.exit(0)


def is_model(path: str) -> bool:
    with open(path, "rb") as file:  # noqa: PTH123 - a stand-in starts with as few imports as it can
        return file.read(4) == b"GGUF"


def be_loud() -> None:
    os.write(1, b"print on stdout\n" * 100_000)
    os.write(2, b"print on stderr\n" * 100_000)


def start(mode: str, wire: socket.socket, order: Load) -> None:
    """Answers the order to load."""
    if mode == "broken-model" or (mode == "picky" and not is_model(order.model)):
        refuse_to_load(wire)
    elif mode == "crash-on-load":
        sys.exit("cannot allocate memory")
    elif mode == "hang-on-load":
        sleep_for_ever()
    elif mode == "loud":
        be_loud()
    elif mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send(wire, Ready(8 if mode == "wrong-dimensions" else DIMENSIONS, 512))


mode, descriptor = sys.argv[1], int(sys.argv[2])
wire = socket.socket(fileno=descriptor)
order = receive(wire)
assert isinstance(order, Load)
start(mode, wire, order)
while (message := receive(wire)) is not None:
    if not isinstance(message, Embed):
        continue
    if "poison" in message.text:
        misbehave(mode, wire, message)
    else:
        send(wire, Embedded(message.id, vector(message.text)))
