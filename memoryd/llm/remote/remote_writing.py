"""The endpoint for text that all agents share: its key, its day's calls, its one answer at a time, and how it does."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.gate import SpendingBook
from memoryd.errors import ConfigError, TextModelUnavailable
from memoryd.llm.answers import read_answer
from memoryd.llm.model_names import recorded_name
from memoryd.llm.remote.chat_completions import PATH, ChatDialect, content_of, request_body
from memoryd.llm.remote.reached_endpoint import ATTEMPTS, ReachedEndpoint
from memoryd.llm.remote.text_access import PROVIDER, TextAccess, TextKeys
from memoryd.llm.text_model import Answer, AnswerShape, Prompt
from memoryd.llm.text_model_state import CallCount, PhaseRecord, TextModelPhase, TextModelState
from memoryd.retry import Retry

if TYPE_CHECKING:
    from memoryd.embed.remote.http import Endpoint

log = structlog.get_logger(__name__)

WAITING_MAX: Final = 8
"""So many may wait for the one that is answered; another is told at once that it is busy."""
MISFITS_MAX: Final = 3
"""After so many answers in a row that are none, the endpoint counts as failing."""
HINTS: Final = {
    FailureKind.NO_ACCESS: "check memory.llm.apiKey, and the account behind it",
    FailureKind.MISSING: "check memory.llm.model and memory.llm.baseUrl",
    FailureKind.ELSEWHERE: "if that is right, put the address there into memory.llm.baseUrl",
}
FAILED: Final = "the endpoint of memory.llm cannot be used; memoryctl status tells why"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteWritingSettings:
    """Which model at which endpoint, and how much; `calls_per_day` None: as many as are asked."""

    model: str
    access: TextAccess
    max_tokens: int
    calls_per_day: int | None
    answer: timedelta


class RemoteWriting:
    """Asks one endpoint; `run` looks at its key, and closes the connections when it is cancelled."""

    def __init__(
        self, *, settings: RemoteWritingSettings, keys: TextKeys, book: SpendingBook, retry: Retry | None = None
    ) -> None:
        self.settings = settings
        self._book = book
        self._record = PhaseRecord(datetime.now(UTC))
        self._dialect = ChatDialect()
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._misfits = 0
        self._reached = ReachedEndpoint(settings.access, keys, answer=settings.answer, retry=retry)

    @property
    def identity(self) -> str:
        """Name the endpoint and the model; no key, and of the address the host alone."""
        return recorded_name(PROVIDER, self.settings.model, self.settings.access.destination)

    async def run(self) -> None:
        """Tell whether there is a key, and close the connections at the end."""
        try:
            with suppress(TextModelUnavailable):
                await self._endpoint()
                self._become(TextModelPhase.READY, "")
            await asyncio.Event().wait()
        finally:
            await self._reached.close()

    def state(self) -> TextModelState:
        """Return what status shows; cheap."""
        settings, record = self.settings, self._record
        return TextModelState(
            provider=PROVIDER,
            model=settings.model,
            phase=record.phase,
            reason=record.reason,
            since=record.since,
            destination=settings.access.destination,
            calls=CallCount(today=self._book.spent(self._account), per_day=settings.calls_per_day),
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, in at most so many tokens; raises TextModelUnavailable."""
        if self._waiting > WAITING_MAX:
            raise TextModelUnavailable(f"{self._waiting} questions wait for the text model already")
        self._waiting += 1
        deadline = min(deadline, time.monotonic() + self.settings.answer.total_seconds())
        tokens = min(max_tokens, self.settings.max_tokens)
        try:
            async with self._on_turn(deadline):
                return self._fitting(await self._asked(prompt, shape, tokens, deadline), shape)
        finally:
            self._waiting -= 1

    @asynccontextmanager
    async def _on_turn(self, deadline: float) -> AsyncIterator[None]:
        """Wait for those who asked before; the time of an answer itself the endpoint keeps, and counts."""
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await self._turn.acquire()
        except TimeoutError:
            raise TextModelUnavailable("the text model gave no answer in time: others asked before") from None
        try:
            yield
        finally:
            self._turn.release()

    async def _asked(self, prompt: Prompt, shape: type[AnswerShape], tokens: int, deadline: float) -> str:
        """Ask in the dialect that is known, and in another one after a refusal; raises TextModelUnavailable."""
        endpoint, dialect = await self._endpoint(), self._dialect
        while True:
            try:
                text = await self._sent(endpoint, prompt, shape, tokens, dialect, deadline)
            except CallError as exc:
                other = dialect.after(exc.reason) if exc.kind is FailureKind.REFUSED else None
                if other is None:
                    raise self._failed(exc) from exc
                dialect = other
            else:
                self._dialect = dialect
                return text

    async def _sent(
        self,
        endpoint: "Endpoint",
        prompt: Prompt,
        shape: type[AnswerShape],
        tokens: int,
        dialect: ChatDialect,
        deadline: float,
    ) -> str:
        from memoryd.embed.remote.http import decode_json

        if (seconds := deadline - time.monotonic()) <= 0:
            raise TextModelUnavailable("the text model gave no answer in time")
        await self._spend()
        return await endpoint.ask(
            "POST",
            endpoint.url(PATH),
            Purpose.QUERY,
            lambda body: content_of(decode_json(body)),
            json_body=request_body(self.settings.model, prompt, shape, tokens, dialect),
            texts=[prompt.data],
            attempts=ATTEMPTS,
            within=seconds,
        )

    async def _spend(self) -> None:
        """Count a question before it is sent: one that was lost on the way may have been paid for."""
        limit, spent = self.settings.calls_per_day, self._book.spent(self._account)
        if limit is not None and spent >= limit:
            reason = f"{spent:,} questions were sent to {self.settings.access.destination} today, and"
            reason = f"{reason} memory.llm.maxCallsPerDay is {limit:,}: the next are asked tomorrow (UTC)"
            self._become(TextModelPhase.FAILED, reason)
            raise TextModelUnavailable(reason)
        await self._book.add(self._account, 1)

    def _fitting(self, text: str, shape: type[Answer]) -> Answer:
        try:
            answer = read_answer(text, shape)
        except TextModelUnavailable as exc:
            self._misfits += 1
            if self._misfits >= MISFITS_MAX:
                self._become(TextModelPhase.FAILED, f"{self._misfits} answers in a row were none: {exc}")
            raise
        self._misfits = 0
        self._become(TextModelPhase.READY, "")
        return answer

    def _failed(self, error: CallError) -> TextModelUnavailable:
        hint = HINTS.get(error.kind, "")
        self._become(TextModelPhase.FAILED, f"{error.reason} ({hint})" if hint else error.reason)
        return TextModelUnavailable(error.reason, hint=hint)

    async def _endpoint(self) -> "Endpoint":
        try:
            return await self._reached.now()
        except ConfigError as exc:
            self._become(TextModelPhase.FAILED, "; ".join(exc.problems))
            # the reason may name files of the host, which are nothing to an agent
            raise TextModelUnavailable(FAILED) from exc

    @property
    def _account(self) -> str:
        return f"{self.settings.access.destination}/{self.settings.model}"

    def _become(self, phase: TextModelPhase, reason: str) -> None:
        if self._record.become(phase, reason, datetime.now(UTC)) and phase is TextModelPhase.FAILED:
            log.warning("the text model fails; all else goes on", model=self.identity, reason=reason)
