"""When a provider is given up, and when not; and for whom a wait counts that it asked for."""

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


def made(rule: BreakerRule, clock: FakeClock | None = None, *, is_admitted: bool = True) -> EndpointBreaker:
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


async def test_it_is_given_up_after_as_many_failures_as_the_rule_says() -> None:
    breaker = made(AT_ONCE)
    fail(breaker, 2)
    assert breaker.trouble is None
    fail(breaker)
    assert breaker.trouble == "here: no connection"
    await breaker.wait_for_trouble()


async def test_who_waits_for_it_to_be_given_up_is_told() -> None:
    breaker = made(AT_ONCE)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        told = group.create_task(breaker.wait_for_trouble())
        for _ in range(3):
            await asyncio.sleep(0)
            assert not told.done()
            fail(breaker)
    assert told.done()


def test_burst_is_one_failure() -> None:
    breaker = made(PATIENT)
    began = [breaker.note_start() for _ in range(20)]
    clock_moved_on = [began_at - 1 for began_at in began]
    for started in (began[0], *clock_moved_on):
        breaker.note_failure(AWAY, Purpose.DOCUMENT, started=started, is_late=False)
    assert breaker.trouble is None


def test_success_of_a_probe_brings_it_back() -> None:
    breaker = made(AT_ONCE)
    fail(breaker, 3)
    breaker.note_start()
    breaker.note_answer()
    assert breaker.trouble is None


def test_question_is_refused_at_once_while_it_backs_off_and_not_while_a_call_has_tries_left() -> None:
    clock = FakeClock()
    breaker = made(PATIENT, clock)
    breaker.note_failure(AWAY, Purpose.DOCUMENT, started=breaker.note_start(), is_late=False)
    assert not breaker.refuses_questions
    breaker.note_exhausted(AWAY)
    assert breaker.refuses_questions
    assert breaker.wait(Purpose.QUERY) == 1000
    clock.advance(1000)
    assert not breaker.refuses_questions
    breaker.note_answer()
    assert breaker.wait(Purpose.QUERY) == 0


def test_text_that_gets_no_vector_is_not_the_providers_failure() -> None:
    breaker = made(AT_ONCE)
    for kind in (FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY):
        fail(breaker, 9, CallError(kind, "400 no"))
    assert breaker.trouble is None
    assert not breaker.refuses_questions


def test_refusal_of_a_word_of_ours_is_its_failure() -> None:
    breaker = made(AT_ONCE, is_admitted=False)
    fail(breaker, 3, CallError(FailureKind.REFUSED, "400 no such region"))
    assert breaker.trouble == "400 no such region"


def test_question_that_comes_too_late_while_documents_are_answered_is_load() -> None:
    breaker = made(AT_ONCE)
    breaker.note_answer()
    fail(breaker, 9, purpose=Purpose.QUERY, is_late=True)
    assert breaker.trouble is None
    fail(breaker, 9, purpose=Purpose.DOCUMENT, is_late=True)
    assert breaker.trouble is not None


def test_limit_of_documents_holds_no_question_and_a_limit_of_questions_holds_both() -> None:
    clock = FakeClock()
    breaker = made(PATIENT, clock)
    fail(breaker, error=CallError(FailureKind.BUSY, "429 tokens", retry_after=90.0))
    assert (breaker.wait(Purpose.DOCUMENT), breaker.wait(Purpose.QUERY)) == (90, 0)
    assert breaker.trouble is None, "questions pass, so nobody has to stand in"
    fail(breaker, error=CallError(FailureKind.BUSY, "429 requests", retry_after=120.0), purpose=Purpose.QUERY)
    assert (breaker.wait(Purpose.DOCUMENT), breaker.wait(Purpose.QUERY)) == (120, 120)
    assert breaker.trouble == "429 requests", "so long a wait is worth a fallback"
    clock.advance(95)
    assert breaker.trouble is None


def test_limit_of_an_account_is_kept_for_it_and_is_none_of_anothers() -> None:
    clock = FakeClock()
    breaker = made(PATIENT, clock)
    fail(breaker, error=CallError(FailureKind.BUSY, "429", retry_after=90.0))
    breaker.start_with(OTHER)
    assert breaker.wait(Purpose.DOCUMENT) == 0
    breaker.start_with(Credentials("one-key", (("X-Team", "blue"),)))
    assert breaker.wait(Purpose.DOCUMENT) == 90
    clock.advance(90)
    assert breaker.wait(Purpose.DOCUMENT) == 0


def test_call_that_was_under_way_with_another_key_tells_nothing_of_this_one() -> None:
    clock = FakeClock()
    breaker = made(AT_ONCE, clock)
    began = breaker.note_start()
    clock.advance(1)
    breaker.start_with(OTHER)
    for error in (AWAY, CallError(FailureKind.BUSY, "429", retry_after=90.0), AWAY):
        breaker.note_failure(error, Purpose.QUERY, started=began, is_late=False)
    assert breaker.trouble is None
    assert breaker.wait(Purpose.QUERY) == 0


def test_wait_that_is_asked_of_everybody_outlives_another_key_and_failures_do_not() -> None:
    clock = FakeClock()
    breaker = made(PATIENT, clock)
    fail(breaker)
    breaker.start_with(OTHER)
    assert breaker.wait(Purpose.QUERY) == 0
    clock.advance(1)
    fail(breaker, error=CallError(FailureKind.UNAVAILABLE, "503 overloaded", retry_after=1500.0))
    assert breaker.wait(Purpose.QUERY) == 1500
    breaker.start_with(ONE)
    assert breaker.wait(Purpose.QUERY) == 1500


def test_failures_before_the_first_vector_back_off_though_the_endpoint_answers() -> None:
    clock = FakeClock()
    breaker = made(BreakerRule(first_delay=1.0, longest_delay=60.0, jitter=0.0), clock, is_admitted=False)
    waits = []
    for _ in range(5):
        breaker.note_start()
        breaker.note_answer()
        waits.append(breaker.note_failed_opening("768 dimensions were asked for"))
        clock.advance(waits[-1])
    assert waits == [1, 2, 4, 8, 60]
    assert breaker.trouble is not None
