"""The models of all agents: embedders, rerankers and the text model, shared by agents with the same settings.

They survive a reload that does not change their settings.
"""

import os
from collections.abc import Callable, Hashable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import structlog
from msgspec.structs import replace

from memoryd.agents.events import NamedLoop
from memoryd.config.agents import Agent
from memoryd.config.paths import batch_jobs_dir, calibration_dir, spending_file, text_calls_file
from memoryd.config.providers import ModelsSection
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.choice import plan_for
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
Writing = LocalWriting | RemoteWriting
"""A running text model and its status."""


class ModelParts:
    """Embedders, rerankers and text models, each created once for all agents that can share it; nothing runs yet.

    Call `begin`, request the models of a configuration, then call `drop_unrequested`.
    """

    def __init__(self, publish: Publish, models: ModelsSection | None = None) -> None:
        self._publish = publish
        self._models = models or ModelsSection()
        self._spending, self._calls = TokenBudget(spending_file()), TokenBudget(text_calls_file())
        self._strangers = UnrelatedTexts(calibration_dir())
        self._here: dict[Hashable, tuple[object, Any]] = {}
        """The parts that were requested since `begin`, by their settings, each with its basis."""
        self._before: list[tuple[Hashable, object, Any]] = []

    def begin(self, models: ModelsSection) -> None:
        """Start over for another configuration. Unchanged parts keep running, but their listeners are removed."""
        self._models = models
        self._before += [(settings, basis, part) for settings, (basis, part) in self._here.items()]
        self._here = {}
        for _, _, part in self._before:
            if isinstance(part, Embedding):
                part.slot.unsubscribe_all()

    def drop_unrequested(self) -> None:
        """Drop the previous parts that were not requested again."""
        self._before = []

    def loops(self) -> list[NamedLoop]:
        """Return the loops that run the models; they may fail and be restarted."""
        here = [part for _, part in self._here.values()]
        loops: list[NamedLoop] = [
            ("embedder", part.source.run) for part in here if isinstance(part, Embedding) and part.source is not None
        ]
        loops += [("strangers", self._strangers.run)] if loops else []
        loops += [("reranker", part.run) for part in here if isinstance(part, Reranking)]
        return loops + [("text model", part.run) for part in here if isinstance(part, Writing)]

    def embedding(self, agent: Agent) -> Embedding:
        """Return the embedder of an agent, with the agent's own plan."""
        local = agent.memory_search.local
        store = ModelStore.from_config(local, os.environ, allow_download=local.download)
        plan = plan_for(agent, self._models, store=store, environment=os.environ, home=Path.home())
        log.info("embedding", agent=agent.id, provider=plan.choice.provider, rule=plan.choice.rule)
        # the basis of a plan: model store, keys and addresses, which are not part of the plan itself
        kinds = {type(settings) for settings in (plan.first, plan.second)}
        basis = local if LocalSettings in kinds else None, self._models if RemoteSettings in kinds else None

        def make() -> Embedding:
            slot, jobs = CurrentEmbedder(self._model_news(agent.id), self._strangers), batch_jobs_dir()
            return build(plan, self._models, store=store, slot=slot, budget=self._spending, jobs=jobs)

        return replace(self._share(plan, basis, make), plan=plan)

    def reranking(self, agent: Agent) -> Reranking | None:
        """Return the reranker of an agent; None if none is configured or the search is off."""
        search = agent.memory_search
        rerank, local = search.query.rerank, search.local
        if rerank.model_path is None or not search.enabled:
            return None
        settings = RerankerSettings(
            source=rerank.model_path,
            threads=rerank.threads,
            idle_unload=timedelta(minutes=rerank.idle_unload_minutes),
        )
        store = ModelStore.from_config(local, os.environ, allow_download=local.download, use=RERANKING)
        return self._share(settings, local, lambda: Reranking(settings=settings, store=store))

    def writing(self, agent: Agent) -> Writing | None:
        """Return the text model of an agent; None if none is configured."""
        llm, local = agent.memory.llm, agent.memory_search.local
        if llm.provider == "local":
            store = ModelStore.from_config(local, os.environ, allow_download=local.download, use=WRITING)
            return self._share(llm, local, lambda: LocalWriting(llm, store))
        if not llm.is_endpoint:
            return None
        settings = RemoteWritingSettings(
            model=llm.model or "",
            access=access_of(llm, self._models),
            max_tokens=llm.max_tokens,
            calls_per_day=llm.max_calls_per_day,
            answer=timedelta(milliseconds=llm.timeout_ms),
        )
        keys = KeySources(self._models, os.environ)
        return self._share(
            settings, self._models, lambda: RemoteWriting(settings=settings, keys=keys, budget=self._calls)
        )

    def _share(self, settings: Hashable, basis: object, make: Callable[[], Part]) -> Part:
        """Return the part with these settings, and create it if necessary.

        All agents that share a part use the `basis` of the first one. The basis holds the further inputs of a part; a
        previous part is reused only if they are equal.
        """
        if settings not in self._here:
            same = (part for key, part_basis, part in self._before if (key, part_basis) == (settings, basis))
            part = next(same, None)
            self._here[settings] = basis, make() if part is None else part
        shared: Part = self._here[settings][1]
        return shared

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
