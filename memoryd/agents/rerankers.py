"""The rerankers of all agents: those with the same settings share one model in memory."""

import os
from datetime import timedelta

from memoryd.agents.loops import NamedLoop
from memoryd.agents.shared_parts import SharedParts
from memoryd.config.agents import Agent
from memoryd.models.families import RERANKING
from memoryd.models.store import ModelStore
from memoryd.rerank.reranking import RerankerSettings, Reranking


class Rerankers:
    """Makes the reranker of each agent that wants one, once for all that can share it."""

    def __init__(self) -> None:
        self._made: SharedParts[Reranking] = SharedParts()

    def begin(self) -> None:
        """Start over for another configuration; those that it wants as they are go on."""
        self._made.begin()

    def settle(self) -> None:
        """Let go of those that are not wanted any more."""
        self._made.settle()

    def of(self, agent: Agent) -> Reranking | None:
        """Return the reranker of an agent; nothing runs yet. None where none is configured, or nothing searched."""
        search = agent.memory_search
        wanted, local = search.query.rerank, search.local
        if wanted.model_path is None or not search.enabled:
            return None
        settings = RerankerSettings(
            source=wanted.model_path,
            threads=wanted.threads,
            idle_unload=timedelta(minutes=wanted.idle_unload_minutes),
        )
        store = ModelStore.configured(local, os.environ, allow_download=local.download, use=RERANKING)
        return self._made.of(settings, local, lambda: Reranking(settings=settings, store=store))

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the rerankers at work."""
        return [("reranker", reranking.run) for reranking in self._made.here]
