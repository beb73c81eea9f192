"""The local chat model that all agents share: a child process, started on demand, with one question at a time."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from memoryd.embed.local.frames import TEXT_CHARACTERS, WRITE_POOLING, Load, Message, NoResult, Ready, Write, Written
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker import ModelWorker
from memoryd.embed.local.worker_process import Command, WorkerRun, module_command
from memoryd.errors import TextAnswerRefused, TextModelUnavailable
from memoryd.llm.protocol import (
    Answer,
    PhaseRecord,
    Prompt,
    TextModelPhase,
    TextModelState,
    read_answer,
    recorded_name,
    schema_of,
)
from memoryd.models.families import ChatModel, inspect_chat_model
from memoryd.models.fetching import Progress
from memoryd.models.gguf import content_hash
from memoryd.models.store import ModelStore
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

WRITING_COMMAND: Final = module_command("memoryd.llm.llama_writer")
WAITING_MAX: Final = 8
"""So many may wait for the one that is answered; another is told at once that it is busy."""
PROVIDER: Final = "local"
REVISION_DIGITS: Final = 16
SLACK: Final = timedelta(seconds=30)
"""Beyond the time of an answer, before a worker that says nothing counts as hung."""
NO_CHAT_MODEL: Final = "the model of memory.llm cannot be used; memoryctl status tells why"


class WriterSpec(Struct, frozen=True, kw_only=True):
    """Which model a worker runs, and how patiently. `idle_unload` of zero keeps the model for ever.

    `context` bounds a question and its answer together, in tokens; `stall` is how long the worker may work on one
    answer before it counts as hung, however long somebody is willing to wait.
    """

    model: Path
    chat: ChatModel
    revision: str
    context: int
    threads: int
    idle_unload: timedelta
    stall: timedelta
    load_timeout: timedelta = timedelta(seconds=120)
    command: Command = WRITING_COMMAND

    @property
    def run(self) -> WorkerRun[str | NoResult]:
        """How the worker is run."""
        return WorkerRun(
            order=Load(str(self.model), WRITE_POOLING, min(self.context, self.chat.context), self.threads),
            job=WritingJob(),
            command=self.command,
            idle_unload=self.idle_unload,
            stall=self.stall,
            load_timeout=self.load_timeout,
        )


class WritingJob(Struct, frozen=True):
    """What a worker that writes must give: a text, of which the shape is looked at later."""

    name: str = "text"
    unavailable: type[TextModelUnavailable] = TextModelUnavailable

    def misfit(self, ready: Ready) -> str:
        """Return why the model that is loaded cannot be asked; empty if it can."""
        return "" if ready.context > 0 else "it has no context"

    def read(self, message: Message) -> tuple[int, str | NoResult]:
        """Return which question is answered, and the text or why there is none; raises ValueError for anything else."""
        match message:
            case Written():
                return message.id, message.text
            case NoResult():
                return message.id, message
        raise ValueError(f"unexpected {type(message).__name__}")


class WritingWorker(ModelWorker[str | NoResult]):
    """Answers with one GGUF. Works while its `run` runs."""

    def __init__(self, spec: WriterSpec, *, retry: Retry | None = None) -> None:
        super().__init__(spec.run, retry=retry)
        self.chat = spec.chat
        self._spec = spec
        self._turn = asyncio.Lock()
        self._waiting = 0

    @property
    def identity(self) -> str:
        """Name the model and its content."""
        return recorded_name("local", self.chat.name, self._spec.revision)

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, waiting and loading included; raises TextModelUnavailable.

        Questions wait for each other here, where giving up costs nothing; one that is given up is broken off.
        """
        request = Write(0, prompt.task, prompt.data[:TEXT_CHARACTERS], schema_of(shape), max_tokens)
        if self._waiting > WAITING_MAX:
            raise TextModelUnavailable(f"{self._waiting} questions wait for the text model already")
        self._waiting += 1
        try:
            async with asyncio.timeout(deadline - time.monotonic()), self._turn:
                (reply,) = await self._worker.ask([request])
        except TimeoutError:
            raise TextModelUnavailable("the text model gave no answer in time") from None
        finally:
            self._waiting -= 1
        if isinstance(reply, NoResult):
            raise TextAnswerRefused(f"the text model gives no answer: {reply.reason}")
        return read_answer(reply, shape)


class LocalWritingSettings(Struct, frozen=True, kw_only=True):
    """Which model, and how its worker runs it; `answer` is the longest time that one answer may take."""

    source: str
    context: int
    threads: int
    max_tokens: int
    idle_unload: timedelta
    answer: timedelta


class LocalWriting:
    """Keeps one chat model at work; `run` loops until cancelled."""

    def __init__(self, *, settings: LocalWritingSettings, store: ModelStore) -> None:
        self.settings = settings
        self._store = store
        self._model = LocalModel(source=settings.source, store=store, make=self._worker, news=self)
        self._record = PhaseRecord(datetime.now(UTC))

    @property
    def identity(self) -> str:
        """Name the model and its content; its source before the file was read."""
        worker = self._model.worker
        return recorded_name(PROVIDER, self.settings.source, "") if worker is None else worker.identity

    async def run(self) -> None:
        """Bring the model to work and keep it there."""
        await self._model.run()

    def state(self) -> TextModelState:
        """Return what status shows; cheap."""
        worker, record = self._model.worker, self._record
        is_given_up = worker is not None and worker.is_given_up and record.phase is TextModelPhase.READY
        return TextModelState(
            provider=PROVIDER,
            model=self.settings.source if worker is None else worker.chat.name,
            phase=TextModelPhase.FAILED if is_given_up else record.phase,
            reason=(self._model.trouble() or "") if is_given_up else record.reason,
            since=record.since,
            worker=None if worker is None else worker.state(),
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, in at most so many tokens; raises TextModelUnavailable."""
        worker = self._model.worker
        if worker is None or self._record.phase is not TextModelPhase.READY:
            # the reason of a failure may name files of the host, which are nothing to an agent
            is_failed = self._record.phase is TextModelPhase.FAILED
            raise TextModelUnavailable(NO_CHAT_MODEL if is_failed else self._record.reason)
        latest = time.monotonic() + self.settings.answer.total_seconds()
        tokens = min(max_tokens, self.settings.max_tokens)
        return await worker.complete(prompt, shape=shape, max_tokens=tokens, deadline=min(deadline, latest))

    async def fetching(self, source: str) -> None:
        """Say that the model is on its way."""
        self._become(TextModelPhase.DOWNLOADING, _fetching(source))

    def progressed(self, progress: Progress, source: str) -> None:
        """Say why it is no further on its way."""
        self._become(self._record.phase, progress.trouble or _fetching(source))

    async def failed(self, reason: str, hint: str) -> None:
        """Say why there is no model."""
        log.warning("no text model; all else goes on", reason=reason, hint=hint)
        self._become(TextModelPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    async def ready(self, worker: WritingWorker) -> None:
        """Say that it may be asked."""
        log.info("text model is here", model=worker.identity)
        self._become(TextModelPhase.READY, "")

    def _become(self, phase: TextModelPhase, reason: str) -> None:
        self._record.become(phase, reason, datetime.now(UTC))

    def _worker(self, path: Path) -> WritingWorker:
        chat, settings = inspect_chat_model(path), self.settings
        return WritingWorker(
            WriterSpec(
                model=path,
                chat=chat,
                revision=content_hash(path, cache_dir=self._store.folder)[:REVISION_DIGITS],
                context=settings.context,
                threads=settings.threads,
                idle_unload=settings.idle_unload,
                stall=settings.answer + SLACK,
            )
        )


def _fetching(source: str) -> str:
    return f"fetching {source}; all else goes on meanwhile"
