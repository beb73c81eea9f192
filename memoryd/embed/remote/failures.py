"""Why a call failed: the meaning of statuses and of the providers' error bodies, with nothing secret in the words."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from memoryd.domain.expressions import expression
from memoryd.models.fetching import seconds_until

MESSAGE_CHARACTERS = 240
QUOTE_CHARACTERS = 32
"""A message that repeats so many characters of a text is not shown."""

TOO_LONG = expression(
    r"context (length|window|size)|maximum context|input length|inputs? (is |are )?too (long|large)|must have less than"
    r"|physical batch size|exceeds? the (model|maximum input)|input token count",
    re.IGNORECASE,
)
"""How providers say that one text is too long."""
TOO_MANY = expression(
    r"tokens per (request|submitted batch)|too many (inputs|tokens)|in one batch|batch size|array (too|must|is too)"
    r"|split into more|(request|payload|body|entity) (size|is too|too)|per batch",
    re.IGNORECASE,
)
"""How they say that fewer texts a request would do; words that are missing here cost a refusal for each request."""
NO_KEY = expression(r"api key not valid|api[_ ]key[_ ]invalid|invalid api key|api key expired", re.IGNORECASE)
NO_QUOTA = expression(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
KEY_LIKE = expression(r"\b(sk|pa|AIza|key|Bearer)[-_ ]?[A-Za-z0-9_\-*.]{12,}")


class FailureKind(StrEnum):
    """What helps."""

    UNAVAILABLE = "outage"
    """Waiting: nobody answers, or a gateway says so."""
    BUSY = "busy"
    """Waiting as long as the endpoint says."""
    FAILING = "failing"
    """It answers and fails, or answers nonsense; perhaps one text is the cause."""
    NO_ACCESS = "no access"
    """Another key or account."""
    MISSING = "missing"
    """Another address or model."""
    CHANGED = "changed"
    """The model that was there before, or another index."""
    ELSEWHERE = "elsewhere"
    """The address that it redirects to."""
    TOO_MANY = "too many"
    """Fewer texts a request."""
    TOO_LONG = "too long"
    """A shorter text."""
    REFUSED = "refused"
    """Another text, or another setting."""


class CallError(Exception):
    """A call that brought no usable answer; `retry_after` in seconds if the endpoint named a time.

    `was_taken`: no refusal came, so that what was sent may have to be paid for.
    """

    was_taken = False

    def __init__(self, kind: FailureKind, reason: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.hint = hint
        self.retry_after = retry_after


def meaning(status: int, body: bytes, retry_after: str, now: datetime) -> CallError:
    """Return the failure that an answer other than 2xx stands for; the message is not yet redacted."""
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
    # Gemini's per-minute limit uses the same words, and names a delay
    text = body.decode("utf-8", "replace")
    return bool(NO_QUOTA.search(text)) and "retryDelay" not in text


def _retry_delay(error: object) -> float | None:
    """Return Gemini's RetryInfo, which stands in the body."""
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
    """Return the human part of the known error bodies. Nothing else of a body is ever shown: it may quote the texts."""
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
    """Return a message without keys and without any text that was sent, on one line and short."""
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
