"""Bundles in the message formats of APIs: same text, separate stable block first, no empty parts."""

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
BUNDLE = make_bundle(STABLE, [RECALLED], budget=1200)
UNCHANGED = make_bundle(STABLE, [RECALLED], budget=1200, if_none_match=STABLE.etag)
EMPTY = make_bundle(StableBlock(), [], budget=1200)
texts = st.text(max_size=80) | st.sampled_from(
    ['"}]}', "</note>", "\\", '{"type": "tool_use"}', "\ud800", "\U000e0041"]
)
bundles = st.builds(
    lambda core, tail: make_bundle(stable_block(core, [], budget=400), tail, budget=400),
    *[st.lists(st.builds(BundlePart, st.text("abc", min_size=1), texts, texts, texts, st.booleans()), max_size=2)] * 2,
)


def text_of(bundle: Bundle, encoding: Encoding) -> str:
    """Return all text of a bundle in the format of an API."""
    match encode_bundle(bundle, encoding):
        case str(text) | {"rsclaw_hidden": {"recall_context": str(text)}}:
            return text
        case {"messages": [{"role": "system", "content": parts}]} | {"system": parts}:
            return "".join(part["text"] for part in parts if part["type"] == "text")
        case {"systemInstruction": {"parts": parts}}:
            return "".join(part["text"] for part in parts)
        case {"messages": []} | {}:
            return ""
        case other:
            raise AssertionError(f"no format of {encoding}: {other}")


def test_stable_block_is_a_part_before_the_tail() -> None:
    openai, anthropic, gemini = (
        encode_bundle(BUNDLE, one) for one in (Encoding.OPENAI, Encoding.ANTHROPIC, Encoding.GEMINI)
    )
    first, second = STABLE.text, BUNDLE.tail
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


def test_known_block_is_omitted_and_tail_is_not_cached() -> None:
    assert encode_bundle(UNCHANGED, Encoding.ANTHROPIC) == {"system": [{"type": "text", "text": BUNDLE.tail}]}
    assert encode_bundle(UNCHANGED, Encoding.GEMINI) == {"systemInstruction": {"parts": [{"text": BUNDLE.tail}]}}


def test_empty_bundle_has_no_empty_part() -> None:
    assert {one: encode_bundle(EMPTY, one) for one in Encoding} == {
        Encoding.TEXT: "",
        Encoding.RSCLAW: {"rsclaw_hidden": {"recall_context": ""}},
        Encoding.OPENAI: {"messages": []},
        Encoding.ANTHROPIC: {"system": []},
        Encoding.GEMINI: {},
    }


@pytest.mark.parametrize("encoding", Encoding)
@given(bundle=bundles)
def test_each_format_has_the_same_text_and_is_json(encoding: Encoding, bundle: Bundle) -> None:
    assert text_of(bundle, encoding) == bundle.text
    assert json.loads(json.dumps(encode_bundle(bundle, encoding)).encode()) == encode_bundle(bundle, encoding)
