"""When a provider is given up, and when not; and for whom a wait counts that it asked for."""

import asyncio
from datetime import timedelta

from memoryd.domain.breaker import BreakerRule
from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.gate import EndpointBreaker
from memoryd.embed.remote.settings import Credentials
from memoryd.retry import Retry
from tests.fakes import FakeClock

AT_ONCE = BreakerRule(first_delay=0.0, longest_delay=0.0, failures_to_open=3)
PATIENT = BreakerRule(first_delay=1000.0, longest_delay=2000.0, jitter=0.0, failures_to_open=3)
ONE, OTHER = Credentials("one-key"), Credentials("other-key")
AWAY = CallError(FailureKind.UNAVAILABLE, "here: no connection")


def made(rule: BreakerRule, clock: FakeClock | None = None, *, is_admitted: bool = True) -> EndpointBreaker:
    retry = Retry(rule, clock=clock or FakeClock(), chance=lambda: 0.0)
    gate = EndpointBreaker(retry, hold=timedelta(seconds=30))
    gate.enter(ONE)
    if is_admitted:
        gate.admit()
    return gate


def fail(
    gate: EndpointBreaker,
    times: int = 1,
    error: CallError = AWAY,
    purpose: Purpose = Purpose.DOCUMENT,
    *,
    is_late: bool = False,
) -> None:
    for _ in range(times):
        gate.fails(error, purpose, started=gate.starts(), is_late=is_late)
        gate.gives_up(error)


async def test_it_is_given_up_after_as_many_failures_as_the_rule_says() -> None:
    gate = made(AT_ONCE)
    fail(gate, 2)
    assert gate.trouble is None
    fail(gate)
    assert gate.trouble == "here: no connection"
    await gate.given_up()


async def test_who_waits_for_it_to_be_given_up_is_told() -> None:
    gate = made(AT_ONCE)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        told = group.create_task(gate.given_up())
        for _ in range(3):
            await asyncio.sleep(0)
            assert not told.done()
            fail(gate)
    assert told.done()


def test_burst_is_one_failure() -> None:
    gate = made(PATIENT)
    began = [gate.starts() for _ in range(20)]
    clock_moved_on = [began_at - 1 for began_at in began]
    for started in (began[0], *clock_moved_on):
        gate.fails(AWAY, Purpose.DOCUMENT, started=started, is_late=False)
    assert gate.trouble is None


def test_success_of_a_probe_brings_it_back() -> None:
    gate = made(AT_ONCE)
    fail(gate, 3)
    gate.starts()
    gate.answered()
    assert gate.trouble is None


def test_question_is_refused_at_once_while_it_backs_off_and_not_while_a_call_has_tries_left() -> None:
    clock = FakeClock()
    gate = made(PATIENT, clock)
    gate.fails(AWAY, Purpose.DOCUMENT, started=gate.starts(), is_late=False)
    assert not gate.refuses_questions
    gate.gives_up(AWAY)
    assert gate.refuses_questions
    assert gate.wait(Purpose.QUERY) == 1000
    clock.advance(1000)
    assert not gate.refuses_questions
    gate.answered()
    assert gate.wait(Purpose.QUERY) == 0


def test_text_that_gets_no_vector_is_not_the_providers_failure() -> None:
    gate = made(AT_ONCE)
    for kind in (FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY):
        fail(gate, 9, CallError(kind, "400 no"))
    assert gate.trouble is None
    assert not gate.refuses_questions


def test_refusal_of_a_word_of_ours_is_its_failure() -> None:
    gate = made(AT_ONCE, is_admitted=False)
    fail(gate, 3, CallError(FailureKind.REFUSED, "400 no such region"))
    assert gate.trouble == "400 no such region"


def test_question_that_comes_too_late_while_documents_are_answered_is_load() -> None:
    gate = made(AT_ONCE)
    gate.answered()
    fail(gate, 9, purpose=Purpose.QUERY, is_late=True)
    assert gate.trouble is None
    fail(gate, 9, purpose=Purpose.DOCUMENT, is_late=True)
    assert gate.trouble is not None


def test_limit_of_documents_holds_no_question_and_a_limit_of_questions_holds_both() -> None:
    clock = FakeClock()
    gate = made(PATIENT, clock)
    fail(gate, error=CallError(FailureKind.BUSY, "429 tokens", retry_after=90.0))
    assert (gate.wait(Purpose.DOCUMENT), gate.wait(Purpose.QUERY)) == (90, 0)
    assert gate.trouble is None, "questions pass, so nobody has to stand in"
    fail(gate, error=CallError(FailureKind.BUSY, "429 requests", retry_after=120.0), purpose=Purpose.QUERY)
    assert (gate.wait(Purpose.DOCUMENT), gate.wait(Purpose.QUERY)) == (120, 120)
    assert gate.trouble == "429 requests", "so long a wait is worth a fallback"
    clock.advance(95)
    assert gate.trouble is None


def test_limit_of_an_account_is_kept_for_it_and_is_none_of_anothers() -> None:
    clock = FakeClock()
    gate = made(PATIENT, clock)
    fail(gate, error=CallError(FailureKind.BUSY, "429", retry_after=90.0))
    gate.enter(OTHER)
    assert gate.wait(Purpose.DOCUMENT) == 0
    gate.enter(Credentials("one-key", (("X-Team", "blue"),)))
    assert gate.wait(Purpose.DOCUMENT) == 90
    clock.advance(90)
    assert gate.wait(Purpose.DOCUMENT) == 0


def test_call_that_was_under_way_with_another_key_tells_nothing_of_this_one() -> None:
    clock = FakeClock()
    gate = made(AT_ONCE, clock)
    began = gate.starts()
    clock.advance(1)
    gate.enter(OTHER)
    for error in (AWAY, CallError(FailureKind.BUSY, "429", retry_after=90.0), AWAY):
        gate.fails(error, Purpose.QUERY, started=began, is_late=False)
    assert gate.trouble is None
    assert gate.wait(Purpose.QUERY) == 0


def test_wait_that_is_asked_of_everybody_outlives_another_key_and_failures_do_not() -> None:
    clock = FakeClock()
    gate = made(PATIENT, clock)
    fail(gate)
    gate.enter(OTHER)
    assert gate.wait(Purpose.QUERY) == 0
    clock.advance(1)
    fail(gate, error=CallError(FailureKind.UNAVAILABLE, "503 overloaded", retry_after=1500.0))
    assert gate.wait(Purpose.QUERY) == 1500
    gate.enter(ONE)
    assert gate.wait(Purpose.QUERY) == 1500


def test_failures_before_the_first_vector_back_off_though_the_endpoint_answers() -> None:
    clock = FakeClock()
    gate = made(BreakerRule(first_delay=1.0, longest_delay=60.0, jitter=0.0), clock, is_admitted=False)
    waits = []
    for _ in range(5):
        gate.starts()
        gate.answered()
        waits.append(gate.opening_failed("768 dimensions were asked for"))
        clock.advance(waits[-1])
    assert waits == [1, 2, 4, 8, 60]
    assert gate.trouble is not None
