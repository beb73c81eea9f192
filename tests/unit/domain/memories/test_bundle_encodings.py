"""Bundles in the message shapes of APIs: the same text, the stable block first and apart, nothing empty."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.bundle import (
    Bundle,
    BundlePart,
    Encoding,
    StableBlock,
    encode_bundle,
    make_bundle,
    stable_block,
)

CORE = BundlePart("MEMORY.md", "# Memory\n\n- The gateway runs on alder.", "MEMORY.md", is_indivisible=False)
RECALLED = BundlePart("5e6f7a8b", "The door code is 4172.", "memory/2025-11-27.md#L4", note="2025-11-27")
STABLE = stable_block([CORE], [], budget=1200)
WHOLE = make_bundle(STABLE, [RECALLED], budget=1200)
KNOWN = make_bundle(STABLE, [RECALLED], budget=1200, if_none_match=STABLE.etag)
NOTHING = make_bundle(StableBlock(), [], budget=1200)
texts = st.text(max_size=80) | st.sampled_from(
    ['"}]}', "</note>", "\\", '{"type": "tool_use"}', "\ud800", "\U000e0041"]
)
bundles = st.builds(
    lambda core, tail: make_bundle(stable_block(core, [], budget=400), tail, budget=400),
    *[st.lists(st.builds(BundlePart, st.text("abc", min_size=1), texts, texts, texts, st.booleans()), max_size=2)] * 2,
)


def told(made: Bundle, encoding: Encoding) -> str:
    """Return all text of a bundle in the shape of an API."""
    match encode_bundle(made, encoding):
        case str(text) | {"rsclaw_hidden": {"recall_context": str(text)}}:
            return text
        case {"messages": [{"role": "system", "content": parts}]} | {"system": parts}:
            return "".join(part["text"] for part in parts if part["type"] == "text")
        case {"systemInstruction": {"parts": parts}}:
            return "".join(part["text"] for part in parts)
        case {"messages": []} | {}:
            return ""
        case other:
            raise AssertionError(f"no shape of {encoding}: {other}")


def test_stable_block_is_a_part_before_the_tail() -> None:
    openai, anthropic, gemini = (
        encode_bundle(WHOLE, one) for one in (Encoding.OPENAI, Encoding.ANTHROPIC, Encoding.GEMINI)
    )
    first, second = STABLE.text, WHOLE.tail
    assert openai == {
        "messages": [{"role": "system", "content": [{"type": "text", "text": first}, {"type": "text", "text": second}]}]
    }
    assert anthropic == {
        "system": [
            {"type": "text", "text": first, "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": second},
        ]
    }
    assert gemini == {"systemInstruction": {"parts": [{"text": first}, {"text": second}]}}


def test_known_block_is_left_out_and_the_tail_is_not_kept_in_a_cache() -> None:
    assert encode_bundle(KNOWN, Encoding.ANTHROPIC) == {"system": [{"type": "text", "text": WHOLE.tail}]}
    assert encode_bundle(KNOWN, Encoding.GEMINI) == {"systemInstruction": {"parts": [{"text": WHOLE.tail}]}}


def test_bundle_of_nothing_has_no_empty_part() -> None:
    assert {one: encode_bundle(NOTHING, one) for one in Encoding} == {
        Encoding.TEXT: "",
        Encoding.RSCLAW: {"rsclaw_hidden": {"recall_context": ""}},
        Encoding.OPENAI: {"messages": []},
        Encoding.ANTHROPIC: {"system": []},
        Encoding.GEMINI: {},
    }


@pytest.mark.parametrize("encoding", Encoding)
@given(made=bundles)
def test_every_shape_tells_the_same_text_and_is_json(encoding: Encoding, made: Bundle) -> None:
    assert told(made, encoding) == made.text
    assert json.loads(json.dumps(encode_bundle(made, encoding)).encode()) == encode_bundle(made, encoding)
