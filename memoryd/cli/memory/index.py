"""memoryctl index, reindex, sync, reload and web: have the daemon read notes or its configuration, or open its page."""

import os
import socket
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from memoryd.cli import terminal
from memoryd.cli.invocation import Invocation, flag, report, show_pending, timeout_option, wait_for, with_invocation
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.config.paths import socket_path
from memoryd.errors import DaemonNotRunning, MemorydError
from memoryd.replies.daemon import PageReply
from memoryd.replies.search import ReloadReply
from memoryd.replies.status import AgentStatus, ConversationsReply
from memoryd.wire import Exit, SyncGoal

if TYPE_CHECKING:
    from memoryd.cli.local.prospects import Prospect, SpokenProspect


@click.command("index")
@flag("--dry-run", "is_dry", help="Only say what would be sent, and where to; works without memoryd.")
@timeout_option
@with_invocation
def index_command(invocation: Invocation, is_dry: bool, timeout: float) -> Exit:
    """Index all notes, vectors included, and wait for it; also while memorySearch.sync.paused is true."""
    if not is_dry:
        return report(invocation, "embedded", wait_for(invocation, "embedded", timeout))
    prospects = _prospects(invocation)
    return invocation.show({"agents": prospects}, (line for prospect in prospects for line in _lines(prospect)))


def _lines(prospect: "Prospect") -> Iterator[str]:
    yield harmless_line(_sentence(prospect))
    if prospect["conversations"] is not None:
        yield f"  {harmless_line(_conversations_sentence(prospect, prospect['conversations']))}"
    yield harmless_line(f"  {prospect['rule']}")


def _prospects(invocation: Invocation) -> "list[Prospect]":
    try:
        invocation.memory.sync("indexed")
        return [_of_status(agent) for agent in invocation.chosen_agents(invocation.memory.status())]
    except DaemonNotRunning:
        note("memoryd is not running: counted on disk, as if nothing were embedded yet")
        # imported here: it loads the parser of notes, which nothing else in this module needs
        from memoryd.cli.local.prospects import prospects

        return prospects(invocation)


def _of_status(agent: AgentStatus) -> "Prospect":
    embedding, sessions = agent.get("embedding"), agent.get("sessions")
    remote = embedding and embedding["remote"]
    outstanding = remote and remote["outstanding"]
    return {
        "id": agent["id"],
        "provider": embedding["provider"] if embedding else agent["provider"],
        "rule": embedding["rule"] if embedding else "",
        "destination": remote["destination"] if remote and outstanding else None,
        "model": remote["model"] if remote and outstanding else None,
        "files": outstanding["files"] if outstanding else None,
        "passages": outstanding["passages"] if outstanding else agent["pendingEmbeddings"],
        "tokens": outstanding["tokens"] if outstanding else None,
        "media": outstanding.get("media", 0) if outstanding else None,
        "mediaBytes": outstanding.get("mediaBytes", 0) if outstanding else None,
        "conversations": _conversations_of(sessions) if sessions else None,
        "paused": bool(embedding and embedding["paused"]),
    }


def _conversations_of(sessions: ConversationsReply) -> "SpokenProspect | None":
    transcripts, outstanding = sessions["transcripts"], sessions["outstanding"]
    passages = outstanding["passages"] if outstanding else sessions["pendingEmbeddings"]
    if transcripts is None and not passages:
        return None
    return {
        "files": transcripts["files"] if transcripts else 0,
        "bytes": transcripts["bytes"] if transcripts else 0,
        "passages": passages,
        "tokens": outstanding["tokens"] if outstanding else None,
    }


def _conversations_sentence(prospect: "Prospect", conversations: "SpokenProspect") -> str:
    files = (
        f"{count(conversations['files'], 'transcript')} of {size(conversations['bytes'])}"
        if conversations["files"]
        else ""
    )
    passages = "" if conversations["passages"] is None else f"{count(conversations['passages'], 'passage')} to embed"
    tokens = "" if conversations["tokens"] is None else f"about {count(conversations['tokens'], 'token')}"
    if prospect["provider"] == "none":
        where = "words only, nothing is embedded"
    elif prospect["destination"] is None:
        where = "nothing leaves the machine"
    else:
        where = f"to {prospect['destination']}"
    return ", ".join(filter(None, [f"conversations: {files}" if files else "conversations", passages, tokens, where]))


def _sentence(prospect: "Prospect") -> str:
    who = f"agent {prospect['id']}: "
    if prospect["provider"] == "none":
        return f"{who}words only, nothing is embedded"
    if prospect["destination"] is None:
        return f"{who}{count(prospect['passages'], 'passage')} to embed here; nothing leaves the machine"
    if not prospect["passages"]:
        return f"{who}nothing to send to {prospect['destination']}"
    paused = ", once asked for: memorySearch.sync.paused is true" if prospect["paused"] else ""
    media = prospect["media"] or 0
    with_media = f", with {media:,} pictures and sounds of {size(prospect['mediaBytes'] or 0)}" if media else ""
    cost = f"{count(prospect['passages'], 'passage')}, about {count(prospect['tokens'] or 0, 'token')}{with_media}"
    to = f"{prospect['destination']} ({prospect['provider']}, {prospect['model']})"
    return f"{who}would send {count(prospect['files'] or 0, 'file')}, {cost} to {to}{paused}"


@click.command("reindex")
@flag("--force", help="Read and chunk every file again, changed or not, and skip the golden questions.")
@flag("--embeddings", help="Drop all vectors and compute them again.")
@click.option("--wait/--no-wait", "is_waiting", default=True, help="Wait until it is done (default) or not.")
@timeout_option
@with_invocation
def reindex_command(invocation: Invocation, force: bool, embeddings: bool, is_waiting: bool, timeout: float) -> Exit:
    """Bring the index in step with the disk; with an option, build it anew.

    Keys of memorySearch that changed in the configuration file since it was loaded are applied first. If that would
    answer golden questions worse (see `memoryctl eval`), nothing is changed.
    """
    if _changes_search(invocation):
        if not force:
            _refuse_regression(invocation)
        if problems := invocation.memory.reload()["problems"]:
            raise MemorydError(f"the configuration was not taken: {'; '.join(problems)}")
    pending = invocation.memory.reindex(force=force, embeddings=embeddings)
    if not is_waiting:
        show_pending(invocation, "none", pending, is_done=True)
        return Exit.DONE
    goal: SyncGoal = "embedded" if embeddings else "indexed"
    return report(invocation, goal, wait_for(invocation, goal, timeout))


@click.command("sync")
@click.option(
    "--wait",
    "goal",
    type=click.Choice(get_args(SyncGoal)),
    default="indexed",
    show_default=True,
    help="What to wait for: nothing, until it is found by words, or by words and meaning.",
)
@timeout_option
@with_invocation
def sync_command(invocation: Invocation, goal: SyncGoal, timeout: float) -> Exit:
    """Read what changed on disk and wait until it is indexed."""
    return report(invocation, goal, wait_for(invocation, goal, timeout))


def _changes_search(invocation: Invocation) -> bool:
    """Return whether a reload would change how notes are indexed or searched."""
    reply = invocation.memory.reload(is_dry=True)
    return not reply["problems"] and any("memorySearch." in key for key in reply["changed"])


def _refuse_regression(invocation: Invocation) -> None:
    # imported here: it loads the store, which nothing else in this module needs
    from memoryd.cli.local.variant import refuse_regression

    refuse_regression(invocation, {})


@click.command("reload")
@flag("--dry-run", "is_dry", help="Say what a reload would change, and change nothing.")
@flag("--force", help="Reload even if golden questions would be answered worse.")
@with_invocation
def reload_command(invocation: Invocation, is_dry: bool, force: bool) -> Exit:
    """Read the configuration again without interrupting running work.

    An invalid file changes nothing: its problems are shown, and the exit code is 78. A file whose keys of memorySearch
    would answer golden questions worse (see `memoryctl eval`) is refused.
    """
    if not is_dry and not force and _changes_search(invocation):
        _refuse_regression(invocation)
    reply = invocation.memory.reload(is_dry)
    is_preview = is_dry and not reply["problems"]
    code = Exit.DONE if reply["reloaded"] or is_preview else Exit.CONFIG
    lines = _preview_lines(reply) if is_preview else _reload_lines(reply)
    return invocation.show(reply, lines, reply["notices"], code=code)


def _preview_lines(reply: ReloadReply) -> Iterator[str]:
    """Yield what a reload would change, from the reply to a dry run."""
    changed, pending_keys = reply["changed"], reply["needsRestart"]
    yield "A reload would change:" if changed else "A reload would change nothing."
    yield from (f"  {terminal.harmless(key)}{', at the next start' if key in pending_keys else ''}" for key in changed)
    if waiting := [key for key in pending_keys if key not in changed]:
        yield f"Still waiting for the next start: {terminal.harmless(', '.join(waiting))}"


def _reload_lines(reply: ReloadReply) -> Iterator[str]:
    if not reply["reloaded"]:
        yield "Nothing was reloaded; the previous configuration stays in use:"
        yield from (f"  {terminal.harmless(problem)}" for problem in reply["problems"])
        yield "Correct this, and run `memoryctl reload` again."
        return
    changed, pending_keys = reply["changed"], reply["needsRestart"]
    now = [key for key in changed if key not in pending_keys]
    otherwise = "" if pending_keys else " Nothing changed."
    yield f"Reloaded.{' These keys are now in effect:' if now else otherwise}"
    yield from (f"  {terminal.harmless(key)}" for key in now)
    if pending_keys:
        yield "These take effect when memoryd is started again:"
        yield from (f"  {terminal.harmless(key)}" for key in pending_keys)


_REDIRECT = """<!doctype html><meta charset="utf-8"><title>memoryd</title><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Go on to the page</a>
"""
_DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY")
"""Environment variables of a Linux session that can show a browser; one of them is enough."""


@click.command("web")
@flag("--print", "is_printed", help="Print the link, and how to reach it from another machine.")
@flag("--keep", help="Keep the page open until memoryd ends, not only until it was unused for half an hour.")
@with_invocation
def web_command(invocation: Invocation, is_printed: bool, keep: bool) -> Exit:
    """Open the page that shows and edits the memory in a browser: ask, memories, changes, health.

    The link works once, within a minute. memoryd listens on loopback only, and without http.enabled only while
    the page is in use.
    """
    reply = invocation.memory.open_page(keep, agent=invocation.agent)
    if invocation.is_json or is_printed or not _is_opened(reply["url"], socket_path().parent):
        return invocation.show(reply, _page_lines(reply))
    note("the page is open in your browser; --print prints the link instead")
    return Exit.DONE


def _page_lines(reply: PageReply) -> Iterator[str]:
    yield reply["url"]
    host, port = reply["host"], reply["port"]
    address = f"[{host}]" if ":" in host else host
    note(f"good once, for {reply['expiresSeconds']:.0f} s; from another machine first run there:")
    note(f"  ssh -N -L {port}:{address}:{port} {socket.gethostname()}")


def _is_opened(url: str, folder: Path) -> bool:
    """Open the link in a browser; return False if there is none, or the session cannot show one.

    The browser gets a file of `folder` that redirects to the link, not the link itself: every program of the machine
    can read the arguments that another program is started with.
    """
    if sys.platform != "darwin" and not any(map(os.environ.get, _DISPLAY_VARIABLES)):
        return False
    # imported here: it searches for browsers while it loads
    import webbrowser

    page = folder / "page.html"
    try:
        page.unlink(missing_ok=True)
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_REDIRECT.format(url=escape(url)))
        return webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False
