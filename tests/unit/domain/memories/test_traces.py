"""Finding copies of a forgotten memory in other texts."""

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
def test_short_text_is_found_as_a_complete_line(text: str) -> None:
    assert traces("7391").are_in(text)


@pytest.mark.parametrize("text", ["- W @Iso: 73915", "- W @Iso: the code 7391 is old", "17391", "", "- W: 73 91"])
def test_short_text_is_not_found_within_other_text(text: str) -> None:
    assert not traces("7391").are_in(text)


@pytest.mark.parametrize("text", [" gamma two\n- W: x", "+  gamma three", "- W @Multi: gamma one"])
def test_each_line_of_a_text_is_a_trace(text: str) -> None:
    assert traces("gamma one\ngamma two\ngamma three").are_in(text)
    assert not traces("gamma one\ngamma two").are_in("gamma, two of them")


def test_link_with_id_is_a_trace() -> None:
    line = f'- cut … [memory/2025-11-27.md#L3](../memory/2025-11-27.md#L3 "{ID}")'

    assert traces("something else").are_in(line)
    assert not Traces(()).are_in(line)


def test_hostile_text_is_searched_in_linear_time() -> None:
    assert not traces("4711").are_in(":" * 50_000 + " " * 50_000 + "- " * 50_000)
