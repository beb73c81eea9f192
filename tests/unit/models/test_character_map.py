"""The character map of a tokenizer, read as llama.cpp reads it."""

import struct
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.models.convert import compile_map


def replaced(data: bytes, text: str) -> tuple[int, str] | None:
    """Return how many bytes of `text` llama.cpp's unigram tokenizer replaces, and by what."""
    (size,) = struct.unpack_from("<I", data)
    units, values = struct.unpack_from(f"<{size // 4}I", data, 4), data[4 + size :]

    def base(node: int) -> int:
        return int(units[node] >> 10 << ((units[node] & 1 << 9) >> 6))

    found, node = None, base(0)
    for count, byte in enumerate(text.encode(), 1):
        node ^= byte
        if units[node] & (1 << 31 | 0xFF) != byte:
            break
        has_value = bool(units[node] >> 8 & 1)
        node ^= base(node)
        if has_value:
            start = units[node] & ~(1 << 31)
            found = count, values[start : values.index(0, start)].decode()
    return found


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=4)


@given(st.dictionaries(TEXTS, st.just("") | TEXTS, max_size=60), st.lists(TEXTS, max_size=20))
def test_longest_key_is_replaced_and_nothing_else(replacements: Mapping[str, str], others: list[str]) -> None:
    data = compile_map(replacements)
    for text in [*others, *replacements, *(key + "x" for key in replacements)]:
        keys = [key for key in replacements if text.startswith(key)]
        longest = max(keys, key=len, default=None)
        assert replaced(data, text) == (longest and (len(longest.encode()), replacements[longest]))


def test_large_map_is_dense_and_quick() -> None:
    replacements = {chr(0x1000 + number): f"{number}" for number in range(6000)}
    data = compile_map(replacements)
    assert len(data) < 80_000
    assert replaced(data, chr(0x1000 + 5999)) == (3, "5999")
    assert replaced(data, chr(0x1000 + 6000)) is None


@pytest.mark.parametrize("replacements", [{"": "x"}, {"a\0": "x"}, {"a": "\0"}])
def test_unsupported_replacements_are_refused(replacements: Mapping[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot map"):
        compile_map(replacements)
