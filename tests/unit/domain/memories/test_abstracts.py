"""Abstracts and overviews: bounded slices of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.abstracts import (
    ABSTRACT_CHARS,
    CUT,
    OVERVIEW_LINES,
    abstract_of,
    overview_of,
    shorter,
)
from memoryd.domain.text.sentences import sentences_of, spoken_sentences
from tests.sweeps import whole_or
from tests.waiting import soon

TEXTS = st.lists(
    st.sampled_from(
        [
            "Peter prefers tea. ",
            "He met Dr. Smith at 9 a.m. in St. Louis. ",
            "我住在上海。",
            "你喜欢茶吗？",
            "Use `a. b` now! ",
            "- an item\n",
            "1. one\n",
            "Decisions:\n",
            "x" * 150,
            "…",
            "e.g. ",
            "J. ",
            "\n\n",
            "（我说：“好。”）",
        ]
    )
    | st.text(max_size=12),
    max_size=12,
).map("".join)


def folded(text: str) -> str:
    return " ".join(text.split())


@given(TEXTS)
def test_abstract_is_a_bounded_slice_of_the_text(text: str) -> None:
    abstract = abstract_of(text)
    assert abstract.removesuffix(CUT) in folded(text)
    assert len(abstract) <= ABSTRACT_CHARS
    assert bool(abstract) == bool(sentences_of(text))
    assert "\n" not in abstract


@given(TEXTS)
def test_overview_contains_abstract_in_at_most_three_lines(text: str) -> None:
    lines = overview_of(text).split("\n")
    assert len(lines) <= OVERVIEW_LINES
    assert abstract_of(text) in lines
    assert all(line.removesuffix(CUT) in folded(text) and len(line) <= ABSTRACT_CHARS for line in lines)


@given(TEXTS)
def test_sentences_are_in_the_order_of_the_text(text: str) -> None:
    whole, at = folded(text), 0
    for sentence in sentences_of(text):
        found = whole.find(sentence, at)
        assert found >= at
        at = found + len(sentence)


@given(TEXTS)
def test_each_shorter_form_is_shorter(text: str) -> None:
    lengths = [len(folded(text)), *(len(form) for _, form in shorter(text))]
    assert lengths == sorted(set(lengths), reverse=True)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He met Dr. Smith at 9 a.m. in St. Louis. Bye.", ["He met Dr. Smith at 9 a.m. in St. Louis.", "Bye."]),
        (
            "It is 3.5 km, e.g. by bus. See https://a.b/?d=e. Go!",
            ["It is 3.5 km, e.g. by bus.", "See https://a.b/?d=e.", "Go!"],
        ),
        ("我住在上海。我喜欢茶！“好。”他说。", ["我住在上海。", "我喜欢茶！", "“好。”", "他说。"]),
        ("Run `make. test` first. Then rest", ["Run `make. test` first.", "Then rest"]),
        (
            "He said no. So do I. He left on Nov. 27 by train no. 5.",
            ["He said no.", "So do I.", "He left on Nov. 27 by train no. 5."],
        ),
        ("J. Smith agrees. A line that\nwraps goes on.", ["J. Smith agrees.", "A line that wraps goes on."]),
        ("Three things:\n- one is a\n- two is b\n2. three", ["Three things:", "one is a", "two is b", "three"]),
        ("Das gilt z. B. hier. Ende.", ["Das gilt z. B. hier.", "Ende."]),
        ("Das gilt d. h. immer. Ende.", ["Das gilt d. h. immer.", "Ende."]),
        ("Das ist i. d. R. gut. Ende.", ["Das ist i. d. R. gut.", "Ende."]),
        ("Lina turned 7. August is warm.", ["Lina turned 7.", "August is warm."]),
        ("Wir fahren am 3. Mai los. Es ist Nr. 5. Gut.", ["Wir fahren am 3. Mai los.", "Es ist Nr. 5.", "Gut."]),
    ],
)
def test_text_is_split_into_sentences(text: str, sentences: list[str]) -> None:
    assert list(sentences_of(text)) == sentences


def test_abstract_is_the_first_informative_sentence() -> None:
    assert abstract_of("Hi. Who knows? Peter prefers tea at night. He sleeps well.") == "Peter prefers tea at night."
    assert abstract_of("好的。我对花生过敏，请记住。我住在上海。") == "我对花生过敏，请记住。"
    assert abstract_of("Only a fragment") == "Only a fragment"
    assert abstract_of(" \n ") == ""
    long = abstract_of("The word " * 60)
    assert long.endswith(("word…", "The…"))


def test_overview_has_sentences_on_the_main_subject() -> None:
    text = (
        "The gateway runs on alder. It was sunny. The gateway on alder restarts at 04:30 each night. "
        "Somebody laughed. Alder has 16 GB for the gateway."
    )
    assert overview_of(text).split("\n") == [
        "The gateway runs on alder.",
        "The gateway on alder restarts at 04:30 each night.",
        "Alder has 16 GB for the gateway.",
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("piece", [".", "…", "?!", "\n", "\r\n", "Dr. ", "A. ", "1. ", "<abc>", "<abc></abd>"])
def test_hostile_text_is_split_in_linear_time(piece: str) -> None:
    """Quadratic time would take a minute."""
    text = piece * (whole_or(50_000, 200_000) // len(piece)) + "x"
    with soon():
        assert sentences_of(text)
        assert spoken_sentences(text)
