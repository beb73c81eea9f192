"""Who may call an endpoint now: the one circuit breaker of it, and what the endpoint itself asked for.

It outlives the embedders that are opened over it, so that a wait that was asked for is kept whoever comes next.
"""

import asyncio
from collections.abc import Hashable
from datetime import timedelta
from typing import Final

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.credentials import Credentials
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.remote_settings import HOLD
from memoryd.retry import Retry

NOT_ITS_FAULT: Final = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY, FailureKind.BUSY})
"""An endpoint that answers so works: the text, its length or the hurry is to blame."""


class EndpointGate:
    """The memory of one endpoint. Times are seconds on the clock of `retry`.

    A wait above `hold` counts as an outage: somebody else may stand in.
    """

    def __init__(self, retry: Retry | None = None, *, hold: timedelta = HOLD) -> None:
        self.reason = ""
        """What the last call that failed was told."""
        self._retry = retry or Retry()
        self._hold_seconds = hold.total_seconds()
        self._caller = Credentials()
        self._entered_at = float("-inf")
        self._is_admitted = False
        self._is_down = False
        self._holds: dict[tuple[Hashable, Purpose], float] = {}
        self._left_alone_until = float("-inf")
        self._failed_at = float("-inf")
        self._answered_at = float("-inf")
        self._news = asyncio.Event()

    @property
    def trouble(self) -> str | None:
        """Why the endpoint is given up, None while it is not: calls keep failing, or it asked for a long rest."""
        # before it is admitted nothing but a document was ever sent, and nothing else can be held back
        purpose = Purpose.QUERY if self._is_admitted else Purpose.DOCUMENT
        asked_for = max(self._held_until(purpose), self._left_alone_until) - self._retry.now()
        return self.reason if self._retry.is_open or asked_for > self._hold_seconds else None

    @property
    def refuses_questions(self) -> bool:
        """Whether a question is better answered without: the last call failed with all its tries, and it backs off."""
        return self._is_down and self._retry.wait() > 0

    async def given_up(self) -> None:
        """Wait until there is trouble."""
        while self.trouble is None:
            self._news.clear()
            await self._news.wait()

    def enter(self, caller: Credentials) -> None:
        """Let somebody come who will ask for the first vector.

        With another key or header what failed before tells nothing, and of another account the endpoint has asked
        nothing; what it asks of everybody (503 with Retry-After) stays.
        """
        if caller != self._caller:
            self._caller, self._is_admitted, self._is_down = caller, False, False
            self._entered_at = self._retry.now()
            self._retry.forget()
            self._retry.hold(self._left_alone_until - self._retry.now())

    def admit(self) -> None:
        """Note that the first vector came: from now on a refusal is the fault of what was sent."""
        self._is_admitted = True
        self._retry.succeeded()

    def wait(self, purpose: Purpose) -> float:
        """Return the seconds until a call may start.

        A question is not held back by a limit that documents ran into; a limit that it ran into holds both.
        """
        return max(self._retry.wait(), self._held_until(purpose) - self._retry.now(), 0.0)

    def starts(self) -> float:
        """Note that a call starts; the time, which `fails` wants to know."""
        self._retry.tried()
        return self._retry.now()

    def answered(self) -> None:
        """Note that the endpoint works, whatever it said."""
        self._answered_at = self._retry.now()
        self._is_down = False
        if self._is_admitted:
            self._retry.succeeded()

    def fails(self, error: CallError, purpose: Purpose, *, started: float, is_late: bool) -> None:
        """Note that a call failed. `is_late`: no answer in time, rather than an answer that says no."""
        # a call that was under way with the key before: what it is told is nothing to this one
        if started < self._entered_at:
            return
        self.reason = error.reason
        if error.kind is FailureKind.BUSY:
            self._hold(purpose, error.retry_after)
        if self._is_admitted and error.kind in NOT_ITS_FAULT:
            self.answered()
        elif not self._is_load(purpose, is_late=is_late):
            self._count(started)
            self._leave_alone(error)
        self._news.set()

    def gives_up(self, error: CallError) -> None:
        """Note that a call has used up its tries."""
        self._is_down = error.kind not in NOT_ITS_FAULT

    def opening_failed(self, reason: str) -> float:
        """Note that it could not even be asked, and return the seconds until the next try."""
        self.reason = reason
        self._news.set()
        return self._retry.failed()

    def _is_load(self, purpose: Purpose, *, is_late: bool) -> bool:
        # a question without an answer in its few seconds, while documents get theirs: busy, not gone
        return is_late and purpose is Purpose.QUERY and self._retry.now() - self._answered_at < self._retry.rule.window

    def _count(self, started: float) -> None:
        # calls that were under way together fail together: that is one failure
        if started >= self._failed_at:
            self._retry.failed()
            self._failed_at = self._retry.now()

    def _leave_alone(self, error: CallError) -> None:
        if error.retry_after is not None and error.kind is not FailureKind.BUSY:
            self._left_alone_until = max(self._left_alone_until, self._retry.now() + error.retry_after)
            self._retry.hold(error.retry_after)

    def _held_until(self, purpose: Purpose) -> float:
        return self._holds.get((self._caller.account, purpose), float("-inf"))

    def _hold(self, purpose: Purpose, seconds: float | None) -> None:
        pause = self._retry.rule.first_delay if seconds is None else seconds
        until = self._retry.now() + pause * self._retry.jitter()
        for held in {purpose, Purpose.DOCUMENT}:
            self._holds[self._caller.account, held] = max(self._held_until(held), until)
