"""Fitting the weights that choose items beside a message: what is learned, and how it is written."""

from pathlib import Path

import numpy as np
import pytest

from bench.messages.fitting import KINDS, START, Example, Wording, fitted, fitted_form, shares
from bench.messages.playing import Played, holds
from bench.regression import write_table
from memoryd.domain.memories.unasked import form
from memoryd.domain.memories.unasked.form import ALWAYS


def test_words_of_several_sources_get_weights_and_names_do_not() -> None:
    messages = [
        Wording({ALWAYS, "book", source, *(["kieran"] if source == "a" else [])}, True, source)
        for source in "abc"
        for _ in range(5)
    ] + [Wording({ALWAYS, "lol", source}, False, source) for source in "abc" for _ in range(5)]
    weights = fitted_form(messages)
    assert weights["book"] > 1 > -1 > weights["lol"]
    assert "kieran" not in weights


def test_needed_item_is_shown_and_an_unneeded_best_one_is_not() -> None:
    def example(words: float, score: float, *, needs: bool) -> Example:
        row = [{"nothing": 1.0, "form": score, "words": words}.get(name, 0.0) for name in KINDS]
        return Example(np.array([row]), [[0]] if needs else [], needs)

    examples = [example(10, 1, needs=True)] * 60 + [example(10, -3, needs=False)] * 60
    weights = fitted(examples, 1.0)
    assert shares(examples, weights) == (1.0, 1.0)
    assert len(weights) == len(START)


def test_table_is_written_into_its_module(tmp_path: Path) -> None:
    module = tmp_path / "form.py"
    before = Path(form.__file__).read_text(encoding="utf-8")
    module.write_text(before, encoding="utf-8")
    assert write_table({ALWAYS: -1.0, "can i": 0.42, "几点": 0.42, "faint": 0.01}, module) == 3
    written = module.read_text(encoding="utf-8")
    assert '\nTABLE = """\n-100 *\n40 can i | 几点\n"""\n' in written
    assert written.partition("TABLE = ")[0] == before.partition("TABLE = ")[0]
    assert written[-200:] == before[-200:]


@pytest.mark.parametrize(
    ("want", "told", "is_right"),
    [
        ([], [], True),
        ([], ["The kiln."], False),
        ([["the KILN"]], ["The kiln."], True),
        ([["the kiln"], ["glaze"]], ["The kiln."], False),
    ],
)
def test_message_is_right_with_a_text_of_each_group_or_none(
    want: list[list[str]], told: list[str], *, is_right: bool
) -> None:
    assert Played("set", "words", "en", "hi", want, told, None).is_right is is_right
    assert not holds("a vase", ["kiln"])
