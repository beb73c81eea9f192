"""The text model shared by all agents, local in a child process or remote; one answer at a time.

The remote model uses OpenAI's chat completions, as many servers do, and adapts to what a server does not accept:

POST /chat/completions {"model", "messages", "temperature", "seed", "max_tokens", "response_format"}
→ {"choices": [{"finish_reason", "message": {"content"}}]}
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.providers import LlmSection, ModelsSection
from memoryd.domain.clock import rfc3339
from memoryd.domain.embedding import LOCAL, PROVIDERS
from memoryd.domain.expressions import expression
from memoryd.embed.current import ModelPhase, PhaseRecord
from memoryd.embed.local.frames import TEXT_CHARACTERS, WRITE_POOLING, Load, NoResult, Write, Written
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker_connection import WorkerJob
from memoryd.embed.local.worker_process import WorkerRun, WorkerSupervisor, module_command
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.breaker import CallError, EndpointBreaker, FailureKind, TokenBudget
from memoryd.embed.remote.providers import bearer
from memoryd.embed.remote.settings import (
    AddressOwner,
    CallTimeouts,
    Credentials,
    EndpointAccess,
    KeySources,
    address_of,
    entry_of,
    open_credentials,
    owner_of,
)
from memoryd.errors import ConfigError, ModelError, TextAnswerRefused, TextModelUnavailable
from memoryd.llm.protocol import (
    Answer,
    AnswerShape,
    Prompt,
    Turns,
    read_answer,
    recorded_name,
    schema_of,
)
from memoryd.models.families import ChatModel, inspect_chat_model
from memoryd.models.gguf import content_hash
from memoryd.models.store import ModelStore
from memoryd.replies.models import TextModelReply

log = structlog.get_logger(__name__)

WRITING_COMMAND = module_command("memoryd.llm.llama_writer")
REVISION_DIGITS = 16
SLACK = timedelta(seconds=30)
"""Time after the timeout of an answer until a silent worker counts as hung."""
NO_CHAT_MODEL = "the model of memory.llm cannot be used; memoryctl status tells why"
JOB = WorkerJob[str](
    "text",
    TextModelUnavailable,
    lambda ready: "" if ready.context > 0 else "it has no context",
    Written,
    attrgetter("text"),
)


class WritingWorker(WorkerSupervisor[str]):
    """Answers with one GGUF. It works while its `run` is running.

    `context` is the limit of a question and its answer together, in tokens. A worker that takes longer than `stall` for
    one answer counts as hung, even if the caller would wait longer. If `idle_unload` is zero, the model stays loaded.
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
        """Name of the model and hash of its content."""
        return recorded_name(LOCAL, self.chat.name, self._revision)

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, including waiting and loading. Raises TextModelUnavailable.

        Questions wait for each other here, where cancelling costs nothing. A cancelled question is aborted.
        """
        request = Write(0, prompt.task, prompt.data[:TEXT_CHARACTERS], schema_of(shape), max_tokens)
        async with self._turns.take(deadline):
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    (reply,) = await self.ask([request])
            except TimeoutError:
                raise TextModelUnavailable("the text model gave no answer in time") from None
        if isinstance(reply, NoResult):
            raise TextAnswerRefused(f"the text model gives no answer: {reply.reason}")
        return read_answer(reply, shape)


class LocalWriting(LocalModel[WritingWorker]):
    """Runs the chat model of `memory.llm`; `run` loops until cancelled."""

    failure_event = "no text model; all else goes on"
    fallback_text = "all else goes on"

    def __init__(self, llm: LlmSection, store: ModelStore) -> None:
        super().__init__(source=llm.model or "", store=store)
        self._llm = llm
        self._answer = timedelta(milliseconds=llm.timeout_ms)

    @property
    def identity(self) -> str:
        """Name of the model and hash of its content; the source before the file is read."""
        return recorded_name(LOCAL, self._source, "") if self.worker is None else self.worker.identity

    def make(self, path: Path) -> WritingWorker:
        """Check the file and create its worker. Blocks; raises ModelError."""
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

    def state(self) -> TextModelReply:
        """Return the state for status; cheap."""
        (phase, reason), worker = self.phase_and_reason(), self.worker
        return TextModelReply(
            provider=LOCAL,
            model=self._source if worker is None else worker.chat.name,
            state=phase,
            reason=reason or None,
            since=rfc3339(self.record.since),
            destination=None,
            callsToday=None,
            callsPerDay=None,
            worker=None if worker is None else worker.state(),
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, of at most `max_tokens`. Raises TextModelUnavailable."""
        if self.worker is None or self.record.phase is not ModelPhase.READY:
            # the reason of a failure may name files of the host, which an agent must not see
            is_failed = self.record.phase is ModelPhase.FAILED
            raise TextModelUnavailable(NO_CHAT_MODEL if is_failed else self.record.reason)
        latest = time.monotonic() + self._answer.total_seconds()
        tokens = min(max_tokens, self._llm.max_tokens)
        return await self.worker.complete(prompt, shape=shape, max_tokens=tokens, deadline=min(deadline, latest))


if TYPE_CHECKING:
    from memoryd.embed.remote.http import Endpoint

PROVIDER = "openai"
"""The provider whose chat completions API all endpoints use."""
OWN_KEY = "memory.llm.apiKey"
PATH = "/chat/completions"
SEED = 7
_NEWER = expression(r"max_tokens|max_completion_tokens|temperature", re.IGNORECASE)
_UNSENT = frozenset({"minLength", "maxLength", "title", "default"})
"""Schema keywords that strict servers refuse; answers are checked against the complete schema anyway."""
ANSWER_BYTES = 1 << 20
ATTEMPTS = 2
"""Attempts per question, where another one may help: each attempt costs money."""
MISFITS_MAX = 3
"""After this many invalid answers in a row the endpoint counts as failing."""
HINTS = {
    FailureKind.NO_ACCESS: "check memory.llm.apiKey, and the account behind it",
    FailureKind.MISSING: "check memory.llm.model and memory.llm.baseUrl",
    FailureKind.ELSEWHERE: "if that is right, put the address there into memory.llm.baseUrl",
}
FAILED = "the endpoint of memory.llm cannot be used; memoryctl status tells why"


class ChatDialect(Struct, frozen=True):
    """What an endpoint accepts: a schema or only JSON in general, and which parameters as limits."""

    holds_schema: bool = True
    is_newer: bool = False
    """Whether it requires `max_completion_tokens` and no temperature, as reasoning models do."""

    def after(self, refusal: str) -> "ChatDialect | None":
        """Return the dialect to try after a request was refused with this message; None if there is no other."""
        if _NEWER.search(refusal) and not self.is_newer:
            return replace(self, is_newer=True)
        return replace(self, holds_schema=False) if self.holds_schema else None


def request_body(
    model: str, prompt: Prompt, shape: type[AnswerShape], max_tokens: int, dialect: ChatDialect
) -> dict[str, object]:
    """Return the body of a request, with the task as system message and the data as user message."""
    schema = _strict(shape.model_json_schema())
    task = prompt.task
    if not dialect.holds_schema:
        schema_text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        task = f"{task}\nThe answer fits this JSON schema: {schema_text}"
    messages = [{"role": "system", "content": task}, {"role": "user", "content": prompt.data}]
    limits: dict[str, object] = {"temperature": 0, "max_tokens": max_tokens}
    if dialect.is_newer:
        limits = {"max_completion_tokens": max_tokens}
    form: dict[str, object] = {"type": "json_object"}
    if dialect.holds_schema:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    return {"model": model, "messages": messages, "seed": SEED, "response_format": form, **limits}


def content_of(answer: object) -> str:
    """Return the text of the first choice. Raises ValueError, which quotes nothing, if it is missing or incomplete."""
    match answer:
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            raise ValueError("the model declines to answer")
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise ValueError("the answer is cut off")
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise ValueError("the endpoint withholds the answer")
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
    raise ValueError("no text in the answer")


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without keywords that strict servers refuse. Properties with such names stay."""
    strict = {key: value for key, value in schema.items() if key not in _UNSENT}
    for key in ("$defs", "properties"):
        if key in strict:
            strict[key] = {name: _strict(inner) for name, inner in strict[key].items()}
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    return strict


def access_of(llm: LlmSection, models: ModelsSection) -> EndpointAccess:
    """Return the access to the endpoint: of `memory.llm`, else of `models.providers.openai`, else OpenAI itself."""
    entry = entry_of(models, PROVIDER)
    base_url, owner = address_of(PROVIDER, llm.base_url, entry)
    base_url = (base_url or PROVIDERS[PROVIDER].base_url).rstrip("/")
    is_of_entry = owner_of(PROVIDER, entry.base_url, AddressOwner.ENTRY) is owner
    return EndpointAccess(base_url, owner, llm.api_key, tuple(entry.headers.items()) if is_of_entry else ())


def why_unopened(error: ConfigError | ModelError) -> str:
    """Return why the endpoint cannot be opened, for the owner."""
    if isinstance(error, ConfigError):
        return "; ".join(error.problems)
    return f"{error} ({error.hint})" if error.hint else str(error)


class RemoteWritingSettings(Struct, frozen=True, kw_only=True):
    """A model, its endpoint and limits; `calls_per_day` None means no limit."""

    model: str
    access: EndpointAccess
    max_tokens: int
    calls_per_day: int | None
    answer: timedelta


class RemoteWriting:
    """Answers by one endpoint. `run` checks its key, and closes the connections when it is cancelled."""

    worker: ClassVar[None] = None
    """There is no worker process."""

    def __init__(self, *, settings: RemoteWritingSettings, keys: KeySources, budget: TokenBudget) -> None:
        self.settings = settings
        self._keys = keys
        self._budget = budget
        self._record = PhaseRecord(ModelPhase.WARMING, "starting")
        self._dialect = ChatDialect()
        self._turns = Turns()
        self._misfits = 0
        self._breaker = EndpointBreaker()
        """Records until when the endpoint asked not to be called."""
        self._open: tuple[Credentials, Endpoint] | None = None

    @property
    def identity(self) -> str:
        """Names of the provider and the model, and the host of the address; no key."""
        return recorded_name(PROVIDER, self.settings.model, self.settings.access.destination)

    async def run(self) -> None:
        """Check that the endpoint can be opened, wait until cancelled, and close the connections."""
        try:
            with suppress(TextModelUnavailable):
                await self._endpoint()
                self._become(ModelPhase.READY, "")
            await asyncio.Event().wait()
        finally:
            await self._close()

    def state(self) -> TextModelReply:
        """Return the state for status; cheap."""
        settings, record = self.settings, self._record
        return TextModelReply(
            provider=PROVIDER,
            model=settings.model,
            state=record.phase,
            reason=record.reason or None,
            since=rfc3339(record.since),
            destination=settings.access.destination,
            callsToday=self._budget.spent(self._account),
            callsPerDay=settings.calls_per_day,
            worker=None,
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, of at most `max_tokens`. Raises TextModelUnavailable."""
        deadline = min(deadline, time.monotonic() + self.settings.answer.total_seconds())
        tokens = min(max_tokens, self.settings.max_tokens)
        # the endpoint enforces the timeout of the answer itself
        async with self._turns.take(deadline):
            return self._parse_answer(await self._ask(prompt, shape, tokens, deadline), shape)

    async def _ask(self, prompt: Prompt, shape: type[AnswerShape], tokens: int, deadline: float) -> str:
        """Ask in the known dialect, and after a refusal in another one. Raises TextModelUnavailable."""
        endpoint, dialect = await self._endpoint(), self._dialect
        from memoryd.embed.remote.http import decode_json

        while True:
            if (seconds := deadline - time.monotonic()) <= 0:
                raise TextModelUnavailable("the text model gave no answer in time")
            try:
                text = await endpoint.ask(
                    "POST",
                    endpoint.url(PATH),
                    Purpose.QUERY,
                    lambda body: content_of(decode_json(body)),
                    json_body=request_body(self.settings.model, prompt, shape, tokens, dialect),
                    texts=[prompt.data],
                    within=seconds,
                    before=self._spend,
                )
            except CallError as exc:
                other = dialect.after(exc.reason) if exc.kind is FailureKind.REFUSED else None
                if other is None:
                    raise self._note_failure(exc) from exc
                dialect = other
            else:
                self._dialect = dialect
                return text

    async def _spend(self) -> None:
        """Count a question before it is sent: even a question without an answer may be charged."""
        limit, spent = self.settings.calls_per_day, self._budget.spent(self._account)
        if limit is not None and spent >= limit:
            reason = f"{spent:,} questions were sent to {self.settings.access.destination} today, and"
            reason = f"{reason} memory.llm.maxCallsPerDay is {limit:,}: the next are asked tomorrow (UTC)"
            self._become(ModelPhase.FAILED, reason)
            raise TextModelUnavailable(reason)
        await self._budget.add(self._account, 1)

    def _parse_answer(self, text: str, shape: type[Answer]) -> Answer:
        try:
            answer = read_answer(text, shape)
        except TextModelUnavailable as exc:
            self._misfits += 1
            if self._misfits >= MISFITS_MAX:
                self._become(ModelPhase.FAILED, f"{self._misfits} answers in a row were none: {exc}")
            raise
        self._misfits = 0
        self._become(ModelPhase.READY, "")
        return answer

    def _note_failure(self, error: CallError) -> TextModelUnavailable:
        hint = HINTS.get(error.kind, "")
        self._become(ModelPhase.FAILED, f"{error.reason} ({hint})" if hint else error.reason)
        return TextModelUnavailable(error.reason, hint=hint)

    async def _endpoint(self) -> "Endpoint":
        """Return the endpoint, opened with the current key. Raises TextModelUnavailable if that is not possible."""
        try:
            credentials = await asyncio.to_thread(open_credentials, PROVIDER, self.settings.access, self._keys, OWN_KEY)
            if self._open is None or self._open[0] != credentials:
                await self._close()
                self._open = credentials, await self._open_endpoint(credentials)
            return self._open[1]
        except (ConfigError, ModelError) as exc:
            self._become(ModelPhase.FAILED, why_unopened(exc))
            # the reason may name files of the host, which an agent must not see
            raise TextModelUnavailable(FAILED) from exc

    async def _open_endpoint(self, credentials: Credentials) -> "Endpoint":
        # httpx takes 70 ms to import, and a daemon without an endpoint never needs it
        from memoryd.embed.remote.http import Endpoint, tls

        await asyncio.to_thread(tls)
        self._breaker.start_with(credentials)
        # from the first question on, a refusal is the fault of the request, not of the endpoint
        self._breaker.admit()
        return Endpoint(
            whose="memory.llm",
            base_url=self.settings.access.base_url.removesuffix(PATH),
            auth=bearer(credentials.api_key),
            credentials=credentials,
            concurrency=1,
            timeouts=CallTimeouts(query=self.settings.answer, attempts=ATTEMPTS),
            breaker=self._breaker,
            answer_bytes=ANSWER_BYTES,
        )

    async def _close(self) -> None:
        endpoint, self._open = self._open, None
        if endpoint is not None:
            await endpoint[1].aclose()

    @property
    def _account(self) -> str:
        return f"{self.settings.access.destination}/{self.settings.model}"

    def _become(self, phase: ModelPhase, reason: str) -> None:
        before, self._record = self._record.phase, self._record.enter(phase, reason)
        if phase is ModelPhase.FAILED and before is not phase:
            log.warning("the text model fails; all else goes on", model=self.identity, reason=reason)
