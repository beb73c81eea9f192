"""Where the daemon listens, told without the room that knows all cases where the case is a plain one."""

import os

from memoryd.wire import SOCKET_NAME

_SHORT = 103
"""Bytes that every system takes."""


def usual_socket() -> str:
    """Return the path of the socket; the same as `memoryd.config.paths.socket_path`."""
    named, runtime = os.environ.get("MEMORYD_SOCKET", ""), os.environ.get("XDG_RUNTIME_DIR", "")
    plain = named or (f"{runtime.rstrip('/')}/memoryd/{SOCKET_NAME}" if runtime else "")
    if plain.startswith("/") and len(os.fsencode(plain)) <= _SHORT:
        return plain
    # here, since it takes longer to load than all the rest
    from memoryd.config.paths import socket_path

    return str(socket_path())
