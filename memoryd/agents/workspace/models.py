"""The models of all agents: embedders, rerankers and the text model, shared by those with the same settings.

They outlive a reload that leaves their settings as they are.
"""

import os
from collections.abc import Callable, Hashable
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar

import structlog
from msgspec.structs import replace

from memoryd.agents.events import NamedLoop
from memoryd.config.agents import Agent
from memoryd.config.paths import batch_jobs_dir, spending_file, strangers_dir, text_calls_file
from memoryd.config.providers import LlmSection, LocalSection, ModelsSection
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.choice import EmbedderPlan, plan_for
from memoryd.embed.current import CurrentEmbedder, PhaseRecord
from memoryd.embed.embedding import Embedding, build
from memoryd.embed.local.local_model import LocalSettings
from memoryd.embed.remote.breaker import TokenBudget
from memoryd.embed.remote.settings import KeySources, RemoteSettings
from memoryd.index.state import Publish
from memoryd.llm.writing import LocalWriting, RemoteWriting, RemoteWritingSettings, access_of
from memoryd.models.families import RERANKING, WRITING
from memoryd.models.store import ModelStore
from memoryd.rerank.reranking import RerankerSettings, Reranking
from memoryd.wire import Event

log = structlog.get_logger(__name__)

Part = TypeVar("Part")


class SharedModels(Generic[Part]):
    """Parts by their settings. `begin` starts over for another configuration, and `settle` lets go of the rest."""

    def __init__(self) -> None:
        self._here: dict[Hashable, tuple[object, Part]] = {}
        self._before: list[tuple[Hashable, object, Part]] = []

    @property
    def here(self) -> list[Part]:
        """The parts that somebody asked for since `begin`."""
        return [part for _, part in self._here.values()]

    def begin(self) -> list[Part]:
        """Start over; return the parts of before, which are taken up again where somebody wants the same."""
        self._before += [(settings, basis, part) for settings, (basis, part) in self._here.items()]
        self._here = {}
        return [part for _, _, part in self._before]

    def share(self, settings: Hashable, basis: object, make: Callable[[], Part]) -> Part:
        """Return the part of these settings, made if it is not there.

        Who shares one now takes the `basis` of the first: what else it is made of, which must be the same for a part
        of before.
        """
        if settings not in self._here:
            same = (part for wanted, made_of, part in self._before if (wanted, made_of) == (settings, basis))
            part = next(same, None)
            self._here[settings] = basis, make() if part is None else part
        return self._here[settings][1]

    def settle(self) -> None:
        """Let go of the parts of before that nobody asked for."""
        self._before = []


class Embedders(SharedModels[Embedding]):
    """Makes the embedder of each agent, once for all that can share it."""

    def __init__(self, models: ModelsSection, publish: Publish) -> None:
        super().__init__()
        self.models = models
        self._publish = publish
        self._spending = TokenBudget(spending_file())
        self._strangers = UnrelatedTexts(strangers_dir())

    def begin(self) -> list[Embedding]:
        """Start over; those of before that are wanted as they are go on."""
        before = super().begin()
        for made in before:
            made.slot.dismiss()
        return before

    def of(self, agent: Agent) -> Embedding:
        """Return the embedder of an agent, with the plan that is its own; nothing runs yet."""
        local = agent.memory_search.local
        store = ModelStore.configured(local, os.environ, allow_download=local.download)
        plan = plan_for(agent, self.models, store=store, environment=os.environ, home=Path.home())
        log.info("embedding", agent=agent.id, provider=plan.choice.provider, rule=plan.choice.rule)
        # what a plan is run with beside what it says: where models come from, keys and addresses
        kinds = {type(settings) for settings in (plan.first, plan.second)}
        basis = local if LocalSettings in kinds else None, self.models if RemoteSettings in kinds else None
        made = self.share(plan, basis, lambda: self._built(plan, store, agent.id))
        return replace(made, plan=plan)

    def _built(self, plan: EmbedderPlan, store: ModelStore, agent: str) -> Embedding:
        slot, jobs = CurrentEmbedder(self._model_news(agent), self._strangers), batch_jobs_dir()
        return build(plan, self.models, store=store, slot=slot, budget=self._spending, jobs=jobs)

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the embedders at work."""
        running = [("embedder", found.source.run) for found in self.here if found.source is not None]
        return [*running, ("strangers", self._strangers.run)] if running else []

    def _model_news(self, agent: str) -> Callable[[PhaseRecord], None]:
        def publish(state: PhaseRecord) -> None:
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


class Rerankers(SharedModels[Reranking]):
    """Makes the reranker of each agent that wants one, once for all that can share it."""

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
        return self.share(settings, local, lambda: Reranking(settings=settings, store=store))


Writing = LocalWriting | RemoteWriting
"""A text model at work, with what status tells of it."""


class TextModels(SharedModels[Writing]):
    """Makes the text model of each agent that has one, once for all that can share it."""

    def __init__(self, models: ModelsSection) -> None:
        super().__init__()
        self.models = models
        self._calls = TokenBudget(text_calls_file())

    def of(self, agent: Agent) -> Writing | None:
        """Return the text model of an agent; nothing runs yet. None where none is configured."""
        llm = agent.memory.llm
        if llm.provider == "local":
            return self._local(llm, agent.memory_search.local)
        return self._remote(llm) if llm.is_endpoint else None

    def _local(self, llm: LlmSection, local: LocalSection) -> Writing:
        store = ModelStore.configured(local, os.environ, allow_download=local.download, use=WRITING)
        return self.share(llm, local, lambda: LocalWriting(llm, store))

    def _remote(self, llm: LlmSection) -> Writing:
        settings = RemoteWritingSettings(
            model=llm.model or "",
            access=access_of(llm, self.models),
            max_tokens=llm.max_tokens,
            calls_per_day=llm.max_calls_per_day,
            answer=timedelta(milliseconds=llm.timeout_ms),
        )
        keys = KeySources(self.models, os.environ)
        return self.share(
            settings, self.models, lambda: RemoteWriting(settings=settings, keys=keys, budget=self._calls)
        )


class ModelParts:
    """Embedders, rerankers and text models. `begin`, ask for what a configuration wants, then `settle`."""

    def __init__(self, publish: Publish) -> None:
        self.embedders = Embedders(ModelsSection(), publish)
        self.rerankers = Rerankers()
        self.text_models = TextModels(ModelsSection())

    def begin(self, models: ModelsSection) -> None:
        """Start over for a configuration; nobody who used one of them before does any more."""
        self.embedders.models = self.text_models.models = models
        self.embedders.begin()
        self.rerankers.begin()
        self.text_models.begin()

    def settle(self) -> None:
        """Let go of the models that this configuration does not want."""
        self.embedders.settle()
        self.rerankers.settle()
        self.text_models.settle()

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the models at work; they may fail and be started again."""
        ranking: list[NamedLoop] = [("reranker", one.run) for one in self.rerankers.here]
        return [*self.embedders.loops(), *ranking, *(("text model", one.run) for one in self.text_models.here)]
