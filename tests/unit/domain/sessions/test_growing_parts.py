"""Parts of a growing conversation: line numbers, limits, and independence of the steps of reading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.sessions.conversation_parts import (
    MAX_GAP,
    PART_CHARS,
    PART_SPOKEN,
    ConversationLine,
    ConversationPart,
    answered_share,
    appended_parts,
)
from memoryd.domain.sessions.transcripts.records import folded


def spoken(*numbers: int, text: str = "User: and then?") -> list[ConversationLine]:
    return [ConversationLine(number, f"{text} {number}", number) for number in numbers]


def lines_of(parts: list[ConversationPart]) -> dict[int, str]:
    found = enumerate_lines(parts)
    return {number: text for number, text in found if text}


def enumerate_lines(parts: list[ConversationPart]) -> list[tuple[int, str]]:
    return [pair for part in parts for pair in enumerate(part.text.split("\n"), start=part.first_line)]


def test_lines_keep_their_numbers_with_empty_ones_between() -> None:
    (part,) = appended_parts(None, spoken(3, 4, 7))
    assert part.first_line == 3
    assert part.text.split("\n") == ["User: and then? 3", "User: and then? 4", "", "", "User: and then? 7"]
    assert (part.last_line, part.spoken, part.last_ns) == (7, 3, 7)


def test_part_grows_up_to_its_limits() -> None:
    parts = appended_parts(None, spoken(*range(1, 2 * PART_SPOKEN + 2)))
    assert [part.spoken for part in parts] == [PART_SPOKEN, PART_SPOKEN, 1]
    large = appended_parts(None, [ConversationLine(1, "x" * PART_CHARS), ConversationLine(2, "y")])
    assert [part.first_line for part in large] == [1, 2]


def test_long_gap_ends_a_part() -> None:
    parts = appended_parts(None, spoken(1, 1 + MAX_GAP, 2 + 2 * MAX_GAP, 1_000_000_000))
    assert [part.first_line for part in parts] == [1, 2 + 2 * MAX_GAP, 1_000_000_000]
    assert sum(len(part.text) for part in parts) < 3 * MAX_GAP


def test_line_without_time_keeps_previous_time() -> None:
    (part,) = appended_parts(None, [ConversationLine(1, "a", 5), ConversationLine(2, "b")])
    assert part.last_ns == 5


def test_line_number_that_does_not_rise_is_refused() -> None:
    (part,) = appended_parts(None, spoken(3))
    with pytest.raises(ValueError, match="line 3 comes after line 3"):
        appended_parts(part, spoken(3))


def test_folded_text_has_no_line_end_of_any_kind() -> None:
    assert folded(" a\r\n\tb\u2028c\x85d ") == "a b c d"


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 9000)), max_size=60), st.data())
def test_parts_do_not_depend_on_steps(shape: list[tuple[int, int]], data: st.DataObject) -> None:
    number, lines = 0, []
    for step, size in shape:
        number += step
        lines.append(ConversationLine(number, f"User: {'w ' * size}{number}", number))
    at_once = list(appended_parts(None, lines))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=5)))
    stepwise: dict[int, ConversationPart] = {}
    last = None
    for begin, end in zip([0, *cuts], [*cuts, len(lines)], strict=True):
        parts = appended_parts(last, lines[begin:end])
        stepwise |= {part.first_line: part for part in parts}
        last = parts[-1] if parts else last
    assert list(stepwise.values()) == at_once
    assert lines_of(at_once) == {line.number: line.text for line in lines}
    assert all(part.text.split("\n")[0] and part.text.split("\n")[-1] for part in at_once)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("User: How long do the beans soak?\nAssistant: Overnight, in cold water.", 1.0),
        ("User: How long do the beans soak?\n\n\nAssistant: Overnight, in cold water.", 1.0),
        ("User: What is for lunch?\n\nUser: how long do the beans soak again?", 0.0),
        ("User: 豆子要泡多久？", 0.0),
        ("User: The beans soak overnight, please remember.", 1.0),
        ("User: Which beans?\nAssistant: The red ones.\nUser: And how long do they soak?", 0.5),
        ("User: What is for lunch?\nAssistant: Rice.\nUser: And for tea?", 1.0),
        ("User: Shall we walk?", 0.0),
    ],
)
def test_answered_share_ignores_unanswered_questions(text: str, share: float) -> None:
    assert answered_share(text, {"beans": 1.0, "soak": 1.0, "豆子": 1.0}) == share
