"""The rerankers of all agents: those with the same settings share one model in memory."""

import os
from datetime import timedelta

from memoryd.agents.loops import NamedLoop
from memoryd.config.resolved import Agent
from memoryd.models.model_use import RERANKING
from memoryd.models.store import ModelStore
from memoryd.rerank.reranking import RerankerSettings, Reranking


class Rerankers:
    """Makes the reranker of each agent that wants one, once for all that can share it."""

    def __init__(self) -> None:
        self._made: dict[RerankerSettings, Reranking] = {}

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
        if settings not in self._made:
            store = ModelStore.configured(local, os.environ, allow_download=local.download, use=RERANKING)
            self._made[settings] = Reranking(settings=settings, store=store)
        return self._made[settings]

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the rerankers at work."""
        return [("reranker", reranking.run) for reranking in self._made.values()]
