"""The whole status in rows: all that the daemon tells of itself and of each agent."""

from collections.abc import Iterator
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoryd.cli.status_conversations import conversation_rows, ledger_rows, turn_rows
from memoryd.cli.status_index import index_rows, outside_rows, qmd_rows, trouble_rows
from memoryd.cli.status_models import embedder_rows, provider_rows, reranker_rows, text_model_rows
from memoryd.cli.status_row import StatusRow, row_text, warning
from memoryd.cli.terminal import ago, count, duration, harmless_line, size
from memoryd.replies.status import AgentStatus, StatusReply


def whole_view(status: StatusReply, now: datetime) -> RenderableType:
    """Return all rows."""
    parts: list[RenderableType] = [_grid(_daemon_rows(status))]
    for agent in status["agents"]:
        parts += [Text(), Text(f"agent {harmless_line(agent['id'])}", style="bold"), _grid(_agent_rows(agent, now))]
    return Group(*parts)


def _grid(rows: Iterator[StatusRow]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(f"  {name}", value)
    return table


def _daemon_rows(status: StatusReply) -> Iterator[StatusRow]:
    up = f"up {duration(status['uptimeSeconds'])}"
    yield "memoryd", row_text(status["version"], f"pid {status['pid']}", up, size(status["rssBytes"]))
    yield "socket", row_text(status["socket"])
    yield "config", row_text(status["config"]["source"] or "defaults, there is no file")
    connections = status.get("connections")
    if connections:
        refused = [f"{count(number, 'time')}: {why}" for why, number in connections["refused"].items()]
        more = f"refused {'; '.join(refused)}" if refused else ""
        yield "connections", row_text(f"{connections['open']} open", more, style=warning(bool(refused)))
    if port := status.get("http"):
        yield (
            "http",
            row_text(
                port["address"],
                "" if port["open"] else "not open",
                port["reason"] or "",
                f"token in {port['tokenFile']}",
                style=warning(bool(port["reason"])),
            ),
        )
    for notice in status["config"]["notices"]:
        yield "", row_text(notice, style="yellow")
    for problem in status["config"].get("problems", ()):
        yield "", row_text(f"the last reload took nothing: {problem}", style="red")
    if owed := status["config"].get("needsRestart"):
        yield "", row_text(f"held back until memoryd is started again: {', '.join(owed)}", style="yellow")


def _agent_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    yield "workspace", row_text(agent["workspace"])
    yield "backend", row_text(agent["backend"])
    yield from qmd_rows(agent.get("qmd"), now)
    yield from provider_rows(agent.get("embedding"))
    yield from embedder_rows(agent, agent["embedder"], now)
    yield from reranker_rows(agent.get("reranker"), now)
    yield from text_model_rows(agent.get("llm"), now)
    yield from index_rows(agent)
    watcher = agent["watcher"]
    state = "" if watcher["ok"] else "not working"
    yield "watcher", row_text(watcher["mode"], state, watcher.get("reason") or "", style=warning(not watcher["ok"]))
    yield "last scan", row_text(ago(agent["lastScanAt"], now), f"last change {ago(agent['lastSyncAt'], now)}")
    yield "database", row_text(size(agent["database"]["bytes"]), agent["database"]["path"])
    yield from turn_rows(agent.get("qa"))
    yield from ledger_rows(agent.get("ledger"))
    yield from conversation_rows(agent.get("sessions"), agent.get("embedding"), now)
    yield from outside_rows(agent)
    yield from trouble_rows(agent, now)
