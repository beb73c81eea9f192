"""The process that has read our modules, and forks whatever program of ours a test asks for.

It is asked over a socket, an object of JSON each. `argv` begins with what Python would be given (`-m`, `-c` or a
script) and comes with three descriptors; what it forks is a child of its own, so that it also tells how one ended.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from memoryd.cli.main import COMMANDS

OFTEN = (
    "memoryd.daemon.app",
    "memoryd.daemon.main",
    "memoryd.hooks",
    *(command.module for command in COMMANDS.values()),
)
"""What programs of ours import."""
LATER = (
    "Stemmer",
    "anyio._backends._asyncio",
    "encodings.utf_8_sig",
    "httpcore",
    "memoryd.agents.team",
    "memoryd.cli.written_file",
    "memoryd.embed.remote.http",
    "numpy.ma",
    "psutil",
    "uvicorn.lifespan.off",
)
"""What most of them import when they first need it, or others do for them."""
PROTOCOL = ("memoryd.mcp.server",)
"""What `memoryctl mcp` imports besides: most of those that fork never run it."""
SIZE = 1 << 17
"""Of a message at most, in bytes."""


def serve(asked: socket.socket) -> dict[str, Any]:
    """Answer until nobody asks any more; returns in a child alone, with what it is to be."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(asked, SIZE, 3)
        if not data:
            # not by way of `exit`: this is nobody's program, and what runs when one ends is not for it
            os._exit(0)
        request = json.loads(data)
        if "ended" in request:
            asked.send(json.dumps(_ended(request["ended"])).encode())
            continue
        if "mcp" in request["argv"]:
            read(PROTOCOL)
        if (pid := os.fork()) == 0:
            asked.close()
            _become(request, descriptors)
            return request  # type: ignore[no-any-return]
        asked.send(json.dumps(pid).encode())
        for descriptor in descriptors:
            os.close(descriptor)


def _ended(pid: int) -> int | None:
    """Return how a child ended, as `waitpid` says it; None while it runs, and for one that is not known."""
    with contextlib.suppress(ChildProcessError):
        found, status = os.waitpid(pid, os.WNOHANG)
        return status if found else None
    return None


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Give this process what an executed one would have got: streams, session, folder and environment."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, max(descriptors) + 1)
    _open_streams()
    if request["session"]:
        os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()


def _open_streams() -> None:
    """Open the standard streams anew: an object knows from its making what it may do with its descriptor."""
    utf8: dict[str, Any] = {"encoding": "utf-8", "closefd": False}
    sys.stdin = open(0, errors="surrogateescape", **utf8)  # noqa: SIM115
    sys.stdout = open(1, "w", errors="surrogateescape", buffering=1 if os.isatty(1) else -1, **utf8)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, **utf8)  # noqa: SIM115


def run(argv: Sequence[str]) -> None:
    """Run what Python was given, as Python would."""
    kind, rest = argv[0], list(argv[1:])
    if kind == "-m":
        sys.argv = rest
        # as the main module it runs once more
        sys.modules.pop(rest[0], None)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = list(argv)
        runpy.run_path(kind, run_name="__main__")


def run_and_leave(argv: Sequence[str]) -> NoReturn:
    """Run a program and end as it does, but for the modules of the nursery, which no exit needs to take apart.

    That would take ten times what the fork does. What fails goes the usual way.
    """
    code: object = 0
    try:
        run(argv)
    except SystemExit as exc:
        code = exc.code or 0
    if isinstance(code, int):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        with contextlib.suppress(AttributeError, OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)  # type: ignore[arg-type]


def read(modules: Sequence[str]) -> None:
    """Import modules, if need be, for all that is forked from now on."""
    if not sys.modules.keys() >= {*modules}:
        for module in modules:
            importlib.import_module(module)
        gc.collect()
        gc.freeze()


def use() -> None:
    """Do what programs do at the first use of what they have read: each of them would do it again."""
    # whoever asks the nursery imports this module, too, and none of these
    from memoryd.api.application import TABLE, Application
    from memoryd.config.loading.load import load_text
    from memoryd.domain.expressions import _Deferred
    from memoryd.domain.text.markdown import front_matter
    from memoryd.domain.text.sanitizing import in_markup
    from memoryd.store.ledger.database import LEDGER, _empty_database
    from memoryd.store.migrations import _tables_of

    front_matter("---\na: b\n---\n")
    in_markup("")
    # in memory, both
    _empty_database()
    _tables_of(LEDGER)
    load_text('{agents: {defaults: {memorySearch: {sync: {}}}, list: [{id: "one"}]}}', None)
    for row in TABLE:
        if row.parameters:
            row.checks  # noqa: B018
        for mark in row._injected.values():
            if mark.query:
                mark.checks  # noqa: B018
        if row.body is not None:
            row.body.model_rebuild()
    # of objects that are frozen nobody tells
    gc.unfreeze()
    for one in gc.get_objects():
        if type(one) is _Deferred:
            one.flags  # noqa: B018
    # last, as `re` remembers few: the patterns of an application are its own, and compiled anew
    for pattern, _ in Application()._named:
        pattern.flags  # noqa: B018
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    read((*OFTEN, *LATER))
    use()
    # the last that this process does, at the end of its stack: a program ends by leaving it
    run_and_leave(serve(socket.socket(fileno=int(sys.argv[1])))["argv"])
