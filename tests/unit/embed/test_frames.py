import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.embed.local.frames import (
    HEADER_BYTES,
    TEXT_CHARACTERS,
    Cancel,
    Embed,
    Embedded,
    Failed,
    Load,
    Message,
    NoResult,
    Ready,
    Score,
    Scored,
    decode,
    encode,
)
from memoryd.embed.protocol import Purpose

numbers = st.integers(0, 2**53)
texts = st.text(st.characters(exclude_categories=["Cs"]))
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Load, texts, texts, numbers, numbers),
    st.builds(Embed, numbers, st.sampled_from(Purpose), texts),
    st.builds(Cancel, numbers),
    st.builds(Ready, numbers, numbers),
    st.builds(Failed, texts),
    st.builds(Score, numbers, texts, texts),
    st.builds(Scored, numbers, st.floats(allow_nan=False)),
    st.builds(Embedded, numbers, st.binary(max_size=64)),
    st.builds(NoResult, numbers, texts),
)


def split(frame: bytes) -> tuple[bytes, bytes]:
    header, payload = (int.from_bytes(frame[at : at + 4], "big") for at in (0, 4))
    assert len(frame) == 8 + header + payload
    return frame[8 : 8 + header], frame[8 + header :]


@given(messages)
def test_what_is_encoded_is_decoded(message: Message) -> None:
    assert decode(*split(encode(message))) == message


def test_lone_surrogates_become_question_marks() -> None:
    assert decode(*split(encode(Embed(1, Purpose.QUERY, "a\ud800b")))) == Embed(1, Purpose.QUERY, "a?b")


@pytest.mark.parametrize("character", ["\x01", '"', "漢", "🎉"])
def test_title_and_text_of_full_length_fit_into_a_header(character: str) -> None:
    longest = Embed(2**53, Purpose.DOCUMENT, character * (2 * TEXT_CHARACTERS) + "prompt" * 100)
    assert len(encode(longest)) <= HEADER_BYTES


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"help!",
        b"[]",
        b"null",
        b"{}",
        b'{"kind": "shutdown"}',
        b'{"kind": ["cancel"]}',
        b'{"kind": "cancel"}',
        b'{"kind": "cancel", "id": "1"}',
        b'{"kind": "cancel", "id": 1.0}',
        b'{"kind": "cancel", "id": true}',
        b'{"kind": "scored", "id": 1, "score": "1.0"}',
        b'{"kind": "scored", "id": 1, "score": 1}',
        b'{"kind": "cancel", "id": 1, "more": 2}',
        b'{"kind": "embed", "id": 1, "purpose": "fast", "text": ""}',
        b'{"kind": "refused", "id": 1, "reason": "\xff"}',
        b"[" * 100_000,
        b'{"kind": "cancel", "id": ' + b"9" * 5000 + b"}",
    ],
)
def test_garbage_is_a_value_error(header: bytes) -> None:
    with pytest.raises(ValueError):
        decode(header, b"")


def test_payload_belongs_to_a_vector_only() -> None:
    with pytest.raises(ValueError):
        decode(json.dumps({"kind": "cancel", "id": 1}).encode(), b"data")


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_any_bytes_are_a_value_error(header: bytes, payload: bytes) -> None:
    with pytest.raises(ValueError):
        decode(header, payload)
