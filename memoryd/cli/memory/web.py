"""memoryctl web: opens the page of the memory in a browser, or prints the link for a browser elsewhere."""

import os
import socket
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import click

from memoryd.cli.invocation import Invocation, verb
from memoryd.cli.terminal import note
from memoryd.config.paths import socket_path
from memoryd.replies.daemon import PageReply
from memoryd.wire import Exit

_LEADS_ON = """<!doctype html><meta charset="utf-8"><title>memoryd</title><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Go on to the page</a>
"""
_SHOWS = ("DISPLAY", "WAYLAND_DISPLAY")
"""What a Linux session has that shows a browser."""


@click.command("web")
@click.option("--print", "is_printed", is_flag=True, help="Print the link, and how to reach it from another machine.")
@click.option("--keep", is_flag=True, help="Keep the page open until memoryd ends, not for half an hour without use.")
@verb
def web_command(invocation: Invocation, is_printed: bool, keep: bool) -> Exit:
    """Open the page at which one looks at the memory, and mends it: ask, memories, changes, health.

    The link lets in once, within a minute; memoryd listens on loopback alone, and for the page only while it is used.
    """
    reply = invocation.memory.open_page(keep, agent=invocation.agent)
    if invocation.is_json or is_printed or not _is_opened(reply["url"], socket_path().parent):
        return invocation.show(reply, _lines(reply))
    note("the page is open in your browser; --print prints the link instead")
    return Exit.DONE


def _lines(reply: PageReply) -> Iterator[str]:
    yield reply["url"]
    host, port = reply["host"], reply["port"]
    address = f"[{host}]" if ":" in host else host
    note(f"good once, for {reply['expiresSeconds']:.0f} s; from another machine first run there:")
    note(f"  ssh -N -L {port}:{address}:{port} {socket.gethostname()}")


def _is_opened(url: str, folder: Path) -> bool:
    """Open a browser; return whether there is one, in a session that can show it.

    It is given a file of `folder` that leads to the link: all programs of a machine can read what another is started
    with.
    """
    if sys.platform != "darwin" and not any(map(os.environ.get, _SHOWS)):
        return False
    # here: it looks for browsers as it is loaded
    import webbrowser

    page = folder / "page.html"
    try:
        page.unlink(missing_ok=True)
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_LEADS_ON.format(url=escape(url)))
        return webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False
