"""Attributes after the text of a memory: parsed, refused, or part of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.edits import stray_of, strays_in, with_stray_parsed
from memoryd.domain.memories.kinds import ShortId
from memoryd.domain.memories.line import Attributes, RetainedLine, parse_line
from memoryd.domain.memories.malformed_lines import MalformedLine
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded

ONE, TWO = ShortId("1a2b3c4d"), ShortId("22223333")


def parsed(text: str) -> RetainedLine:
    line = parse_line(f"- W(at=2025-11) @NAS: {text}")
    assert isinstance(line, RetainedLine)
    found, note = with_stray_parsed(line)
    assert bool(note) is (found != line)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Device A is fnOS supersedes={ONE}", Attributes(supersedes=(ONE,))),
        (f"Device A is fnOS, supersedes = {ONE} {TWO}.", Attributes(supersedes=(ONE, TWO))),
        (f"Device A is fnOS (supersedes={ONE})", Attributes(supersedes=(ONE,))),
        (f"Device A is fnOS\n(supports={ONE}, contradicts={TWO})", Attributes(supports=(ONE,), contradicts=(TWO,))),
        (f"Device A is fnOS Supersedes={ONE.upper()} supports={TWO}", Attributes(supersedes=(ONE,), supports=(TWO,))),
        (f"Device A is fnOS（superseded＝{ONE}）。", Attributes(superseded=(ONE,))),
    ],
)
def test_ids_after_the_text_are_parsed(text: str, expected: Attributes) -> None:
    found = parsed(text)
    keys = ("supports", "contradicts", "supersedes", "superseded")
    assert found.text == "Device A is fnOS"
    assert {key: getattr(found.attributes, key) for key in keys} == {key: getattr(expected, key) for key in keys}
    assert found.attributes.at == "2025-11"


@pytest.mark.parametrize(
    "text",
    [
        "x (i=0.9)",
        "x (pin, i=.5)",
        "x (tags=a b)",
        f"x (supersedes={ONE}, i=0.9)",
        "x (supersedes=the old one)",
        "x supersedes=old",
        f"x supersedes={ONE}, {TWO}",
        "x scope=agent:main",
        "x (scope=global)",
        "x at=2025-11-27",
        "x c=0.9",
        "x from=user",
        f"supersedes={ONE}",
    ],
)
def test_text_that_may_be_an_attribute_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"after the (text|colon)"):
        parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        "the speed of light (c=299792458)",
        "a ticket (from=Paris)",
        "meet me (at=noon)",
        "press the needle (pin)",
        "loop until i=0",
        f"what supersedes={ONE} means is written there",
        "a + b = c",
        "supersedes everything",
        "f(i=0) is nought",
    ],
)
def test_ordinary_text_is_kept(text: str) -> None:
    assert parsed(text).text == text


@given(st.text(alphabet="supersedes=1a2b3c4d ()，。,i.pn\n", max_size=60))
def test_stray_attributes_extend_to_end_of_text(text: str) -> None:
    found = stray_of(text)
    assert found is None or text[found.start :].lstrip(" (（").startswith(found.written)


def test_stray_attributes_are_reported_by_line() -> None:
    text = f"## Retain\n- W: fine\n- W: x supersedes={ONE}\n- W @NAS (supersedes={ONE}): y\n- W @NAS i=0.9: z\n"
    sections = memory_sections(encode_padded(text), RelativePath("memory/2026-11-18.md"))
    assert [(one.line, "W(supersedes=1a2b3c4d)" in one.reason) for one in strays_in(sections)] == [(3, True)]
    assert [(one.line, "after the kind" in one.reason) for one in sections.misses] == [(4, True), (5, True)]


def test_words_between_entities_and_colon_are_malformed() -> None:
    miss = parse_line("- W @NAS of mine: x")
    assert isinstance(miss, MalformedLine)
    assert "only entities" in miss.reason
