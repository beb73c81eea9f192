"""The ledgers of all agents: one for each folder that an index lies in, with rows for each agent of its own."""

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path

from memoryd.agents.loops import NamedLoop
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.heartbeats import WRITER_SECONDS, LivingPart
from memoryd.store.ledger.ledger import Ledger


class Ledgers:
    """Has the ledger of each agent; nothing is opened or made before it is needed."""

    def __init__(self, agents: Sequence[Agent], executor: Executor) -> None:
        workspaces = [Path(os.path.realpath(agent.workspace)) for agent in agents]
        self._ledgers: dict[Path, Ledger] = {}
        self._names: dict[Path, str] = {}
        for agent in agents:
            place = _place(agent)
            is_inside = any(place.is_relative_to(workspace) for workspace in workspaces)
            if place not in self._ledgers:
                self._names[place] = agent.id
                self._ledgers[place] = Ledger(
                    agent.ledger_path,
                    executor,
                    is_private=agent.ledger_path.is_relative_to(state_dir()),
                    is_read_only=is_inside and agent.memory.read_only,
                )

    def of(self, agent: Agent) -> Ledger:
        """Return the ledger of an agent; another agent may have the same, and keys its rows otherwise."""
        return self._ledgers[_place(agent)]

    def loops(self) -> list[NamedLoop]:
        """Name the loops that delete what has expired, each after the first agent that has the ledger."""
        return [(f"ledger {name}", self._ledgers[place].run) for place, name in self._names.items()]

    def living_parts(self) -> list[LivingPart]:
        """Name the writers, each after the first agent that has the ledger."""
        return [
            LivingPart(f"writer of ledger {name}", self._ledgers[place].pulse, WRITER_SECONDS)
            for place, name in self._names.items()
        ]

    async def close(self) -> None:
        """Close all of them."""
        async with AsyncExitStack() as stack:
            for ledger in self._ledgers.values():
                stack.push_async_callback(ledger.close)


def _place(agent: Agent) -> Path:
    """Return where the ledger really lies, by whatever symlinks the folder is named."""
    path = agent.ledger_path
    return Path(os.path.realpath(path.parent)) / path.name
