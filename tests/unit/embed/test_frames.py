"""Messages to and from a worker are encoded as frames and decoded strictly."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import msgpack

from memoryd.embed.local.frames import (
    FRAME_BYTES,
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
    Write,
    Written,
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
    st.builds(Write, numbers, texts, texts, texts, numbers),
    st.builds(Written, numbers, texts),
    st.builds(Scored, numbers, st.floats(allow_nan=False)),
    st.builds(Embedded, numbers, st.binary(max_size=64)),
    st.builds(NoResult, numbers, texts),
)


def body(message: Message) -> bytes:
    frame = encode(message)
    assert len(frame) == 4 + int.from_bytes(frame[:4], "big")
    return frame[4:]


@given(messages)
def test_encoded_message_is_decoded(message: Message) -> None:
    assert decode(body(message)) == message


def test_lone_surrogates_become_question_marks() -> None:
    assert decode(body(Embed(1, Purpose.QUERY, "a\ud800b"))) == Embed(1, Purpose.QUERY, "a?b")


@pytest.mark.parametrize("character", ["\x01", '"', "漢", "🎉"])
def test_title_and_text_of_full_length_fit_into_a_frame(character: str) -> None:
    longest = Embed(2**53, Purpose.DOCUMENT, character * (2 * TEXT_CHARACTERS) + "prompt" * 100)
    assert len(body(longest)) <= FRAME_BYTES


@pytest.mark.parametrize(
    "values",
    [
        [],
        None,
        {},
        {"type": "shutdown"},
        {"type": ["Cancel"]},
        {"type": "Cancel"},
        {"type": "Cancel", "id": "1"},
        {"type": "Cancel", "id": 1.5},
        {"type": "Cancel", "id": True},
        {"type": "Scored", "id": 1, "score": "1.0"},
        {"type": "Cancel", "id": 1, "more": 2},
        {"type": "Embed", "id": 1, "purpose": "fast", "text": ""},
        {"type": "Embedded", "id": 1, "vector": "text"},
        {"type": "NoResult", "id": 1, "reason": b"\xff"},
    ],
)
def test_invalid_message_is_a_value_error(values: object) -> None:
    with pytest.raises(ValueError):
        decode(msgpack.encode(values))


@given(st.binary(max_size=200))
@example(b"help!")
@example(b"\x91" * 100_000)
@example(b"\x82\xa4type" * 100_000)
def test_any_bytes_are_a_value_error(garbage: bytes) -> None:
    with pytest.raises(ValueError):
        decode(garbage)
