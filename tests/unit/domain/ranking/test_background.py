import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.calibration import Background, pack_background
from memoryd.search.ranking import TABLE, commonness


@given(st.text(max_size=30))
def test_commonness_is_a_probability(term: str) -> None:
    assert 0 <= commonness(term) <= 1


@pytest.mark.parametrize("words", [["time", "garden", "attic", "quokka"], ["我们", "房子", "房租"]])
def test_frequent_word_is_more_common_than_rare_one(words: list[str]) -> None:
    chances = [commonness(word) for word in words]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.02
    assert chances[-1] == 0


@pytest.mark.parametrize("rare", ["", "4172", "gw4172", "zzzxqv", "deadbeef", "time\n", "tim ", "\ud800"])
def test_numbers_codes_and_parts_of_words_are_rare(rare: str) -> None:
    assert commonness(rare) == 0


def test_words_with_one_stem_are_equally_common() -> None:
    assert commonness("walk") == commonness("walks") == commonness("walked") > commonness("stroll")


def test_first_and_last_rows_are_found() -> None:
    terms = [row[:-1] for row in zlib.decompress(TABLE.read_bytes()).split(b"\n")]
    assert terms == sorted(set(terms))
    assert all(commonness(term.decode()) > 0 for term in (*terms[:2], *terms[-2:]))


def test_table_is_small() -> None:
    assert TABLE.stat().st_size <= 150_000


def test_packed_rows_are_in_byte_order() -> None:
    rows = zlib.decompress(pack_background({"房租": 0.001, "b": 1e-9, "a": 1.0})).split(b"\n")
    assert [row[:-1].decode() for row in rows] == ["a", "b", "房租"]
    assert rows[0][-1] < rows[2][-1] < rows[1][-1]


def test_invalid_table_is_refused() -> None:
    with pytest.raises(ValueError):
        Background(b"words")
