"""Statements about other times, things or events that did not happen supersede nothing."""

import pytest

from tests.unit.domain.memories.capture.test_revisions import revise, superseded

BOTH_TRUE = [
    ("The pool opens at 6.", "The pool opens at 8 on Sundays now."),
    ("The pool opens at 6 in summer.", "The pool now opens at 9 in winter."),
    ("The pool opens at 6 on weekdays.", "The pool opens at 8 on Sundays now."),
    ("The stall costs 40 for locals.", "The stall costs 60 for visitors now."),
]
DENIED = [
    ("The logs are kept in Loki.", "We almost switched the logs from Loki to Elastic, but no."),
    ("The logs are kept in Loki.", "We haven't moved the logs from Loki to Elastic yet."),
    ("The logs are kept in Loki.", "We are not moving the logs from Loki to Elastic."),
    ("Lotte mag keine Erbsen.", "Lotte braucht nachts keine Windel mehr"),
    ("Die Logs liegen in Loki.", "Wir sind noch nicht von Loki auf Elastic umgestiegen."),
]
OTHER_THINGS = [
    ("Our van is a Caddy.", "They sold the Caddy before I got there"),
    ("Training is on Tuesdays at 7.", "no, Wednesday is my birthday"),
    ("Training is on Tuesdays at 7.", "no, I'm up at 8:30"),
    ("Training is on Tuesdays at 7.", "nope, I'm off on Thursday"),
    ("周会在星期一。", "不对，周三我请假"),
    ("小武送面粉。", "小武不管账了，现在管账的是大宝。"),
]


@pytest.mark.parametrize(("memory", "message"), BOTH_TRUE)
def test_statement_about_other_time_or_people_is_captured_beside(memory: str, message: str) -> None:
    verdict, _ = revise(message, f"W: {memory}")

    assert [(item.text, item.supersedes, item.contradicts) for item in verdict.items] == [(message, (), ())]


@pytest.mark.parametrize(("memory", "message"), [*DENIED, *OTHER_THINGS])
def test_denied_change_or_other_thing_revises_nothing(memory: str, message: str) -> None:
    verdict, _ = revise(message, f"W: {memory}", answer=memory)

    assert [one for item in verdict.items for one in (*item.supersedes, *item.contradicts)] == []


def test_ended_activity_is_captured_literally() -> None:
    verdict, _ = revise("Training is over, I'm home at 9.", "W: Training is on Tuesdays at 7.")

    assert [item.text for item in verdict.items] == ["Training is over, I'm home at 9."]


def test_reply_about_own_time_revises_the_thing() -> None:
    memory = "The tablets are taken in the morning."
    verdict, book = revise("no, I take them at bedtime", f"W: {memory}", answer=memory)

    assert superseded(verdict, book) == [memory]
