"""What the builtin index does while qmd, which answers in its place, is out."""

import asyncio
import time
from collections.abc import Sequence

from memoryd.index.lane import EmbeddingLane
from memoryd.qmd.agent import AgentQmd

OUTAGE_SECONDS = 60.0
"""After so long without qmd the builtin index is given vectors of its own."""


async def make_vectors_in_outages(
    lane: EmbeddingLane,
    qmds: Sequence[AgentQmd],
    *,
    outage_seconds: float = OUTAGE_SECONDS,
    look_seconds: float = 1.0,
) -> None:
    """Make vectors while qmd is out for longer than a moment, and no more of them after; return if there is no qmd."""
    healthy_at = time.monotonic()
    while qmds:
        now = time.monotonic()
        if all(qmd.is_healthy for qmd in qmds):
            healthy_at = now
        lane.pause(now - healthy_at < outage_seconds)
        await asyncio.sleep(look_seconds)
