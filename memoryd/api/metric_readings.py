"""What metrics read of the parts at one moment: values by labels."""

from collections import Counter
from collections.abc import Iterator

from memoryd.agents.status.states import AgentState
from memoryd.agents.status.status import MemoryStatus
from memoryd.api.metric_kinds import Labels, Scrape
from memoryd.embed.local.worker_process import WorkerState


def workers(status: MemoryStatus) -> Iterator[tuple[str, WorkerState]]:
    """Yield the processes that run a model for an agent, by what they are for."""
    state = status.state
    named = (
        ("embedder", status.worker),
        ("reranker", None if state.reranker is None else state.reranker.worker),
        ("text model", None if state.text is None else state.text.worker),
    )
    for name, worker in named:
        if worker is not None:
            yield name, worker


def sidecar_states(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield 1 for the state that each model, its process and qmd is in."""
    for one in moment.agents:
        yield from (((one.state.id, name, phase), 1) for name, phase in _phases(one.state, one.worker))


def _phases(state: AgentState, worker: WorkerState | None) -> Iterator[tuple[str, str]]:
    yield "embedder", state.embedding.embedder.phase.value
    if worker is not None:
        yield "embedder worker", worker.phase.value
    if state.reranker is not None:
        yield "reranker", state.reranker.phase.value
    if state.text is not None:
        yield "text model", state.text.phase.value
    if state.qmd is not None:
        yield "qmd", state.qmd.server.value


def breakers(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield 1 for what failed so often that it is tried only now and then."""
    for one in moment.agents:
        for name, worker in workers(one):
            yield (one.state.id, name), worker.is_given_up
        if one.state.qmd is not None:
            yield (one.state.id, "qmd"), one.state.qmd.is_given_up


def sidecar_restarts(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield how often a process of a model or of qmd ended."""
    for one in moment.agents:
        yield from (((one.state.id, name), worker.restarts) for name, worker in workers(one))
        if one.state.qmd is not None:
            yield (one.state.id, "qmd"), one.state.qmd.restarts


def degraded(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield how many parts do less than they should, by part."""
    for one in moment.agents:
        # the name of a folder that is missing is a path
        parts = Counter("folder" if it.part.startswith("root ") else it.part for it in one.degraded)
        yield from (((one.state.id, part), number) for part, number in parts.items())


def connections(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield the open connections."""
    daemon = moment.daemon
    yield ("socket",), 0 if daemon.connections is None else daemon.connections.open
    if daemon.port is not None:
        yield ("port",), daemon.port.connections


def refused(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield what was turned away."""
    daemon = moment.daemon
    for name, found in (("socket", daemon.connections), ("port", daemon.port)):
        yield from (((name, why), number) for why, number in (found.refused.items() if found else ()))


def scan_age(moment: Scrape) -> Iterator[tuple[Labels, float]]:
    """Yield how long ago the disk was looked at."""
    for one in moment.agents:
        at = one.state.index.sync.last_scan_at
        if at is not None:
            yield (one.state.id,), max(0.0, (moment.now - at).total_seconds())
