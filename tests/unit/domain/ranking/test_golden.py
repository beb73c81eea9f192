"""Golden questions: parsing with reports of bad lines, and places that follow edits of notes."""

import pytest

from memoryd.domain.ranking.golden import (
    GoldenPlace,
    GoldenQuestion,
    LineSpan,
    accept_lines,
    golden_line,
    locate_answer,
    parse_golden,
    quote_of,
)

NOTE = "# House\n\nThe boiler was serviced\nby Quentin.\n\nThe shed is green.\n\nThe shed is green.\n"


def span(place: GoldenPlace, text: str = NOTE) -> tuple[int, int] | None:
    found = locate_answer(place, text)
    return None if found is None else (found.start, found.end)


def test_lines_parse_and_bad_ones_are_reported_by_number() -> None:
    text = (
        '\ufeff{"question": "Where is the shed?", "expect": ["memory/house.md#L6"]}\n'
        "// a remark\n\n"
        '{"question": "broken"\n'
        '{"question": "  ", "expect": []}\n'
        '{"question": "no expectation"}\n'
        '{"question": "where is  THE shed?", "expect": []}\n'
        '{"question": "typo", "expected": []}\n'
        '{"question": "bad lines", "expect": ["a.md#L9-L2"]}\n'
        '{"question": "nowhere", "expect": [{"quote": "x"}]}\n'
        '{"question": "Wie heißt der Mond?", "expect": [], "status": "guess"}\r\n'
    )
    found = parse_golden(text)
    assert [(line.number, line.golden.status) for line in found.lines] == [(1, "accepted"), (11, "guess")]
    assert [line.number for line in found.accepted] == [1]
    assert [problem.split()[1].rstrip(":") for problem in found.problems] == ["4", "5", "6", "7", "8", "9", "10"]
    assert "missing required field `expect`" in found.problems[2]
    assert found.problems[3] == "line 7: asks the same as line 1"
    assert "`expected`" in found.problems[4]
    assert parse_golden("") == parse_golden("\n \n")


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (GoldenPlace(path="a.md", quote="boiler was  SERVICED"), (3, 3)),
        (GoldenPlace(path="a.md", quote="serviced by Quentin"), (3, 4)),
        (GoldenPlace(path="a.md", quote="The shed is green."), (6, 6)),
        (GoldenPlace(path="a.md", quote="The shed is green.", lines="L9"), (8, 8)),
        (GoldenPlace(path="a.md", quote="The shed is red."), None),
        (GoldenPlace(path="a.md", lines="L3-L4"), (3, 4)),
        (GoldenPlace(path="a.md", lines="L30"), None),
        (GoldenPlace(path="a.md"), (1, 9)),
    ],
)
def test_place_is_located_in_note(place: GoldenPlace, lines: tuple[int, int] | None) -> None:
    assert span(place) == lines


def test_quote_is_found_after_edits_of_other_lines() -> None:
    place = GoldenPlace(path="a.md", quote="by Quentin.", lines="L4")
    assert span(place, "new\n" * 40 + NOTE) == (44, 44)
    assert span(place, NOTE.replace("by Quentin.", "  - BY quentin. He left.")) == (4, 4)


def test_citation_with_id_is_a_memory() -> None:
    golden = GoldenQuestion("q", ("memory/a.md#L5@1a2b3c4d", "memory/a.md#L5-L6"))
    assert golden.places == (GoldenPlace(memory="1a2b3c4d"), GoldenPlace(path="memory/a.md", lines="L5-L6"))


def test_accepting_a_guess_keeps_other_lines() -> None:
    guess = GoldenQuestion("锅炉 什么时候 保养?", (GoldenPlace(path="a.md", quote="十月"),), "guess")
    text = f'{{"question":   "odd", "expect": []}}\r\n{golden_line(guess)}\n{golden_line(guess)}'
    accepted = accept_lines(text, [2])
    assert [line.golden.status for line in parse_golden(accepted).lines] == ["accepted", "accepted"]
    assert accepted.split("\n")[0] == text.split("\n")[0]
    assert accepted.split("\n")[2] == text.split("\n")[2]


def test_quote_is_taken_from_first_line_with_words() -> None:
    assert quote_of(["", "---", "- **Bold** port 8443", "more"]) == "**Bold** port 8443"
    assert quote_of(["***", ""]) == ""
    long = "word " * 40
    quote = quote_of([long])
    assert len(quote) <= 80
    assert locate_answer(GoldenPlace(path="a.md", quote=quote), long) == LineSpan("a.md", 1, 1)
