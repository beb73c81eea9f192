"""What the builtin index does while qmd, which answers in its place, is out."""

import asyncio
import time
from collections.abc import Sequence

from memoryd.index.embedding_loop import EmbeddingLane
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
    # at the start qmd has not been found yet, which is no outage before the same time is over
    healthy_at = time.monotonic()
    while qmds:
        now = time.monotonic()
        # looked at, not told: an outage ends by an update, a question or a new server, and between two looks it may
        # begin and end unseen, which is the moment that no vectors are made for. The agents share one index: it must
        # have vectors as soon as the qmd of one of them is out
        if all(qmd.is_healthy for qmd in qmds):
            healthy_at = now
        # whoever waits for vectors is told soon that none will come, unless an owner has asked for them
        lane.pause(now - healthy_at < outage_seconds)
        await asyncio.sleep(look_seconds)
