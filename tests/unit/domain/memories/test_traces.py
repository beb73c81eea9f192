"""What a memory left where it was copied is found; what merely resembles it is not."""

import pytest

from memoryd.domain.memories.changes.forgetting import Traces
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.memories.kinds import ShortId

ID = ShortId("1a2b3c4d")


def traces(*texts: str) -> Traces:
    return Traces(tuple(map(TextMatcher, texts)), frozenset({ID}))


@pytest.mark.parametrize(
    "text",
    ["- W @Iso: 7391", "+- W(i=0.9) @Iso：7391", " - W: 7391  ", "7391", "## Retain\n- W: 7391\n- W: tea", '"7391"'],
)
def test_a_short_text_is_found_where_a_line_says_nothing_else(text: str) -> None:
    assert traces("7391").are_in(text)


@pytest.mark.parametrize("text", ["- W @Iso: 73915", "- W @Iso: the code 7391 is old", "17391", "", "- W: 73 91"])
def test_a_short_text_is_not_looked_for_within_others(text: str) -> None:
    assert not traces("7391").are_in(text)


@pytest.mark.parametrize("text", [" gamma two\n- W: x", "+  gamma three", "- W @Multi: gamma one"])
def test_each_line_of_several_is_a_trace(text: str) -> None:
    assert traces("gamma one\ngamma two\ngamma three").are_in(text)
    assert not traces("gamma one\ngamma two").are_in("gamma, two of them")


def test_a_link_of_a_page_names_it() -> None:
    line = f'- cut … [memory/2025-11-27.md#L3](../memory/2025-11-27.md#L3 "{ID}")'

    assert traces("something else").are_in(line)
    assert not Traces(()).are_in(line)


def test_hostile_text_takes_no_longer() -> None:
    assert not traces("4711").are_in(":" * 50_000 + " " * 50_000 + "- " * 50_000)
