"""The local chat model that all agents share: a child process, started on demand, with one question at a time."""

import asyncio
import os
import time
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from typing import Final

import structlog

from memoryd.config.providers import LlmSection
from memoryd.embed.current import ModelPhase
from memoryd.embed.local.frames import TEXT_CHARACTERS, WRITE_POOLING, Load, NoResult, Write, Written
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker_connection import WorkerJob
from memoryd.embed.local.worker_process import WorkerKeeper, WorkerRun, module_command
from memoryd.errors import TextAnswerRefused, TextModelUnavailable
from memoryd.llm.protocol import (
    Answer,
    Prompt,
    TextModelState,
    Turns,
    read_answer,
    recorded_name,
    schema_of,
)
from memoryd.models.families import ChatModel, inspect_chat_model
from memoryd.models.gguf import content_hash
from memoryd.models.store import ModelStore

log = structlog.get_logger(__name__)

WRITING_COMMAND: Final = module_command("memoryd.llm.llama_writer")
PROVIDER: Final = "local"
REVISION_DIGITS: Final = 16
SLACK: Final = timedelta(seconds=30)
"""Beyond the time of an answer, before a worker that says nothing counts as hung."""
NO_CHAT_MODEL: Final = "the model of memory.llm cannot be used; memoryctl status tells why"


JOB: Final = WorkerJob[str](
    "text",
    TextModelUnavailable,
    lambda ready: "" if ready.context > 0 else "it has no context",
    Written,
    attrgetter("text"),
)


class WritingWorker(WorkerKeeper[str]):
    """Answers with one GGUF. Works while its `run` runs.

    `context` bounds a question and its answer together, in tokens; `stall` is how long it may work on one answer
    before it counts as hung, however long somebody is willing to wait. `idle_unload` of zero keeps the model for ever.
    """

    def __init__(
        self,
        *,
        model: Path,
        chat: ChatModel,
        revision: str,
        context: int,
        threads: int,
        idle_unload: timedelta,
        stall: timedelta,
    ) -> None:
        order = Load(str(model), WRITE_POOLING, min(context, chat.context), threads)
        super().__init__(WorkerRun(order=order, job=JOB, command=WRITING_COMMAND, idle_unload=idle_unload, stall=stall))
        self.chat = chat
        self._revision = revision
        self._turns = Turns()

    @property
    def identity(self) -> str:
        """Name the model and its content."""
        return recorded_name(PROVIDER, self.chat.name, self._revision)

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, waiting and loading included; raises TextModelUnavailable.

        Questions wait for each other here, where giving up costs nothing; one that is given up is broken off.
        """
        request = Write(0, prompt.task, prompt.data[:TEXT_CHARACTERS], schema_of(shape), max_tokens)
        async with self._turns.one(deadline):
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    (reply,) = await self.ask([request])
            except TimeoutError:
                raise TextModelUnavailable("the text model gave no answer in time") from None
        if isinstance(reply, NoResult):
            raise TextAnswerRefused(f"the text model gives no answer: {reply.reason}")
        return read_answer(reply, shape)


class LocalWriting(LocalModel[WritingWorker]):
    """Keeps the chat model of `memory.llm` at work; `run` loops until cancelled."""

    absent = "no text model; all else goes on"
    meanwhile = "all else goes on"

    def __init__(self, llm: LlmSection, store: ModelStore) -> None:
        super().__init__(source=llm.model or "", store=store)
        self._llm = llm
        self._answer = timedelta(milliseconds=llm.timeout_ms)

    @property
    def identity(self) -> str:
        """Name the model and its content; its source before the file was read."""
        return recorded_name(PROVIDER, self._source, "") if self.worker is None else self.worker.identity

    def make(self, path: Path) -> WritingWorker:
        """Check the file and make its worker, blocking; raises ModelError."""
        llm = self._llm
        worker = WritingWorker(
            model=path,
            chat=inspect_chat_model(path),
            revision=content_hash(path, cache_dir=self._store.folder)[:REVISION_DIGITS],
            context=llm.context_size,
            threads=llm.threads or max(1, (os.cpu_count() or 1) // 2),
            idle_unload=timedelta(minutes=llm.idle_unload_minutes),
            stall=self._answer + SLACK,
        )
        log.info("text model is here", model=worker.identity)
        return worker

    def state(self) -> TextModelState:
        """Return what status shows; cheap."""
        (phase, reason), worker = self.phase_and_reason(), self.worker
        return TextModelState(
            provider=PROVIDER,
            model=self._source if worker is None else worker.chat.name,
            phase=phase,
            reason=reason,
            since=self.record.since,
            worker=None if worker is None else worker.state(),
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, in at most so many tokens; raises TextModelUnavailable."""
        if self.worker is None or self.record.phase is not ModelPhase.READY:
            # the reason of a failure may name files of the host, which are nothing to an agent
            is_failed = self.record.phase is ModelPhase.FAILED
            raise TextModelUnavailable(NO_CHAT_MODEL if is_failed else self.record.reason)
        latest = time.monotonic() + self._answer.total_seconds()
        tokens = min(max_tokens, self._llm.max_tokens)
        return await self.worker.complete(prompt, shape=shape, max_tokens=tokens, deadline=min(deadline, latest))
