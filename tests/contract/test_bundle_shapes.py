"""Bundles against the request types of the clients of OpenAI, Anthropic and Google, each loaded where it is needed."""

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
def made(request: pytest.FixtureRequest) -> Bundle:
    return BUNDLES[request.param]


def shape(made: Bundle, encoding: Encoding) -> dict[str, Any]:
    told = encode_bundle(made, encoding)
    assert isinstance(told, dict)
    return told


def accepted(kind: Any, request: Any) -> object:
    """Return a request as its type reads it: what the type does not know is gone; raises ValueError."""
    adapter = TypeAdapter[Any](kind)
    return adapter.dump_python(adapter.validate_python(request))


def choices(kind: type, key: str) -> set[Any]:
    """Return which types the value of a key may have, or have within a list."""
    return {next(iter(get_args(choice)), choice) for choice in get_args(get_type_hints(kind)[key])}


def test_openai_takes_the_message(made: Bundle) -> None:
    from openai.types.chat import ChatCompletionContentPartTextParam, ChatCompletionSystemMessageParam

    # part by part: pydantic reads an iterable within a union once for each choice, and nothing is left of it
    assert choices(ChatCompletionSystemMessageParam, "content") == {str, ChatCompletionContentPartTextParam}
    for message in shape(made, Encoding.OPENAI)["messages"]:
        assert accepted(list[ChatCompletionContentPartTextParam], message["content"]) == message["content"] != []
        plain = {**message, "content": made.text}
        assert accepted(ChatCompletionSystemMessageParam, plain) == plain


def test_anthropic_takes_the_system_blocks(made: Bundle) -> None:
    from anthropic.types import TextBlockParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    assert choices(MessageCreateParamsNonStreaming, "system") == {str, TextBlockParam}
    request = shape(made, Encoding.ANTHROPIC)
    assert request.keys() == {"system"}
    assert accepted(list[TextBlockParam], request["system"]) == request["system"]


def test_gemini_takes_the_system_instruction(made: Bundle) -> None:
    from google.genai.types import Content, GenerateContentConfig

    request = shape(made, Encoding.GEMINI)
    config = GenerateContentConfig.model_validate(request)
    assert config.model_dump(exclude_unset=True, by_alias=True) == request
    if request:
        assert Content.model_validate(request["systemInstruction"]).parts


def test_types_refuse_what_is_no_such_shape() -> None:
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
