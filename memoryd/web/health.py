"""The page Health: what is indexed, at work or wrong, live; and what doctor says when it is asked."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from memoryd.api.call import AtReload
from memoryd.api.calls import status
from memoryd.api.calls.index import EventStream
from memoryd.domain.access import Admitted, Who
from memoryd.errors import MemorydError, NotNow
from memoryd.replies.status import AgentStatus, StatusReply
from memoryd.web.pages import Page, View, Visit

QUIET_SECONDS = 5.0
"""How long figures stay as they are while nothing happens."""
TOGETHER_SECONDS = 0.3
"""What happens within this is told at once."""
DOCTOR = timedelta(seconds=60)
_TEXT_CHARS = 400
_DOCTORS = asyncio.Semaphore(1)
"""Of one daemon at a time: each is a process that looks at all there is."""
WORST_FIRST = ("wrong", "open", "look", "off", "ok")
"""What doctor finds a part to be."""


async def health(visit: Visit) -> View:
    """Show how all parts are."""
    reply = await _status(visit)
    address = visit.services.daemon().page_address
    return {"status": reply, "agents_shown": reply["agents"], "page_at": address, "figures": figures(reply)}


async def events(visit: Visit) -> EventStream:
    """Send the figures of the page whenever something happens."""
    return EventStream(_figure_events(visit, visit.admitted))


async def doctor(visit: Visit) -> View:
    """Show what doctor finds: the program `memoryctl` is run, for most of its checks look from outside."""
    daemon = visit.services.daemon()
    environment = doctor_environment(daemon.socket, daemon.config["source"])
    async with _DOCTORS:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memoryd.cli", "doctor", "--json"),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            out, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    try:
        found = json.loads(out)["checks"]
    except (ValueError, KeyError) as exc:
        raise NotNow("doctor could not be run", hint="run memoryctl doctor in a terminal") from exc
    return {"checks": sorted(found, key=lambda one: WORST_FIRST.index(one["state"]))}


def doctor_environment(socket: str, source: str | None) -> dict[str, str]:
    """Return what tells doctor where this daemon listens, and from which file it has its configuration."""
    of_file = {} if source is None else {"MEMORYD_CONFIG": str(Path(source).absolute())}
    return {**os.environ, "MEMORYD_SOCKET": socket, **of_file}


def figures(reply: StatusReply) -> dict[str, str | int]:
    """Return all that changes, as it is shown, by the names of its places on the page."""
    found: dict[str, str | int] = dict(_daemon(reply))
    for agent in reply["agents"]:
        found |= {f"{agent['id']}.{name}": value for name, value in (*_agent(agent), *_parts(agent))}
    return found


def _daemon(reply: StatusReply) -> Iterator[tuple[str, str]]:
    config, port = reply["config"], reply["http"]
    yield "uptime", _span(reply["uptimeSeconds"])
    yield "rss", f"{reply['rssBytes'] / 1e6:.0f} MB"
    yield "problems", _lines(f"Configuration: {one}" for one in config["problems"])
    yield "unreachable", _lines(f"{one['socket']}: {one['reason']}" for one in reply["unreachable"])
    yield "port", "open for this page alone" if port is None else "open" if port["open"] else "closed"
    yield "portReason", _reason(port["reason"] if port else "")


def _agent(agent: AgentStatus) -> Iterator[tuple[str, str | int]]:
    passages, embedded, waiting = agent["passages"], agent["embedded"], agent["pendingEmbeddings"]
    yield "files", f"{agent['files']:,}"
    yield "memories", f"{agent['memories']['memories']:,}"
    yield "passages", f"{passages:,}"
    yield "pendingFiles", f"{agent['pendingFiles']:,}"
    yield "pendingEmbeddings", f"{waiting:,}"
    yield "pendingCaptures", f"{agent['pendingCaptures']:,}"
    yield "done", round(100 * embedded / (embedded + waiting)) if waiting else 100
    seconds = agent["readingSecondsLeft"] or agent["embeddingSecondsLeft"]
    yield "left", f"about {_span(seconds)} left" if seconds else ""
    yield "state", _state(agent)


def _parts(agent: AgentStatus) -> Iterator[tuple[str, str]]:
    from memoryd.web.rendering import ago_in_words, size

    watcher, embedder = agent["watcher"], agent["embedder"]
    yield "degraded", _lines(_troubles(agent))
    roots = (f"{one['path']} {one['state']}{_reason(one['reason'])}" for one in agent["roots"])
    yield "roots", _lines(roots)
    yield "scanned", ago_in_words(agent["lastScanAt"])
    yield "watcher", watcher["mode"]
    yield "watcherReason", _reason(watcher["reason"])
    model = f", {agent['model']}" if agent["model"] else ""
    yield "embedder", f"{agent['provider']}{model}, {embedder['state']} since {wall_clock(embedder['since'])}"
    yield "embedderReason", _reason(embedder["reason"])
    yield "rule", _shown(agent["embedding"]["rule"])
    yield "backend", agent["backend"]
    yield "backendReason", _reason(agent["qmd"]["reason"] if agent["qmd"] else "")
    sizes = {"index": agent["database"]["bytes"], "ledger": agent["ledger"]["bytes"]}
    if agent["sessions"]:
        sizes["conversations"] = agent["sessions"]["bytes"]
    yield "sizes", ", ".join(f"{name} {size(count)}" for name, count in sizes.items())
    conflicts = [one["path"] for one in agent["flagged"] if "conflict-copy" in one["flags"]]
    yield "conflicts", _lines(conflicts) or "none"
    yield "skipped", f"{agent['skippedCount']:,} files"


def _troubles(agent: AgentStatus) -> Iterator[str]:
    for one in agent["degraded"]:
        yield f"{one['part']}: {one['reason']} (since {wall_clock(one['since'])})"
    if fallback := agent["fallback"]:
        yield f"{fallback['from']} fell back: {fallback['reason']} (since {wall_clock(fallback['since'])})"
    if gone := agent["massRemoval"]:
        at = wall_clock(gone["at"])
        yield f"{gone['files']} files vanished at once ({at}): what was known of them is kept for now."


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(map(_shown, texts))


def _reason(text: str | None) -> str:
    return f": {_shown(text)}" if text else ""


def _shown(text: str) -> str:
    from memoryd.web.rendering import clipped

    return clipped(text, _TEXT_CHARS)


def wall_clock(stamp: str) -> str:
    """Return a time as the clock on the wall has it: what stays on a page while it is looked at does not grow old."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")


def _state(agent: AgentStatus) -> str:
    if agent["pendingFiles"] or agent["dirty"]:
        return "reading files"
    if agent["pendingEmbeddings"]:
        return "making passages findable by meaning"
    return "up to date"


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


async def _status(visit: Visit) -> StatusReply:
    return await status.get_status(visit.caller, visit.services)


async def _figure_events(visit: Visit, admitted: Admitted) -> AsyncGenerator[bytes, None]:
    """Yield figures as server-sent events: at once, and again when something happened or a while has passed.

    It ends with its session, which lasts no longer by it, and gives way to the next one of that session; the last
    event says that there is no use in asking again. It ends without that at a reload, after which a browser that asks
    again is told of the workspaces that are open then.
    """
    session, clock, at_first = visit.session, asyncio.get_running_loop().time, _loads(visit)
    with visit.memories.follow(admitted) as subscription:
        session.follow(subscription)
        while not session.is_idle(clock()) and _loads(visit) == at_first:
            try:
                yield _event("figures", json.dumps(figures(await _status(visit))))
            except MemorydError:
                break
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    if await subscription.next() is None:
                        break
            except TimeoutError:
                continue
            await asyncio.sleep(TOGETHER_SECONDS)
    if session.is_over or session.is_idle(clock()) or session.stream is not subscription:
        # without that a browser opens it again, which is right after a reload
        yield _event("over")


def _loads(visit: Visit) -> tuple[str, str | None]:
    """Return when the configuration was last loaded, and when that last failed: then workspaces may be others."""
    config = visit.services.daemon().config
    return config["loadedAt"], config["failedAt"]


def _event(name: str, data: str = "") -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


PAGES = (
    Page(path="health", title="Health", handler=health, who=Who.AGENT),
    Page(path="events", handler=events, at_reload=AtReload.STREAMS),
    Page(path="doctor", method="POST", title="Doctor", under="health", handler=doctor, who=Who.OWNER, deadline=DOCTOR),
)
