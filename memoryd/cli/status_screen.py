"""The status on one screen: a headline, and a line for each part with its mark."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoryd.cli.status_of_agent import agent_parts
from memoryd.cli.status_of_daemon import daemon_parts
from memoryd.cli.status_parts import Level, StatusPart, headline, of_agent_as_one
from memoryd.cli.terminal import harmless_line
from memoryd.replies.status import StatusReply

NAME_WIDTH: Final = 16


def is_degraded(status: StatusReply) -> bool:
    """Tell whether anything does less than the configuration asks for; what is on its way is not counted."""
    now = datetime.now(UTC)
    parts = [*daemon_parts(status), *(part for agent in status["agents"] for part in agent_parts(agent, now))]
    return any(part.level is Level.WRONG for part in parts)


def screen_view(status: StatusReply, now: datetime) -> RenderableType:
    """Return the screen: of one agent its parts, of several a line for each."""
    agents = [(agent, list(agent_parts(agent, now))) for agent in status["agents"]]
    of_daemon = list(daemon_parts(status))
    level, said = headline(status["version"], [*of_daemon, *(part for _, parts in agents for part in parts)])
    views: list[RenderableType] = [Text(said, style=level.style), Text(), _lines(of_daemon)]
    if len(agents) == 1:
        agent, parts = agents[0]
        title = f"agent {harmless_line(agent['id'])} in {harmless_line(agent['workspace'])}"
        views += [Text(), Text(title, style="bold", overflow="fold"), _lines(parts)]
    elif agents:
        lines = [of_agent_as_one(agent["id"], parts) for agent, parts in agents]
        views += [Text(), Text(f"{len(agents)} agents", style="bold"), _lines(lines, is_short=True)]
        views += [Text(), Text("memoryctl status --agent ID shows one of them whole", style="dim")]
    return Group(*views)


def _lines(parts: Iterable[StatusPart], *, is_short: bool = False) -> Table:
    parts = list(parts)
    width = max((min(NAME_WIDTH, len(harmless_line(part.name))) for part in parts), default=0)
    table = Table.grid(padding=(0, 1), expand=is_short)
    table.add_column(no_wrap=True, min_width=5)
    # as wide as it is: a long text beside it takes what is left, and no more
    table.add_column(style="dim", no_wrap=True, min_width=width, max_width=width, overflow="ellipsis")
    # with a share of the width, or it would squeeze the marks away
    ratio = 1 if is_short else None
    table.add_column(no_wrap=is_short, overflow="ellipsis" if is_short else "fold", ratio=ratio)
    before = ""
    for part in parts:
        name = "" if part.name == before else _cut(harmless_line(part.name))
        before = part.name
        table.add_row(Text(part.level.mark, style=part.level.style), name, harmless_line(part.told))
        if part.next_step and not is_short:
            table.add_row("", "", Text(f"next: {harmless_line(part.next_step)}", style="bold"))
    return table


def _cut(name: str) -> str:
    """Leave out the middle of a long name: ids that somebody numbered differ at the end."""
    half = (NAME_WIDTH - 1) // 2
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1 - half]}…{name[-half:]}"
