import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.snippets import MatchingPassage, exchange_lines, remove_blank_lines

LINES = st.lists(st.sampled_from(["", "  ", "User: where is it", "Assistant: in the shed", "a"]), max_size=12)


@given(LINES)
def test_non_blank_lines_keep_their_numbers(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = remove_blank_lines(text)
    if text.strip():
        assert [lines[at] for at in found.lines] == [line for line in lines if line.strip()] == found.text.split("\n")
    else:
        assert found.text == text


@given(lines=LINES, data=st.data())
def test_passages_cover_the_same_words(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    found = remove_blank_lines(text, [MatchingPassage(start, stop, 0.5)])
    moved = found.near[0]
    inside = found.text[moved.start : moved.stop]
    assert inside.split() == text[start:stop].split()


def test_blank_lines_between_messages_are_removed() -> None:
    text = "User: where is it\n\n\n\nAssistant: in the shed\n"
    found = remove_blank_lines(text, [MatchingPassage(21, 43, 1.0)])
    assert found.text == "User: where is it\nAssistant: in the shed"
    assert found.lines == (0, 4)
    assert found.text[found.near[0].start : found.near[0].stop] == "Assistant: in the shed"


@pytest.mark.parametrize(("at", "expected"), [(0, (0, 0)), (1, (1, 2)), (2, (1, 2)), (3, (3, 3)), (4, (4, 4))])
def test_question_and_its_answer_are_one_exchange(at: int, expected: tuple[int, int]) -> None:
    lines = ["User: hm", "User: where is it", "Assistant: in the shed", "Assistant: or not", "User: thanks"]
    assert exchange_lines(lines, at) == expected
