"""Lines that a message outdates without a known form."""

import pytest

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture.capture import CaptureVerdict
from memoryd.domain.memories.capture.lines import Candidate, memory_words
from memoryd.domain.memories.capture.outdating import rank_outdated, rows_of
from memoryd.domain.memories.capture.renewal import OUTDATES
from memoryd.domain.memories.capture.values import Rarity
from memoryd.domain.memories.generated import message_about, message_alone, subject_line
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance
from tests.unit.domain.memories.books import book_from
from tests.unit.domain.memories.capture import test_passing_corrections as passing
from tests.unit.domain.memories.capture.test_revisions import NOTES, superseded

LINES = [
    "W @Home: I live in Wymondham.",
    "W @Market: The market stall is on Wednesdays.",
    "W @Bakery: I bake croissants every Sunday.",
    "W @Camera: My camera is a Nikon Z6.",
    "W @Dog: Our dog is called Biscuit.",
    "W @Rent: The rent is 700 pounds a month.",
    "W @房租: 房租每个月七千二。",
    "W @班会: 班会在周四。",
]


def captured(message: str, answer: str = "", *lines: str, may_supersede: bool = True) -> tuple[CaptureVerdict, Book]:
    return passing.captured(message, [*lines] or LINES, answer, may_supersede=may_supersede)


@pytest.mark.parametrize(
    ("message", "answer", "text", "old"),
    [
        (
            "finally sold the nikon, shooting on a Fuji X-T5",
            "",
            "finally sold the nikon, shooting on a Fuji X-T5 (said of: My camera is a Nikon Z6.)",
            "My camera is a Nikon Z6.",
        ),
        (
            "rent's gone up again, seven eighty from june",
            "",
            "rent's gone up again, seven eighty from june (said of: The rent is 700 pounds a month.)",
            "The rent is 700 pounds a month.",
        ),
        ("房租又涨了，七千八了", "", "房租又涨了，七千八了（说的是：房租每个月七千二。）", "房租每个月七千二。"),
    ],
)
def test_message_is_captured_with_the_line_it_outdates(message: str, answer: str, text: str, old: str) -> None:
    verdict, book = captured(message, answer)

    assert [(item.text, item.kind, item.form) for item in verdict.items] == [(text, Kind.WORLD, OUTDATES)]
    assert superseded(verdict, book) == [old]
    assert verdict.items[0].entities == book.find(verdict.items[0].supersedes[0]).line.entities


FURTHER = [
    "W @Miete: Der Vermieter heißt Herr Adler.",
    "W @Home: The boiler is a Worcester Bosch, made in May.",
    "W @Clinic: My GP sends a text.",
]


@pytest.mark.parametrize(
    ("message", "heard", "old"),
    [
        ("no, the boiler is a Vaillant", "It is a Worcester Bosch.", "The boiler is a Worcester Bosch, made in May."),
        ("No, the dog is called Waffle.", "Biscuit is your dog.", "Our dog is called Biscuit."),
        (
            "nein, der Vermieter ist jetzt die Hausverwaltung Brandt, Adler hat verkauft",
            "Sehr geehrter Herr Adler, die Heizung ist kalt.",
            "Der Vermieter heißt Herr Adler.",
        ),
        ("letters, since I got the new phone", "Your GP sends a text.", "My GP sends a text."),
    ],
)
def test_correction_of_answer_supersedes_line(message: str, heard: str, old: str) -> None:
    verdict, book = captured(message, heard, *LINES, *FURTHER)

    assert [(item.kind, item.form) for item in verdict.items] == [(Kind.WORLD, OUTDATES)]
    assert superseded(verdict, book) == [old]


@pytest.mark.parametrize(
    "message",
    [
        "I meant the other branch, not develop",
        "I meant the release branch, not develop",
        "no, the other branch, not develop",
        "nein, den anderen Branch, nicht develop",
    ],
)
def test_clarified_request_is_not_captured(message: str) -> None:
    lines = ["W @Kestrel: The default branch is develop.", "W @Kestrel: Branches from develop are merged by Marek."]

    verdict, _ = captured(message, "I deleted it.", *lines)

    assert not verdict.items


@pytest.mark.parametrize(
    "message", ["we moved house on Saturday! now in Headingley", "moved house, we're in Otley now"]
)
def test_move_outdates_nothing_about_a_house(message: str) -> None:
    verdict, _ = captured(
        message, "", *LINES, "W @House: The house insurance is with LV.", "W @House: The house is damp."
    )

    assert not verdict.items


ADDED_TO = [
    "W @Otis: Otis is allergic to kiwi.",
    "W @Merle: Merle ist gegen Haselnüsse allergisch.",
    "W @School: The school run is shared with Tamsin, she does Wednesdays.",
    "W @Merle: Tochter Merle hat dienstags Klarinette bei Frau Hopf.",
]


@pytest.mark.parametrize(
    "message",
    [
        "Otis is allergic to strawberries too",
        "Otis is allergic to strawberries",
        "Merle ist auch gegen Milch allergisch",
        "Merle ist gegen Milch allergisch",
    ],
)
def test_further_allergy_is_kept_beside_the_first(message: str) -> None:
    verdict, _ = captured(message, "Okay.", *ADDED_TO)

    assert [(item.text, item.supersedes, item.contradicts) for item in verdict.items] == [(message, (), ())]


@pytest.mark.parametrize(
    "message",
    [
        "Tamsin's off sick so I'm doing Wednesday",
        "Tamsin can't do Wednesday, I'm doing it",
        "Frau Hopf ist krank, Klarinette fällt aus",
        "Frau Hopf kann am Dienstag nicht, Klarinette fällt aus",
    ],
)
def test_absence_outdates_nothing(message: str) -> None:
    assert not captured(message, "Okay.", *ADDED_TO)[0].items


def test_allergy_that_was_wrong_or_is_over_is_still_outdated() -> None:
    for message in ("no, Otis is allergic to strawberries", "Otis is no longer allergic to kiwi"):
        verdict, book = captured(message, "Otis is allergic to kiwi.", *ADDED_TO)
        assert superseded(verdict, book) == ["Otis is allergic to kiwi."], message


def test_next_message_names_the_first_line() -> None:
    line = "W @Camera: camera's a Fuji now, sold the Nikon (said of: My camera is a Nikon Z6.)"
    verdict, book = captured("back to the nikon, the fuji was rubbish", "", line)

    assert [item.text for item in verdict.items] == [
        "back to the nikon, the fuji was rubbish (said of: My camera is a Nikon Z6.)"
    ]
    assert superseded(verdict, book) == [line.partition(": ")[2]]


@pytest.mark.parametrize(
    "message",
    [
        "did we finally sell the nikon, are we shooting on a Fuji X-T5?",
        "on which day did I sell the nikon and get a Fuji",
        "finally sold the nikon, shooting on a Fuji X-T5 " * 8,
        "finally sold\n\nthe nikon\n\nshooting on a Fuji",
        "por fin vendí la nikon, ahora hago todas las fotos con una Fuji",
        "finally sold the nikon, shooting on a Fuji X-T5 (said of: nobody)",
        'my brother says: "finally sold the nikon, shooting on a Fuji X-T5"',
        "translate: finally sold the nikon, shooting on a Fuji",
        "finally sold the nikon, my password for the Fuji is biscuit",
    ],
)
def test_question_story_or_foreign_text_outdates_nothing(message: str) -> None:
    verdict, _ = captured(message)
    assert [item for item in verdict.items if item.supersedes or item.contradicts] == []


@pytest.mark.parametrize(
    "message",
    [
        "Lou says we finally sold the nikon, shooting on a Fuji X-T5 now",
        "finally sold the nikon, Lou told me. shooting on a Fuji X-T5",
    ],
)
def test_reported_news_contradicts_a_line(message: str) -> None:
    verdict, book = captured(message)
    assert [(item.text, item.supersedes, book.find(item.contradicts[0]).text) for item in verdict.items] == [
        (f"{message} (said of: My camera is a Nikon Z6.)", (), "My camera is a Nikon Z6.")
    ]


def test_pinned_line_is_contradicted_and_group_outdates_nothing() -> None:
    message = "finally sold the nikon, shooting on a Fuji X-T5"
    verdict, book = captured(message, "", "W(pin) @Camera: My camera is a Nikon Z6.")
    assert [(item.supersedes, book.find(item.contradicts[0]).text) for item in verdict.items] == [
        ((), "My camera is a Nikon Z6.")
    ]
    assert captured(message, may_supersede=False)[0].items == ()


def test_provenance_is_kept_and_secret_line_not_repeated() -> None:
    message = "finally sold the nikon, shooting on a Fuji X-T5"
    (item,) = captured(message, "", "W(from=agent) @Camera: My camera is a Nikon Z6.")[0].items
    assert item.provenance is Provenance.AGENT
    assert captured(message, "", "W @Camera: My camera is a Nikon Z6, password hunter2.")[0].items == ()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("The market stall is on Fridays now.", "The market stall is on Fridays now."),
        ("Correction: the market stall is on Tuesdays.", "Correction: the market stall is on Tuesdays."),
    ],
)
def test_correction_supersedes_message_about_a_line(message: str, text: str) -> None:
    line = "thursdays now, council swapped us (said of: The market stall is on Wednesdays.)"
    verdict, book = captured(message, "", f"W @Market: {line}")

    assert superseded(verdict, book) == [line]
    assert [item.text for item in verdict.items] == [text]


@pytest.mark.parametrize(
    ("reply", "answer", "line"),
    [
        ("gave up, too tired", "You could take Biscuit for a walk first.", "Our dog is called Biscuit."),
        ("finished it, off to bed", "You are allergic to penicillin, mind.", "I am allergic to penicillin."),
        ("ended up at the pub instead", "The market stall is on Wednesday.", "The market stall is on Wednesdays."),
        ("太累了，先睡了", "明天班会在周四。", "班会在周四。"),
    ],
)
def test_reply_to_answer_with_the_line_outdates_nothing(reply: str, answer: str, line: str) -> None:
    assert captured(reply, answer, f"W: {line}")[0].items == ()


def test_message_and_its_line_can_be_separated() -> None:
    text = message_about("thursdays now", "The stall is\non (all) Wednesdays.")
    assert text == "thursdays now (said of: The stall is on (all) Wednesdays.)"
    assert (message_alone(text), subject_line(text)) == ("thursdays now", "The stall is on (all) Wednesdays.")
    assert message_about("fridays", text) == "fridays (said of: The stall is on (all) Wednesdays.)"
    assert (message_alone("plain"), subject_line("plain")) == ("plain", "")


def candidates(*texts: str) -> tuple[list[Candidate], Rarity]:
    book = book_from({NOTES: [f"W: {text}" for text in texts]})
    lines = [Candidate(one, one.text, memory_words(one.text, ())) for one in book.memories.values()]
    counts = {word: sum(word in line.words for line in lines) for line in lines for word in line.words}
    return lines, Rarity(counts, len(lines))


def test_message_has_features_for_each_line() -> None:
    lines, rarity = candidates("The rent is 900 euros.", "Biscuit is a beagle.")
    rent, dog = (set(row) for row in rows_of("rent went up to 950 euros", "", lines, rarity))

    assert {"=", "went", "up to", "to ≠", "≠ $", "other value", "most", "+went"} <= rent
    assert {"rent", "went", "nothing"} & dog == {"rent", "went"}
    assert "other value" not in dog


def test_words_of_answer_and_unknown_names_are_features() -> None:
    lines, rarity = candidates("The vet is Dr Moss.")
    (row,) = rows_of("Helen took the parrot there", "The vet wants the parrot.", lines, rarity)
    assert {"N took", "the ~", "~ there"} <= set(row)


def test_lines_are_ranked_by_odds() -> None:
    lines, rarity = candidates("My camera is a Nikon Z6.", "Our dog is called Biscuit.")
    found = rank_outdated("finally sold the nikon, shooting on a Fuji X-T5", "", lines, rarity)

    assert [one.candidate.text for one in found] == ["My camera is a Nikon Z6.", "Our dog is called Biscuit."]
    assert found[0].weight > 0 > found[1].weight


def test_ranking_does_not_depend_on_order_of_lines() -> None:
    lines, rarity = candidates(
        "I bake croissants every Sunday.", "Our dog is called Biscuit.", "The rent is 900 euros."
    )
    message = "no croissants on sundays anymore"
    assert rank_outdated(message, "", lines, rarity) == rank_outdated(message, "", lines[::-1], rarity)


@pytest.mark.parametrize("answer", ["Okay.", "Your invoice for the Harpers is ready, shall I send it?"])
def test_answer_about_something_else_changes_no_odds(answer: str) -> None:
    lines, rarity = candidates("My camera is a Nikon Z6.", "Our dog is called Biscuit.")
    message = "finally sold the nikon, shooting on a Fuji X-T5"
    assert rank_outdated(message, answer, lines, rarity) == rank_outdated(message, "", lines, rarity)
