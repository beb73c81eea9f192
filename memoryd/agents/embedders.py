"""The embedders of all agents: those with the same settings share one model in memory."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import structlog

from memoryd.agents.loops import NamedLoop
from memoryd.agents.shared_parts import SharedParts
from memoryd.config.agents import Agent
from memoryd.config.paths import batch_jobs_dir, spending_file, strangers_dir
from memoryd.config.providers import LocalSection, ModelsSection
from memoryd.embed.calibration import Strangers
from memoryd.embed.choice import EmbedderPlan, plan_for
from memoryd.embed.current import EmbedderSlot, EmbedderState
from memoryd.embed.embedding import Embedding, build
from memoryd.embed.local.local_model import LocalSettings
from memoryd.embed.remote.gate import SpendingBook
from memoryd.embed.remote.settings import RemoteSettings
from memoryd.index.state import Publish
from memoryd.models.store import ModelStore
from memoryd.wire import Event

log = structlog.get_logger(__name__)


class Embedders:
    """Makes the embedder of each agent, once for all that can share it."""

    def __init__(self, models: ModelsSection, publish: Publish) -> None:
        self._models = models
        self._publish = publish
        self._spending = SpendingBook(spending_file())
        self._strangers = Strangers(strangers_dir())
        self._made: SharedParts[Embedding] = SharedParts()

    def begin(self, models: ModelsSection) -> None:
        """Start over for another configuration; those that it wants as they are go on."""
        self._models = models
        for made in self._made.begin():
            made.slot.dismiss()

    def settle(self) -> None:
        """Let go of those that are not wanted any more."""
        self._made.settle()

    def of(self, agent: Agent) -> Embedding:
        """Return the embedder of an agent, with the plan that is its own; nothing runs yet."""
        local = agent.memory_search.local
        store = ModelStore.configured(local, os.environ, allow_download=local.download)
        plan = plan_for(agent, self._models, store=store, environment=os.environ, home=Path.home())
        log.info("embedding", agent=agent.id, provider=plan.choice.provider, rule=plan.choice.rule)
        made = self._made.of(plan, self._basis(plan, local), lambda: self._built(plan, store, agent.id))
        return replace(made, plan=plan)

    def _basis(self, plan: EmbedderPlan, local: LocalSection) -> object:
        """Return what a plan is run with beside what it says: where models come from, keys and addresses."""
        kinds = {type(settings) for settings in (plan.first, plan.second)}
        return local if LocalSettings in kinds else None, self._models if RemoteSettings in kinds else None

    def _built(self, plan: EmbedderPlan, store: ModelStore, agent: str) -> Embedding:
        slot, jobs = EmbedderSlot(self._model_news(agent), self._strangers), batch_jobs_dir()
        return build(plan, self._models, store=store, slot=slot, book=self._spending, jobs=jobs)

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the embedders at work."""
        running = [("embedder", found.source.run) for found in self._made.here if found.source is not None]
        return [*running, ("strangers", self._strangers.run)] if running else []

    def _model_news(self, agent: str) -> Callable[[EmbedderState], None]:
        def publish(state: EmbedderState) -> None:
            progress = state.progress
            self._publish(
                Event.MODEL,
                {
                    "agent": agent,
                    "state": state.phase,
                    "reason": state.reason or None,
                    "doneBytes": progress.done_bytes if progress else None,
                    "totalBytes": progress.total_bytes if progress else None,
                    "step": progress.step if progress else None,
                },
            )

        return publish
