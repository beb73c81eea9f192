"""Failures of calls to an endpoint, its circuit breaker, and the token budget of a day.

HTTP statuses and the providers' error bodies become messages without secrets. A breaker outlives the embedders that use
it, so that a wait that the endpoint asked for is always observed.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.media import modality_of_mime, token_estimate
from memoryd.domain.text.tokens import estimate
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.embed.remote.settings import HOLD, Credentials
from memoryd.errors import BudgetSpent, EmbedderUnavailable
from memoryd.files.reading import read_json_object
from memoryd.files.writing import write_private
from memoryd.models.fetching import seconds_until
from memoryd.retry import Retry

MESSAGE_CHARACTERS = 240
QUOTE_CHARACTERS = 32
"""A message that repeats this many characters of a text is not shown."""

TOO_LONG = expression(
    r"context (length|window|size)|maximum context|input length|inputs? (is |are )?too (long|large)|must have less than"
    r"|physical batch size|exceeds? the (model|maximum input)|input token count",
    re.IGNORECASE,
)
"""Messages of providers for a single text that is too long."""
TOO_MANY = expression(
    r"tokens per (request|submitted batch)|too many (inputs|tokens)|in one batch|batch size|array (too|must|is too)"
    r"|split into more|(request|payload|body|entity) (size|is too|too)|per batch",
    re.IGNORECASE,
)
"""Messages of providers for a request with too many texts; a missing phrase costs one failed call per request."""
NO_KEY = expression(r"api key not valid|api[_ ]key[_ ]invalid|invalid api key|api key expired", re.IGNORECASE)
NO_QUOTA = expression(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
KEY_LIKE = expression(r"\b(sk|pa|AIza|key|Bearer)[-_ ]?[A-Za-z0-9_\-*.]{12,}")


class FailureKind(StrEnum):
    """Kinds of failures, by their remedy."""

    UNAVAILABLE = "outage"
    """No answer, or a gateway reports an outage: wait."""
    BUSY = "busy"
    """Rate limit: wait as long as the endpoint says."""
    FAILING = "failing"
    """An error, or an unusable answer; a single text may be the cause."""
    NO_ACCESS = "no access"
    """Use another key or account."""
    MISSING = "missing"
    """Use another address or model."""
    CHANGED = "changed"
    """Another model than before: restore the old one, or use another index."""
    ELSEWHERE = "elsewhere"
    """Use the address of the redirect."""
    TOO_MANY = "too many"
    """Send fewer texts per request."""
    TOO_LONG = "too long"
    """Send a shorter text."""
    REFUSED = "refused"
    """Use another text, or another setting."""


class CallError(Exception):
    """A call without a usable answer; `retry_after` in seconds if the endpoint named a time.

    `was_taken`: the endpoint did not reject the request, so that it may have to be paid for.
    """

    was_taken = False

    def __init__(self, kind: FailureKind, reason: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.hint = hint
        self.retry_after = retry_after


def meaning(status: int, body: bytes, retry_after: str, now: datetime) -> CallError:
    """Return the failure for an answer other than 2xx; its message is not redacted yet."""
    error = _json(body)
    message = _message(error)
    kind = _kind(status, message, body)
    return CallError(
        kind,
        f"{status} {message}".strip(),
        hint=HINTS.get(kind, ""),
        retry_after=seconds_until(retry_after, now) or _retry_delay(error),
    )


HINTS = {
    FailureKind.NO_ACCESS: "check the API key, and the account behind it",
    FailureKind.MISSING: "check memorySearch.model and memorySearch.remote.baseUrl",
}


def _kind(status: int, message: str, body: bytes) -> FailureKind:
    if status in {401, 402, 403, 407} or NO_KEY.search(message) or (status == 429 and _is_out_of_quota(body)):
        return FailureKind.NO_ACCESS
    if status in {400, 413, 422, 500} and TOO_LONG.search(message):
        return FailureKind.TOO_LONG
    if status == 413 or (status in {400, 422, 500} and TOO_MANY.search(message)):
        return FailureKind.TOO_MANY
    if status == 429:
        return FailureKind.BUSY
    if status in {404, 405, 410}:
        return FailureKind.MISSING
    if status < 400:
        return FailureKind.ELSEWHERE
    if status == 500:
        return FailureKind.FAILING
    return FailureKind.UNAVAILABLE if status > 500 or status in {408, 425} else FailureKind.REFUSED


def _is_out_of_quota(body: bytes) -> bool:
    # Gemini uses the same words for its per-minute limit, but then names a delay
    text = body.decode("utf-8", "replace")
    return bool(NO_QUOTA.search(text)) and "retryDelay" not in text


def _retry_delay(error: object) -> float | None:
    """Return the seconds of Gemini's RetryInfo in the body; None if there is none."""
    match error:
        case {"error": {"details": [*details]}}:
            for detail in details:
                delay = str(detail.get("retryDelay", "")) if isinstance(detail, dict) else ""
                if re.fullmatch(r"\d{1,6}(\.\d+)?s", delay):
                    return float(delay[:-1])
    return None


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _message(error: object) -> str:
    """Return the message in the known forms of error bodies. The rest of a body is never shown: it may quote texts."""
    match error:
        case [first, *_]:
            return _message(first)
        case {"error": {"message": str(message)}} | {"error": str(message)} | {"message": str(message)}:
            return message
        case {"detail": str(message)} | {"detail": [{"msg": str(message)}, *_]}:
            return message
        case {"message": {"detail": [{"msg": str(message)}, *_]}}:
            return message
    return ""


def redacted(reason: str, secrets: Iterable[str], texts: Sequence[str]) -> str:
    """Return a short message on one line, without secrets and without any text that was sent."""
    for secret in secrets:
        if secret:
            reason = reason.replace(secret, "***")
    reason = " ".join(KEY_LIKE.sub("***", reason).split())
    if any(_quotes(reason, " ".join(text.split())) for text in texts):
        reason = f"{reason[:3]} (the message quotes the text and is not shown)"
    return reason if len(reason) <= MESSAGE_CHARACTERS else reason[:MESSAGE_CHARACTERS] + "…"


def _quotes(reason: str, text: str) -> bool:
    step = QUOTE_CHARACTERS // 2
    pieces = (text[start : start + QUOTE_CHARACTERS] for start in range(0, min(len(text), 4096), step))
    return any(len(piece) >= step and piece in reason for piece in pieces)


log = structlog.get_logger(__name__)

NOT_ITS_FAULT = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY, FailureKind.BUSY})
"""Failures of a working endpoint: the text, its length or the rate of requests is the cause."""


class EndpointBreaker:
    """The health of one endpoint. Times are seconds on the clock of `retry`.

    A wait above `longest_wait` counts as trouble, so that a fallback provider can take over.
    """

    def __init__(self, retry: Retry | None = None, *, longest_wait: timedelta = HOLD) -> None:
        self.reason = ""
        """The reason of the last failed call."""
        self.has_other_model = False
        """True if the last call was answered by another model."""
        self._retry = retry or Retry()
        self._longest_wait = longest_wait.total_seconds()
        self._caller = Credentials()
        self._entered_at = float("-inf")
        self._is_admitted = False
        self._is_down = False
        self._paused_until: dict[tuple[Hashable, Purpose], float] = {}
        self._blocked_until = float("-inf")
        self._failed_at = float("-inf")
        self._answered_at = float("-inf")
        self._news = asyncio.Event()

    @property
    def trouble(self) -> str | None:
        """Why the endpoint counts as failed: calls keep failing, or it asked for a long pause; None while it works."""
        # before `admit` only documents were sent, so that only their pause is known
        purpose = Purpose.QUERY if self._is_admitted else Purpose.DOCUMENT
        requested = max(self._pause_end(purpose), self._blocked_until) - self._retry.now()
        return self.reason if self._retry.is_open or requested > self._longest_wait else None

    @property
    def refuses_questions(self) -> bool:
        """True if questions fail at once: the last call failed with all its tries, and the back-off is not over."""
        return self._is_down and self._retry.wait() > 0

    async def wait_for_trouble(self) -> None:
        """Wait until there is trouble, or another model answers."""
        while self.trouble is None and not self.has_other_model:
            self._news.clear()
            await self._news.wait()

    def start_with(self, caller: Credentials) -> None:
        """Start with these credentials; `admit` follows with the first vector.

        With another key or header earlier failures are irrelevant, and pauses are per account. A pause for all callers
        (503 with Retry-After) stays.
        """
        if caller != self._caller:
            self._caller, self._is_admitted, self._is_down = caller, False, False
            self._entered_at = self._retry.now()
            self._retry.reset()
            self._retry.pause(self._blocked_until - self._retry.now())

    def admit(self) -> None:
        """Note the first vector: from now on a rejection is caused by the request, not by the endpoint."""
        self._is_admitted, self.has_other_model = True, False
        self._retry.note_success()

    def wait(self, purpose: Purpose) -> float:
        """Return the seconds until a call may start.

        A rate limit for documents does not delay questions; a rate limit for a question delays both.
        """
        return max(self._retry.wait(), self._pause_end(purpose) - self._retry.now(), 0.0)

    def note_start(self) -> float:
        """Note that a call starts; return its start time, for `note_failure`."""
        self._retry.note_try()
        return self._retry.now()

    def note_answer(self) -> None:
        """Note that the endpoint answered, also if it rejected the request."""
        self._answered_at = self._retry.now()
        self._is_down = self.has_other_model = False
        if self._is_admitted:
            self._retry.note_success()

    def note_failure(self, error: CallError, purpose: Purpose, *, started: float, is_late: bool) -> None:
        """Note that a call failed. `is_late`: there was no answer in time, rather than a rejection."""
        # a call with the former credentials says nothing about the new ones
        if started < self._entered_at:
            return
        self.reason = error.reason
        self.has_other_model = error.kind is FailureKind.CHANGED
        if error.kind is FailureKind.BUSY:
            self._pause(purpose, error.retry_after)
        if self._is_admitted and error.kind in NOT_ITS_FAULT:
            self.note_answer()
        # a question got no answer in its few seconds, but documents did: the endpoint is busy, not down
        elif not (is_late and purpose is Purpose.QUERY and self._has_answered_lately()):
            # concurrent calls fail together: that counts as one failure
            if started >= self._failed_at:
                self._retry.note_failure()
                self._failed_at = self._retry.now()
            if error.retry_after is not None and error.kind is not FailureKind.BUSY:
                self._blocked_until = max(self._blocked_until, self._retry.now() + error.retry_after)
                self._retry.pause(error.retry_after)
        self._news.set()

    def note_exhausted(self, error: CallError) -> None:
        """Note that a call has used up its tries."""
        self._is_down = error.kind not in NOT_ITS_FAULT

    def note_failed_opening(self, reason: str) -> float:
        """Note that the endpoint could not be opened; return the seconds until the next try."""
        self.reason = reason
        self._news.set()
        return self._retry.note_failure()

    def _has_answered_lately(self) -> bool:
        return self._retry.now() - self._answered_at < self._retry.rule.window

    def _pause_end(self, purpose: Purpose) -> float:
        return self._paused_until.get((self._caller.account, purpose), float("-inf"))

    def _pause(self, purpose: Purpose, seconds: float | None) -> None:
        pause = self._retry.rule.first_delay if seconds is None else seconds
        until = self._retry.now() + pause * self._retry.jitter()
        for affected in {purpose, Purpose.DOCUMENT}:
            self._paused_until[self._caller.account, affected] = max(self._pause_end(affected), until)


class TokenBudget:
    """Tokens (estimated) sent to each destination on the current day (UTC), in a small file.

    A file that cannot be read counts as empty. If it cannot be written, the count is kept in memory until a restart.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path = path
        self._clock = clock
        self._day = ""
        self._tokens: dict[str, int] = {}
        self._reserved: Counter[str] = Counter()
        self._lock = asyncio.Lock()

    def spent(self, destination: str) -> int:
        """Return the tokens sent today."""
        self._begin_new_day()
        return self._tokens.get(destination, 0)

    def reserved(self, destination: str) -> int:
        """Return the tokens of requests under way."""
        return self._reserved[destination]

    @contextmanager
    def reserving(self, destination: str, tokens: int) -> Iterator[None]:
        """Count tokens as reserved while the block runs, so that concurrent callers count them as spent."""
        self._reserved[destination] += tokens
        try:
            yield
        finally:
            self._reserved[destination] -= tokens

    async def add(self, destination: str, tokens: int) -> None:
        """Note that tokens were sent."""
        self._begin_new_day()
        self._tokens[destination] = self._tokens.get(destination, 0) + tokens
        async with self._lock:
            await asyncio.to_thread(self._write, json.dumps({"day": self._day, "tokens": self._tokens}))

    def _begin_new_day(self) -> None:
        today = self._clock().date().isoformat()
        if self._day != today:
            self._tokens = _read_spent(self._path, today)
            self._day = today

    def _write(self, text: str) -> None:
        try:
            write_private(self._path, text.encode())
        except OSError as exc:
            log.warning("the tokens of today cannot be noted", reason=str(exc))


class MeteredEmbedder(Struct, frozen=True, eq=False):
    """Counts the tokens of answered requests; Endpoint reports those of lost requests (`on_lost`).

    Documents wait for the next day when `limit` tokens are spent; None: no limit. Questions are counted but never wait:
    they are small, and a caller waits for the answer.
    """

    inner: Embedder
    budget: TokenBudget
    destination: str
    limit: int | None

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the inner embedder."""
        return self.inner.identity

    async def embed_query(self, text: str) -> Vector:
        """Embed and count; raises as the inner embedder does."""
        vector = await self.inner.embed_query(text)
        await self.budget.add(self.destination, estimate(text))
        return vector

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Embed and count; raises BudgetSpent if the day's tokens are spent, else as the inner embedder does."""
        totals = list(accumulate(map(_tokens, passages)))
        tokens = totals[-1] if totals else 0
        # no await between check and reservation, or two workspaces could spend the same tokens
        if self.limit is not None:
            self._check_limit(self.limit, totals)
        with self.budget.reserving(self.destination, tokens):
            answers = await self.inner.embed_documents(passages)
        await self.budget.add(self.destination, tokens)
        return answers

    def _check_limit(self, limit: int, totals: Sequence[int]) -> None:
        spent, reserved = self.budget.spent(self.destination), self.budget.reserved(self.destination)
        fits = _fitting(totals, limit, spent + reserved)
        if fits >= len(totals):
            return
        if not fits and _fitting(totals, limit, spent):
            raise EmbedderUnavailable(
                f"about {reserved:,} tokens are being sent to {self.destination}, and "
                f"memorySearch.remote.tokensPerDay is {limit:,}: notes wait for what is left of it"
            )
        raise BudgetSpent(
            f"about {spent:,} tokens were sent to {self.destination} today, and "
            f"memorySearch.remote.tokensPerDay is {limit:,}: notes wait for the next day (UTC)",
            fits=fits,
        )


def _fitting(totals: Sequence[int], limit: int, used: int) -> int:
    """Return how many passages fit into the limit; `totals` are cumulative tokens."""
    # with a limit below one passage, one passage a day is still sent
    return max(sum(used + total <= limit for total in totals), 0 if used else 1)


def _tokens(passage: Passage) -> int:
    words = estimate(passage.title) + estimate(passage.text)
    file = passage.attachment
    return words if file is None else words + token_estimate(modality_of_mime(file.mime), len(file.data))


def _read_spent(path: Path, day: str) -> dict[str, int]:
    stored = read_json_object(path)
    tokens = stored.get("tokens") if stored.get("day") == day else None
    entries = tokens.items() if isinstance(tokens, dict) else ()
    return {name: count for name, count in entries if isinstance(count, int) and count >= 0}
