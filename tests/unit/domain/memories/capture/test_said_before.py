"""A message that corrects what its author said just before: its few words name a value alone, and deny one at most."""

from datetime import date

import pytest

from memoryd.domain.memories.capture.capture import CaptureVerdict, capture_message
from memoryd.domain.memories.capture.renewal import with_revisions
from memoryd.domain.memories.capture.revisions import revisions_of
from tests.unit.domain.memories.books import book_from

SWIMMING = "remember that the swim class is on Monday at 16:00"
DENTIST = "My dentist is Dr. Weiss"
PHONE = "记住，老师的电话是13900001111"
KLEMPNER = "Vergiss nicht: Der Klempner kommt am Montag zwischen 8 und 10 Uhr"
TONNE = "Merk dir, dass die Mülltonne am Montag geleert wird"
BINS = "remember that the bins are emptied on Tuesdays"
OTHERS = ["The stand-up is at 9:30.", "The choir rehearses on Monday.", "My doctor is Dr. Ames."]
ANSWER = "Noted."
CORRECTED = [
    (SWIMMING, "no, Tuesday, not Monday", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "No, it's Tuesday.", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "it's Tuesday, not Monday", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "Tuesday, not Monday!", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "sorry, I meant Tuesday", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "oops, Tuesday", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "oh wait, it's on Tuesday!", "remember that the swim class is on Tuesday at 16:00"),
    (SWIMMING, "they moved it to 17:30", "remember that the swim class is on Monday at 17:30"),
    (DENTIST, "no, Dr. Weber, not Dr. Weiss", "My dentist is Dr. Weber"),
    (DENTIST, "no, Dr. Weber", "My dentist is Dr. Weber"),
    (KLEMPNER, "nein, doch Dienstag", "Vergiss nicht: Der Klempner kommt am Dienstag zwischen 8 und 10 Uhr"),
    (KLEMPNER, "ach nein, Dienstag", "Vergiss nicht: Der Klempner kommt am Dienstag zwischen 8 und 10 Uhr"),
    (PHONE, "不对，是13900002222", "记住，老师的电话是13900002222"),
]
OTHERWISE = [
    "no, Wednesday, not Tuesday",
    "no, remind me on Tuesday",
    "what about Tuesday?",
    "and the party is on Tuesday",
    "no, thanks",
    "sorry, it is late, let us talk on Tuesday",
    "actually, I have to work on Tuesday",
    "I meant the other file",
    "I meant to call you on Tuesday",
    "no lunch on Tuesday",
    "sorry, no time on Tuesday",
    "Sorry about Tuesday",
    "wait till Tuesday!",
    "actually, great Tuesday",
    "oops, it's 17:00 already",
    "wait, it's 17:00",
    "wait, it's already 5 pm!",
    "oops, late for 17:00",
]
"""What denies another value, orders, asks, or says something else."""


def revised(message: str, memory: str, *, said: str, answer: str = ANSWER) -> CaptureVerdict:
    lines = [f"- W: {one}" for one in OTHERS]
    return with_revisions(
        capture_message(message, answer_before=answer),
        [*revisions_of(message, has_answer=bool(answer or said))],
        book_from({"memory/2026-11-01.md": lines, "memory/2026-11-23.md": [f"- note: {memory}"]}),
        text=message,
        answer_before=answer,
        said_before=said,
        day=date(2026, 11, 23),
    )


@pytest.mark.parametrize("answer", [ANSWER, ""])
@pytest.mark.parametrize(("memory", "message", "now"), CORRECTED)
def test_correction_of_what_was_just_said_supersedes_it(memory: str, message: str, now: str, answer: str) -> None:
    (item,) = revised(message, memory, said=f"Hello! {memory}.", answer=answer).items

    assert (item.text, len(item.supersedes)) == (now, 1)


@pytest.mark.parametrize(
    ("memory", "question", "answer", "message", "now"),
    [
        (BINS, "which day are the bins emptied?", "On Tuesdays.", "no, Wednesdays", BINS.replace("Tues", "Wednes")),
        (
            BINS,
            "what about the bins?",
            "They are emptied on Tuesdays.",
            "No, Wednesdays.",
            BINS.replace("Tues", "Wednes"),
        ),
        (TONNE, "wann wird die Mülltonne geleert?", "Am Montag.", "Nein, am Dienstag.", TONNE.replace("Mon", "Diens")),
    ],
)
def test_short_answer_is_corrected_by_what_was_asked(
    memory: str, question: str, answer: str, message: str, now: str
) -> None:
    (item,) = revised(message, memory, said=question, answer=answer).items

    assert (item.text, len(item.supersedes)) == (now, 1)


@pytest.mark.parametrize("message", OTHERWISE)
def test_what_corrects_nothing_that_was_said_supersedes_nothing(message: str) -> None:
    assert not [item for item in revised(message, SWIMMING, said=SWIMMING).items if item.supersedes]


def test_remark_without_a_value_is_none_that_was_said_before() -> None:
    home = "My sister lives in Ghent"
    assert not revised("wait, it's in German", home, said=home).items


@pytest.mark.parametrize("said", ["", "move the team lunch to Monday, please", "is the swim class on Monday at 16:00?"])
def test_memory_that_was_not_said_just_before_is_left_alone(said: str) -> None:
    assert not revised("no, on Tuesday", SWIMMING, said=said).items


@pytest.mark.parametrize("answer", ["Should I call Dr. Weiss?", "Is your landlord Dr. Weiss?"])
def test_no_to_a_question_of_something_else_with_the_same_value_supersedes_nothing(answer: str) -> None:
    assert not revised("no, Dr. Brand", DENTIST, said="", answer=answer).items


def test_what_an_answer_got_wrong_may_be_denied_by_its_value() -> None:
    (item,) = revised(
        "no, Tuesday, not Monday", SWIMMING, said="", answer="The swim class is on Monday at 16:00."
    ).items

    assert item.text == "remember that the swim class is on Tuesday at 16:00"
