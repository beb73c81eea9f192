"""The text model of all agents: one for those with the same settings, none where none is configured."""

import os
from datetime import timedelta

from memoryd.agents.loops import NamedLoop
from memoryd.agents.shared_parts import SharedParts
from memoryd.config.agents import Agent
from memoryd.config.paths import text_calls_file
from memoryd.config.providers import LlmSection, LocalSection, ModelsSection
from memoryd.embed.remote.gate import SpendingBook
from memoryd.llm.access import TextKeys, access_of
from memoryd.llm.local import LocalWriting, LocalWritingSettings
from memoryd.llm.remote import RemoteWriting, RemoteWritingSettings
from memoryd.models.families import WRITING
from memoryd.models.store import ModelStore

Writing = LocalWriting | RemoteWriting
"""A text model at work, with what status tells of it."""


class TextModels:
    """Makes the text model of each agent that has one, once for all that can share it."""

    def __init__(self, models: ModelsSection) -> None:
        self._models = models
        self._calls = SpendingBook(text_calls_file())
        self._made: SharedParts[Writing] = SharedParts()

    def begin(self, models: ModelsSection) -> None:
        """Start over for another configuration; those that it wants as they are go on."""
        self._models = models
        self._made.begin()

    def settle(self) -> None:
        """Let go of those that are not wanted any more."""
        self._made.settle()

    def of(self, agent: Agent) -> Writing | None:
        """Return the text model of an agent; nothing runs yet. None where none is configured."""
        llm = agent.memory.llm
        if llm.provider == "local":
            return self._local(llm, agent.memory_search.local)
        return self._remote(llm) if llm.provider == "openai" else None

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the text models at work."""
        return [("text model", writing.run) for writing in self._made.here]

    def _local(self, llm: LlmSection, local: LocalSection) -> Writing:
        settings = LocalWritingSettings(
            source=llm.model or "",
            context=llm.context_size,
            threads=llm.threads or max(1, (os.cpu_count() or 1) // 2),
            max_tokens=llm.max_tokens,
            idle_unload=timedelta(minutes=llm.idle_unload_minutes),
            answer=timedelta(milliseconds=llm.timeout_ms),
        )
        store = ModelStore.configured(local, os.environ, allow_download=local.download, use=WRITING)
        return self._made.of(settings, local, lambda: LocalWriting(settings=settings, store=store))

    def _remote(self, llm: LlmSection) -> Writing:
        settings = RemoteWritingSettings(
            model=llm.model or "",
            access=access_of(llm, self._models),
            max_tokens=llm.max_tokens,
            calls_per_day=llm.max_calls_per_day,
            answer=timedelta(milliseconds=llm.timeout_ms),
        )
        keys = TextKeys(self._models, os.environ)
        return self._made.of(
            settings, self._models, lambda: RemoteWriting(settings=settings, keys=keys, book=self._calls)
        )
