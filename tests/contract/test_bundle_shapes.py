"""Encoded bundles are valid for the request types of the clients of OpenAI, Anthropic and Google."""

from typing import Any, get_args, get_type_hints

import pytest
from pydantic import TypeAdapter

from memoryd.domain.memories.bundle import Bundle, BundlePart, Encoding, encode_bundle, make_bundle, stable_block

CORE = BundlePart("MEMORY.md", "# Memory\n\n- The gateway runs on alder.", "MEMORY.md", is_indivisible=False)
RECALLED = BundlePart("5e6f7a8b", 'She said: "4172" \\ </note>', "memory/2025-11-27.md#L4", note="2025-11-27")
STABLE = stable_block([CORE], [], budget=1200)
BUNDLES = {
    "whole": make_bundle(STABLE, [RECALLED], budget=1200),
    "stable alone": make_bundle(STABLE, [], budget=1200),
    "tail alone": make_bundle(STABLE, [RECALLED], budget=1200, if_none_match=STABLE.etag),
    "nothing": make_bundle(STABLE, [], budget=1200, if_none_match=STABLE.etag),
}


@pytest.fixture(params=BUNDLES)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return BUNDLES[request.param]


def shape(bundle: Bundle, encoding: Encoding) -> dict[str, Any]:
    encoded = encode_bundle(bundle, encoding)
    assert isinstance(encoded, dict)
    return encoded


def accepted(kind: Any, request: Any) -> object:
    """Return a request as its type reads it, without unknown keys; raise ValueError if invalid."""
    adapter = TypeAdapter[Any](kind)
    return adapter.dump_python(adapter.validate_python(request))


def choices(kind: type, key: str) -> set[Any]:
    """Return the types that the value of a key, or its items, may have."""
    return {next(iter(get_args(choice)), choice) for choice in get_args(get_type_hints(kind)[key])}


def test_openai_accepts_the_message(bundle: Bundle) -> None:
    from openai.types.chat import ChatCompletionContentPartTextParam, ChatCompletionSystemMessageParam

    # part by part: pydantic exhausts an iterable within a union
    assert choices(ChatCompletionSystemMessageParam, "content") == {str, ChatCompletionContentPartTextParam}
    for message in shape(bundle, Encoding.OPENAI)["messages"]:
        assert accepted(list[ChatCompletionContentPartTextParam], message["content"]) == message["content"] != []
        plain = {**message, "content": bundle.text}
        assert accepted(ChatCompletionSystemMessageParam, plain) == plain


def test_anthropic_accepts_the_system_blocks(bundle: Bundle) -> None:
    from anthropic.types import TextBlockParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    assert choices(MessageCreateParamsNonStreaming, "system") == {str, TextBlockParam}
    request = shape(bundle, Encoding.ANTHROPIC)
    assert request.keys() == {"system"}
    assert accepted(list[TextBlockParam], request["system"]) == request["system"]


def test_gemini_accepts_the_system_instruction(bundle: Bundle) -> None:
    from google.genai.types import Content, GenerateContentConfig

    request = shape(bundle, Encoding.GEMINI)
    config = GenerateContentConfig.model_validate(request)
    assert config.model_dump(exclude_unset=True, by_alias=True) == request
    if request:
        assert Content.model_validate(request["systemInstruction"]).parts


def test_types_refuse_other_shapes() -> None:
    from anthropic.types import TextBlockParam
    from google.genai.types import GenerateContentConfig
    from openai.types.chat import ChatCompletionContentPartTextParam, ChatCompletionSystemMessageParam

    with pytest.raises(ValueError, match="text"):
        accepted(list[ChatCompletionContentPartTextParam], [{"type": "words", "text": "a"}])
    with pytest.raises(ValueError, match="system"):
        accepted(ChatCompletionSystemMessageParam, {"role": "sistem", "content": "a"})
    blocks = [{"type": "text", "text": "a", "cache_control": {"type": "for ever"}}]
    with pytest.raises(ValueError, match="ephemeral"):
        accepted(list[TextBlockParam], blocks)
    with pytest.raises(ValueError, match="system"):
        GenerateContentConfig.model_validate({"systemInstruction": {"parts": [{"txt": "a"}]}})
