"""memoryctl mcp: the memory for programs that speak the Model Context Protocol."""

import fcntl
import importlib.util
import os
import sys

import click

from memoryd.cli.invocation import Invocation, with_invocation
from memoryd.cli.terminal import is_terminal, note
from memoryd.errors import MemorydError
from memoryd.mcp.answers import TOKENS, TOKENS_MAX, TOKENS_MIN
from memoryd.wire import Exit


@click.command("mcp")
@click.option(
    "--write",
    is_flag=False,
    flag_value="add",
    type=click.Choice(["add", "all"]),
    help="Offer tools that add (--write), or also those that replace and delete (--write=all); else they only read.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(TOKENS_MIN, TOKENS_MAX),
    default=TOKENS,
    help=f"The longest answer, in tokens (else {TOKENS:,}).",
)
@click.option("--session-key", metavar="KEY", help="The session that asks, such as agent:main:main.")
@with_invocation
def mcp_command(invocation: Invocation, write: str | None, max_tokens: int, session_key: str | None) -> Exit:
    """Serve the memory to a client of the Model Context Protocol, over standard input and output.

    The client starts this itself and ends it by closing standard input; docs/how-to/mcp.md has a snippet for each.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MemorydError("memoryctl mcp needs the package mcp", hint="install it: pip install 'memoryd[mcp]'")
    if is_terminal(sys.stdin):
        note("this is for programs, which write JSON-RPC here; end it with Ctrl-D")
    source, sink = _claim_streams()
    # imports that take about a second; from here on no output of other code reaches the client
    import gc

    import anyio

    from memoryd.mcp.caller import ToolCaller
    from memoryd.mcp.server import ToolServer, serve
    from memoryd.mcp.table import WriteLevel

    # the protocol models live until the end of the process; freezing saves their slow collection at exit
    gc.freeze()
    levels = {None: WriteLevel.READ, "add": WriteLevel.ADD, "all": WriteLevel.ALL}
    caller = ToolCaller(invocation.socket, agent=invocation.agent, session_key=session_key, max_tokens=max_tokens)
    anyio.run(serve, ToolServer(caller, levels[write]), source, sink)
    return Exit.DONE


def _claim_streams() -> tuple[int, int]:
    """Return duplicates of standard input and output; then redirect output to stderr and input to /dev/null.

    The redirection holds for Python, for native code and for child processes.
    """
    source, sink = (fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 3) for stream in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)  # stderr is closed
    os.close(nothing)
    return source, sink
