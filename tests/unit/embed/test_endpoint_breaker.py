"""When the breaker of a provider opens, and to which calls a requested wait applies."""

import asyncio
from datetime import timedelta

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.breaker import CallError, EndpointBreaker, FailureKind
from memoryd.embed.remote.settings import Credentials
from memoryd.retry import BreakerRule, Retry
from tests.fakes import FakeClock

AT_ONCE = BreakerRule(first_delay=0.0, longest_delay=0.0, failures_to_open=3)
PATIENT = BreakerRule(first_delay=1000.0, longest_delay=2000.0, jitter=0.0, failures_to_open=3)
ONE, OTHER = Credentials("one-key"), Credentials("other-key")
AWAY = CallError(FailureKind.UNAVAILABLE, "here: no connection")


def breaker_with(rule: BreakerRule, clock: FakeClock | None = None, *, is_admitted: bool = True) -> EndpointBreaker:
    retry = Retry(rule, clock=clock or FakeClock(), chance=lambda: 0.0)
    breaker = EndpointBreaker(retry, longest_wait=timedelta(seconds=30))
    breaker.start_with(ONE)
    if is_admitted:
        breaker.admit()
    return breaker


def fail(
    breaker: EndpointBreaker,
    times: int = 1,
    error: CallError = AWAY,
    purpose: Purpose = Purpose.DOCUMENT,
    *,
    is_late: bool = False,
) -> None:
    for _ in range(times):
        breaker.note_failure(error, purpose, started=breaker.note_start(), is_late=is_late)
        breaker.note_exhausted(error)


async def test_breaker_opens_after_the_number_of_failures() -> None:
    breaker = breaker_with(AT_ONCE)
    fail(breaker, 2)
    assert breaker.trouble is None
    fail(breaker)
    assert breaker.trouble == "here: no connection"
    await breaker.wait_for_trouble()


async def test_waiting_for_trouble_ends_when_the_breaker_opens() -> None:
    breaker = breaker_with(AT_ONCE)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        waiting = group.create_task(breaker.wait_for_trouble())
        for _ in range(3):
            await asyncio.sleep(0)
            assert not waiting.done()
            fail(breaker)
    assert waiting.done()


def test_burst_counts_as_one_failure() -> None:
    breaker = breaker_with(PATIENT)
    began = [breaker.note_start() for _ in range(20)]
    clock_moved_on = [began_at - 1 for began_at in began]
    for started in (began[0], *clock_moved_on):
        breaker.note_failure(AWAY, Purpose.DOCUMENT, started=started, is_late=False)
    assert breaker.trouble is None


def test_successful_probe_closes_the_breaker() -> None:
    breaker = breaker_with(AT_ONCE)
    fail(breaker, 3)
    breaker.note_start()
    breaker.note_answer()
    assert breaker.trouble is None


def test_questions_are_refused_only_during_back_off() -> None:
    clock = FakeClock()
    breaker = breaker_with(PATIENT, clock)
    breaker.note_failure(AWAY, Purpose.DOCUMENT, started=breaker.note_start(), is_late=False)
    assert not breaker.refuses_questions
    breaker.note_exhausted(AWAY)
    assert breaker.refuses_questions
    assert breaker.wait(Purpose.QUERY) == 1000
    clock.advance(1000)
    assert not breaker.refuses_questions
    breaker.note_answer()
    assert breaker.wait(Purpose.QUERY) == 0


def test_rejected_text_is_no_failure_of_the_provider() -> None:
    breaker = breaker_with(AT_ONCE)
    for kind in (FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY):
        fail(breaker, 9, CallError(kind, "400 no"))
    assert breaker.trouble is None
    assert not breaker.refuses_questions


def test_rejected_probe_is_a_failure_of_the_provider() -> None:
    breaker = breaker_with(AT_ONCE, is_admitted=False)
    fail(breaker, 3, CallError(FailureKind.REFUSED, "400 no such region"))
    assert breaker.trouble == "400 no such region"


def test_late_question_is_load_while_documents_are_answered() -> None:
    breaker = breaker_with(AT_ONCE)
    breaker.note_answer()
    fail(breaker, 9, purpose=Purpose.QUERY, is_late=True)
    assert breaker.trouble is None
    fail(breaker, 9, purpose=Purpose.DOCUMENT, is_late=True)
    assert breaker.trouble is not None


def test_rate_limit_of_documents_does_not_apply_to_questions() -> None:
    clock = FakeClock()
    breaker = breaker_with(PATIENT, clock)
    fail(breaker, error=CallError(FailureKind.BUSY, "429 tokens", retry_after=90.0))
    assert (breaker.wait(Purpose.DOCUMENT), breaker.wait(Purpose.QUERY)) == (90, 0)
    assert breaker.trouble is None, "questions pass, so no fallback is needed"
    fail(breaker, error=CallError(FailureKind.BUSY, "429 requests", retry_after=120.0), purpose=Purpose.QUERY)
    assert (breaker.wait(Purpose.DOCUMENT), breaker.wait(Purpose.QUERY)) == (120, 120)
    assert breaker.trouble == "429 requests", "a long wait needs a fallback"
    clock.advance(95)
    assert breaker.trouble is None


def test_rate_limit_applies_to_its_account_only() -> None:
    clock = FakeClock()
    breaker = breaker_with(PATIENT, clock)
    fail(breaker, error=CallError(FailureKind.BUSY, "429", retry_after=90.0))
    breaker.start_with(OTHER)
    assert breaker.wait(Purpose.DOCUMENT) == 0
    breaker.start_with(Credentials("one-key", (("X-Team", "blue"),)))
    assert breaker.wait(Purpose.DOCUMENT) == 90
    clock.advance(90)
    assert breaker.wait(Purpose.DOCUMENT) == 0


def test_failure_of_a_call_with_another_key_does_not_count() -> None:
    clock = FakeClock()
    breaker = breaker_with(AT_ONCE, clock)
    began = breaker.note_start()
    clock.advance(1)
    breaker.start_with(OTHER)
    for error in (AWAY, CallError(FailureKind.BUSY, "429", retry_after=90.0), AWAY):
        breaker.note_failure(error, Purpose.QUERY, started=began, is_late=False)
    assert breaker.trouble is None
    assert breaker.wait(Purpose.QUERY) == 0


def test_wait_for_all_outlives_a_key_change_and_failures_do_not() -> None:
    clock = FakeClock()
    breaker = breaker_with(PATIENT, clock)
    fail(breaker)
    breaker.start_with(OTHER)
    assert breaker.wait(Purpose.QUERY) == 0
    clock.advance(1)
    fail(breaker, error=CallError(FailureKind.UNAVAILABLE, "503 overloaded", retry_after=1500.0))
    assert breaker.wait(Purpose.QUERY) == 1500
    breaker.start_with(ONE)
    assert breaker.wait(Purpose.QUERY) == 1500


def test_failed_opening_backs_off_though_the_endpoint_answers() -> None:
    clock = FakeClock()
    breaker = breaker_with(BreakerRule(first_delay=1.0, longest_delay=60.0, jitter=0.0), clock, is_admitted=False)
    waits = []
    for _ in range(5):
        breaker.note_start()
        breaker.note_answer()
        waits.append(breaker.note_failed_opening("768 dimensions were asked for"))
        clock.advance(waits[-1])
    assert waits == [1, 2, 4, 8, 60]
    assert breaker.trouble is not None
