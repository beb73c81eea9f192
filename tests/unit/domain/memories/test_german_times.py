"""Times in German texts and questions."""

from datetime import date

import pytest

from memoryd.domain.memories.times.parsing import query_days, spans_in
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.text.dates import dates_in
from tests.waiting import soon

WEDNESDAY = date(2025, 11, 26)


def span(first: str, last: str = "") -> DaySpan:
    return DaySpan(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gestern war ich beim Zahnarzt.", span("2025-11-25")),
        ("vorgestern kam die Rechnung", span("2025-11-24")),
        ("Heute Abend kommt Anna.", span("2025-11-26")),
        ("morgen früh zum Bäcker", span("2025-11-27")),
        ("Morgen kommt der Klempner.", span("2025-11-27")),
        ("Übermorgen ist Elternabend", span("2025-11-28")),
        ("heute Nacht hat es gestürmt", span("2025-11-25")),
        ("letzte Woche", span("2025-11-17", "2025-11-23")),
        ("vorletzte Woche", span("2025-11-10", "2025-11-16")),
        ("im letzten Jahr", span("2024-01-01", "2024-12-31")),
        ("nächsten Monat", span("2025-12-01", "2025-12-31")),
        ("am Wochenende", span("2025-11-29", "2025-11-30")),
        ("letzten Sommer", span("2025-06-01", "2025-08-31")),
        ("im Herbst 2023", span("2023-09-01", "2023-11-30")),
        ("der Klempner kommt am Montag", span("2025-12-01")),
        ("am Montag war der Klempner da", span("2025-11-24")),
        ("nächsten Dienstag um drei", span("2025-12-02")),
        ("Freitagabend im Kino gewesen", span("2025-11-28")),
        ("Montag bis Mittwoch", span("2025-11-24", "2025-11-26")),
        ("vor drei Wochen", span("2025-11-03", "2025-11-09")),
        ("vor einem Monat", span("2025-10-01", "2025-10-31")),
        ("in zwei Tagen", span("2025-11-28")),
        ("seit drei Wochen", span("2025-11-05", "2025-11-26")),
        ("seit dem 5. November", span("2025-11-05", "2025-11-26")),
        ("bis zum 3.12.", span("2025-11-26", "2025-12-03")),
        ("5. November 2024", span("2024-11-05")),
        ("am 05.11.2024", span("2024-11-05")),
        ("Freitag, 5.12.", span("2025-12-05")),
        ("vom 3. bis 5. Dezember", span("2025-12-03", "2025-12-05")),
        ("vom 3. bis zum 5.12.2026", span("2026-12-03", "2026-12-05")),
        ("vom 11.12. bis 13.12.", span("2025-12-11", "2025-12-13")),
        ("Skifreizeit 11.12. bis 13.12. in Todtnau", span("2025-12-11", "2025-12-13")),
        ("Messe 11.12.–13.12.", span("2025-12-11", "2025-12-13")),
        ("5.–7. Mai 2026", span("2026-05-05", "2026-05-07")),
        ("seit dem 2. Quartal", span("2025-04-01", "2025-11-26")),
        ("zwischen dem 3. und 9. Mai", span("2026-05-03", "2026-05-09")),
        ("im März", span("2026-03-01", "2026-03-31")),
        ("Anfang Januar", span("2026-01-01", "2026-01-10")),
        ("Ende 2024", span("2024-09-01", "2024-12-31")),
        ("bis Ende des Monats", span("2025-11-21", "2025-11-30")),
        ("im 1. Quartal 2026", span("2026-01-01", "2026-03-31")),
    ],
)
def test_text_has_expected_span(text: str, expected: DaySpan) -> None:
    assert spans_in(text, WEDNESDAY) == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "Guten Morgen!",
        "Morgen zusammen",
        "am Morgen trinke ich Tee",
        "jeden Dienstag Geige",
        "montags und mittwochs Schwimmen",
        "Version 1.2.3 von gestrigem Stand",
        "Raum 5.11. im Keller",
        "der Tag war lang",
        "Das heute-journal lief.",
        "am 31.2. passiert nichts",
        "im Garten",
    ],
)
def test_text_that_resembles_a_time_has_no_span(text: str) -> None:
    assert spans_in(text, WEDNESDAY) == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was war gestern los?", span("2025-11-25")),
        ("Was haben wir letzte Woche gekauft?", span("2025-11-17", "2025-11-23")),
        ("Was habe ich am Montag gemacht?", span("2025-11-24")),
        ("Wer kommt am Freitag?", span("2025-11-28")),
        ("Was machen wir am Wochenende?", span("2025-11-29", "2025-11-30")),
        ("Was steht nächste Woche an?", span("2025-12-01", "2025-12-07")),
        ("Was ist am 12. Dezember?", span("2025-12-12")),
        ("Ist am 12.12. was geplant?", span("2025-12-12")),
        ("Welche Termine haben wir im Dezember?", span("2025-12-01", "2025-12-31")),
        ("Was ist seit dem 5. November passiert?", DaySpan(date(2025, 11, 5), date.max)),
    ],
)
def test_question_has_expected_days(question: str, expected: DaySpan) -> None:
    found = query_days(question, WEDNESDAY)
    assert found is not None
    assert found.span == expected


def test_plan_beside_a_question_is_ignored() -> None:
    assert query_days("Wo ist der Schlüssel? Ich brauche ihn morgen.", WEDNESDAY) is None


def test_date_matches_names_of_notes() -> None:
    for text in ("am 5. März 2026", "am 05.03.2026"):
        (found,) = dates_in(text)
        assert ("2026", "03", "05") in found.file_name_spellings


@pytest.mark.parametrize("piece", ["hat ", "am ", "vor drei ", "3. bis ", "morgen ", "habe ge", "im 5.", "letzten "])
def test_hostile_text_is_parsed_in_linear_time(piece: str) -> None:
    with soon():
        spans_in("gestern " + piece * (20_000 // len(piece)), WEDNESDAY)
