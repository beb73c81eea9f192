"""Byte order mark and line ends of a note are preserved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.note_text import encode_note, read_note

PIECES = st.lists(st.sampled_from(["a", "b", "- x", "\r", "\n", "\r\n", "\u2028", "é"]), max_size=14).map("".join)


@given(PIECES, st.booleans())
def test_unedited_note_is_identical(text: str, has_mark: bool) -> None:
    data = (b"\xef\xbb\xbf" if has_mark else b"") + text.encode()
    note = read_note(data)
    assert encode_note(note, note.text) == data


@given(PIECES, st.integers(0, 14))
def test_new_line_keeps_all_other_bytes(text: str, at: int) -> None:
    data = text.encode()
    note = read_note(data)
    place = min(at, len(note.lines) - 1)
    lines = [*note.lines[:place], "- ours", *note.lines[place:]]
    written = encode_note(note, "\n".join(lines))
    assert written in (
        data[:cut] + b"- ours" + end + data[cut:] for cut in range(len(data) + 1) for end in (b"\n", b"\r\n")
    )


@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"a\0b", b"\xe9t\xe9"])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="holds a NUL byte" if data == b"a\0b" else "is no UTF-8 text"):
        read_note(data)
