"""The part of `memoryctl doctor` about what waits in the daemon, and whether it becomes less."""

import time
from collections.abc import Iterator
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count
from memoryd.replies.status import AgentStatus

PAUSE_SECONDS: Final = 3.0
"""Between the two looks. A small one: what is slow is no fault, and said to be slow."""


def moving(examination: Examination) -> Iterator[Finding]:
    """Look twice, if anything waits."""
    before = examination.status
    if before is None:
        return
    if not any(_waiting(agent) for agent in before["agents"]):
        yield Finding("queue", "ok", "nothing waits")
        return
    time.sleep(PAUSE_SECONDS)
    with examination.invocation.client() as client:
        after = {agent["id"]: agent for agent in client.status()["agents"]}
    for agent in before["agents"]:
        if agent["id"] in after:
            yield queue_finding(agent, after[agent["id"]])


def queue_finding(before: AgentStatus, after: AgentStatus) -> Finding:
    """Judge what waited at two moments."""
    part, waits = f"queue of {after['id']}", _told(after)
    embedder = after["embedder"]
    if not _waiting(after):
        return Finding(part, "ok", "nothing waits")
    if _waiting(after) != _waiting(before):
        return Finding(part, "ok", f"{waits} to go, and it moves")
    if after["pendingEmbeddings"] and embedder["state"] == "failed":
        why = embedder["reason"] or "nobody makes vectors"
        return Finding(part, "wrong", f"{waits} to go, which do not move: {why}", "memoryctl doctor --section embedder")
    if (embedding := after.get("embedding")) and embedding["paused"]:
        return Finding(part, "look", f"{waits} to go, when you ask for it", "memoryctl index")
    if embedder["state"] in ("warming", "downloading"):
        return Finding(part, "ok", f"{waits} to go, when the model is ready")
    message = f"{waits} to go, and none was done in {PAUSE_SECONDS:g} s"
    return Finding(part, "look", message, "watch it: memoryctl status --watch; it says what is degraded")


def _waiting(agent: AgentStatus) -> tuple[int, ...]:
    waits = (agent["pendingFiles"], agent["pendingEmbeddings"], agent["pendingCaptures"])
    return waits if any(waits) else ()


def _told(agent: AgentStatus) -> str:
    waits = (
        (agent["pendingFiles"], "file"),
        (agent["pendingEmbeddings"], "passage"),
        (agent["pendingCaptures"], "message"),
    )
    return ", ".join(count(number, noun) for number, noun in waits if number)


LOOKS: Looks = {"queue.moving": moving}
