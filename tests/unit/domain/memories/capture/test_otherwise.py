"""What a plain statement says otherwise than a memory is kept, and both are doubted; what is over or done, too."""

import pytest

from tests.unit.domain.memories.capture.test_revisions import revised, superseded

DOUBTED = [
    ("The bakery closes at 4 on Sundays.", "we close at 3 on sundays, have done for ages"),
    ("Kim comes along to Porto.", "kim can't make porto after all"),
    ("I train at FitBox on Mill Lane.", "cancelled fitbox, I'm at the boulder hall in Dock Street now"),
    ("The soup of the week is lentil, leek and pumpkin.", "we swapped the leek for carrot in the soup of the week"),
    ("Kim's passport still has to be renewed.", "Kim's passport is renewed, it came in the post"),
    ("割接定在周三凌晨两点。", "割接推迟一天，周四凌晨两点"),
]
BOTH_HOLD = [
    ("The pool opens at 6.", "The pool opens at 8 on Sundays now."),
    ("The pool opens at 6 in summer.", "The pool now opens at 9 in winter."),
    ("The pool opens at 6 on weekdays.", "The pool opens at 8 on Sundays now."),
    ("The stall costs 40 for locals.", "The stall costs 60 for visitors now."),
]
NOT_SO = [
    ("The logs are kept in Loki.", "We almost switched the logs from Loki to Elastic, but no."),
    ("The logs are kept in Loki.", "We haven't moved the logs from Loki to Elastic yet."),
    ("The logs are kept in Loki.", "We won't switch the logs from Loki to Elastic."),
    ("The logs are kept in Loki.", "We are not moving the logs from Loki to Elastic."),
    ("The chat is on Zulip.", "We switched the chat from Zulip to Slack and back again."),
    ("Alex works from home on Thursdays.", "This Thursday Alex is not working from home."),
    ("Lotte mag keine Erbsen.", "Lotte braucht nachts keine Windel mehr"),
    ("Die Logs liegen in Loki.", "Wir sind noch nicht von Loki auf Elastic umgestiegen."),
]
OF_OTHER_THINGS = [
    ("Kim is getting married on 14 March in Otley.", "Kim is back on 28 March."),
    ("The API listens on port 8443.", "The API isn't responding on port 8443."),
    ("My sister's van is a Caddy.", "Kim's bike is sold"),
    ("The pool opens at 6.", "I was at the pool at 7."),
    ("The pool opens at 6.", "Does the pool open at 7 now?"),
    ("Kim comes along to Porto.", "Porto was great, Kim took 200 photos"),
    ("小武送面粉。", "小武不管账了，现在管账的是大宝。"),
]
REVISED = [
    ("Kim's riding lesson costs 22 pounds.", "Kim's riding lessons have gone up to 26 quid", ""),
    ("Our van is a Caddy.", "the Caddy is sold", ""),
    ("Kim wears glasses at school.", "Kim doesn't need her glasses anymore", ""),
    ("The vet opens at 9 on weekdays.", "nah they open half 8", "The vet opens at 9 on weekdays."),
    ("Training is on Tuesdays at 7.", "nope, thursdays since the lights broke", "Training is on Tuesdays at 7."),
    ("Lotte braucht nachts eine Windel.", "Lotte braucht nachts keine Windel mehr", ""),
    ("The rent is 1,850 pounds a month.", "The rent is now 1,990 pounds a month", ""),
]


@pytest.mark.parametrize(("memory", "message"), DOUBTED)
def test_what_is_said_otherwise_is_kept_and_doubted(memory: str, message: str) -> None:
    verdict, book = revised(message, f"W: {memory}")

    assert [book.found(one).line.text for item in verdict.kept for one in item.contradicts] == [memory]
    assert superseded(verdict, book) == []


@pytest.mark.parametrize(("memory", "message"), BOTH_HOLD)
def test_what_is_said_of_another_time_or_for_others_holds_beside(memory: str, message: str) -> None:
    verdict, _ = revised(message, f"W: {memory}")

    assert [(item.text, item.supersedes, item.contradicts) for item in verdict.kept] == [(message, (), ())]


@pytest.mark.parametrize(("memory", "message"), [*NOT_SO, *OF_OTHER_THINGS])
def test_what_is_not_so_or_of_another_thing_says_nothing_of_a_memory(memory: str, message: str) -> None:
    verdict, _ = revised(message, f"W: {memory}")

    assert [one for item in verdict.kept for one in (*item.supersedes, *item.contradicts)] == []


@pytest.mark.parametrize(("memory", "message", "answer"), REVISED)
def test_value_in_other_words_takes_the_place_of_the_old_one(memory: str, message: str, answer: str) -> None:
    verdict, book = revised(message, f"W: {memory}", answer=answer)

    assert superseded(verdict, book) == [memory]
