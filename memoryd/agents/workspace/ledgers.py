"""The ledgers and journals of all agents: a ledger for each folder that holds some, a journal for each workspace."""

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct, field

from memoryd.agents.events import NamedLoop
from memoryd.agents.workspace.settings import WorkspaceRules
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.heartbeats import WRITER_SECONDS, LivingPart
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger


class Ledgers:
    """Has the ledger of each agent; nothing is opened or made before it is needed."""

    def __init__(self, agents: Sequence[Agent], executor: Executor) -> None:
        workspaces = [Path(os.path.realpath(agent.workspace)) for agent in agents]
        self._ledgers: dict[Path, tuple[str, Ledger]] = {}
        """Each with the first agent that has it."""
        for agent in agents:
            place = _place(agent)
            if place not in self._ledgers:
                is_inside = any(place.is_relative_to(workspace) for workspace in workspaces)
                ledger = Ledger(
                    agent.ledger_path,
                    executor,
                    is_private=agent.ledger_path.is_relative_to(state_dir()),
                    is_read_only=is_inside and agent.memory.read_only,
                )
                self._ledgers[place] = agent.id, ledger

    def of(self, agent: Agent) -> Ledger:
        """Return the ledger of an agent; another agent may have the same, and keys its rows otherwise."""
        return self._ledgers[_place(agent)][1]

    def loops(self) -> list[NamedLoop]:
        """Name the loops that delete what has expired."""
        return [(f"ledger {name}", ledger.run) for name, ledger in self._ledgers.values()]

    def watched_parts(self) -> list[LivingPart]:
        """Name the writers."""
        return [
            LivingPart(f"writer of ledger {name}", ledger.pulse, WRITER_SECONDS)
            for name, ledger in self._ledgers.values()
        ]

    async def close(self) -> None:
        """Close all of them."""
        async with AsyncExitStack() as stack:
            for _, ledger in self._ledgers.values():
                stack.push_async_callback(ledger.close)


def _place(agent: Agent) -> Path:
    """Return where the ledger really lies, by whatever symlinks the folder is named."""
    path = agent.ledger_path
    return Path(os.path.realpath(path.parent)) / path.name


class Journals(Struct, eq=False):
    """Makes the journal of a workspace for the first agent that asks for it; the others get the same."""

    ledgers: Ledgers
    executor: Executor
    _journals: dict[Path, tuple[str, Journal]] = field(default_factory=dict)
    """By workspace, each with the first agent that asked for it."""

    def of(self, agent: Agent, rules: WorkspaceRules) -> Journal:
        """Return what writes into the workspace of these rules."""
        place = rules.workspace
        if place not in self._journals:
            journal = Journal(
                files=NoteFiles(place, rules.rules, configured=agent.workspace),
                changes=ChangeLog(self.ledgers.of(agent), str(place)),
                executor=self.executor,
                is_read_only=agent.memory.read_only,
            )
            self._journals[place] = agent.id, journal
        return self._journals[place][1]

    def loops(self) -> list[NamedLoop]:
        """Name the loops that look at what a kill left."""
        return [(f"changes {name}", journal.run) for name, journal in self._journals.values()]
