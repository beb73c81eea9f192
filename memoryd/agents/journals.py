"""The journals of all agents: one for each workspace, however many agents and indexes there are on it."""

from concurrent.futures import Executor
from pathlib import Path

from memoryd.agents.ledgers import Ledgers
from memoryd.agents.loops import NamedLoop
from memoryd.agents.rules import WorkspaceRules
from memoryd.config.agents import Agent
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.store.ledger.changes import ChangeLog


class Journals:
    """Makes the journal of a workspace for the first agent that asks for it; the others get the same."""

    def __init__(self, ledgers: Ledgers, executor: Executor) -> None:
        self._ledgers = ledgers
        self._executor = executor
        self._journals: dict[Path, Journal] = {}
        self._names: dict[Path, str] = {}

    def of(self, agent: Agent, rules: WorkspaceRules) -> Journal:
        """Return what writes into the workspace of these rules."""
        place = rules.workspace
        if place not in self._journals:
            self._names[place] = agent.id
            self._journals[place] = Journal(
                files=NoteFiles(place, rules.rules, configured=agent.workspace),
                changes=ChangeLog(self._ledgers.of(agent), str(place)),
                executor=self._executor,
                is_read_only=agent.memory.read_only,
            )
        return self._journals[place]

    def loops(self) -> list[NamedLoop]:
        """Name the loops that look at what a kill left, each after the first agent of the workspace."""
        return [(f"changes {name}", self._journals[place].run) for place, name in self._names.items()]
