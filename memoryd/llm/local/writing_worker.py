"""A chat model in a child process of its own: started when somebody asks, unloaded when idle, one question at once."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from memoryd.embed.local.frames import TEXT_CHARACTERS, WRITE_POOLING, Load, Message, NoResult, Ready, Write, Written
from memoryd.embed.local.worker import ModelWorker
from memoryd.embed.local.worker_process import Command, WorkerRun, module_command
from memoryd.errors import TextAnswerRefused, TextModelUnavailable
from memoryd.llm.answers import read_answer, schema_of
from memoryd.llm.model_names import recorded_name
from memoryd.llm.text_model import Answer, Prompt
from memoryd.models.families import ChatModel
from memoryd.retry import Retry

WRITING_COMMAND: Final = module_command("memoryd.llm.local.llama_writer")
WAITING_MAX: Final = 8
"""So many may wait for the one that is answered; another is told at once that it is busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterSpec:
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


@dataclass(frozen=True, slots=True)
class WritingJob:
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
