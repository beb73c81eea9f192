"""Short messages that correct what their author said just before."""

import pytest

from memoryd.domain.memories.capture.capture import CaptureVerdict
from tests.unit.domain.memories.books import book_from
from tests.unit.domain.memories.capture.test_revisions import NOTES, verdict_on

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
NO_CORRECTIONS = [
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
"""Denials of another value, orders, questions and other remarks."""


def revise(message: str, memory: str, *, said_before: str, answer: str = ANSWER) -> CaptureVerdict:
    lines = [f"- W: {one}" for one in OTHERS]
    book = book_from({NOTES: lines, "memory/2026-11-23.md": [f"- note: {memory}"]})
    return verdict_on(message, book, answer=answer, said_before=said_before)


@pytest.mark.parametrize("answer", [ANSWER, ""])
@pytest.mark.parametrize(("memory", "message", "expected"), CORRECTED)
def test_correction_of_last_message_supersedes_it(memory: str, message: str, expected: str, answer: str) -> None:
    (item,) = revise(message, memory, said_before=f"Hello! {memory}.", answer=answer).items

    assert (item.text, len(item.supersedes)) == (expected, 1)


@pytest.mark.parametrize(
    ("memory", "question", "answer", "message", "expected"),
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
def test_short_answer_is_corrected_with_help_of_the_question(
    memory: str, question: str, answer: str, message: str, expected: str
) -> None:
    (item,) = revise(message, memory, said_before=question, answer=answer).items

    assert (item.text, len(item.supersedes)) == (expected, 1)


@pytest.mark.parametrize("message", NO_CORRECTIONS)
def test_other_remark_supersedes_nothing(message: str) -> None:
    assert not [item for item in revise(message, SWIMMING, said_before=SWIMMING).items if item.supersedes]


def test_remark_without_a_value_is_ignored() -> None:
    home = "My sister lives in Ghent"
    assert not revise("wait, it's in German", home, said_before=home).items


@pytest.mark.parametrize(
    "said_before", ["", "move the team lunch to Monday, please", "is the swim class on Monday at 16:00?"]
)
def test_memory_from_earlier_message_is_not_corrected(said_before: str) -> None:
    assert not revise("no, on Tuesday", SWIMMING, said_before=said_before).items


@pytest.mark.parametrize("answer", ["Should I call Dr. Weiss?", "Is your landlord Dr. Weiss?"])
def test_no_to_a_question_supersedes_nothing(answer: str) -> None:
    assert not revise("no, Dr. Brand", DENTIST, said_before="", answer=answer).items


def test_wrong_answer_may_be_denied_by_its_value() -> None:
    (item,) = revise(
        "no, Tuesday, not Monday", SWIMMING, said_before="", answer="The swim class is on Monday at 16:00."
    ).items

    assert item.text == "remember that the swim class is on Tuesday at 16:00"
