"""Requests to a chat endpoint, and strict reading of its answers without quoting them."""

import json
from contextlib import suppress
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from memoryd.domain.memories.reflect.pages import CitedFact
from memoryd.errors import TextModelUnavailable
from memoryd.llm.protocol import AnswerShape, Prompt, read_answer
from memoryd.llm.writing import ChatDialect, content_of, request_body
from memoryd.memory.llm import summary_shape


class Titled(AnswerShape):
    """A shape whose keys are named like keywords of a schema."""

    title: Annotated[str, Field(max_length=5)]
    default: Literal["a", "b"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_schema_keeps_its_keys_without_keywords_strict_servers_refuse() -> None:
    body = request_body("m", Prompt("t", "d"), Titled, 9, ChatDialect())
    schema = body["response_format"]["json_schema"]["schema"]  # type: ignore[index]
    assert set(schema["properties"]) == {"title", "default"}
    assert schema["required"] == ["title", "default"]
    assert "maxLength" not in json.dumps(schema)
    assert schema["properties"]["default"]["enum"] == ["a", "b"]


def test_nested_schema_is_complete() -> None:
    shape = summary_shape([CitedFact("1a2b3c4d", "x"), CitedFact("5e6f7a8b", "y")])
    body = request_body("m", Prompt("t", "d"), shape, 9, ChatDialect())
    body_text = json.dumps(body)
    assert "1a2b3c4d" in body_text
    assert body_text.count('"additionalProperties": false') == 2
    assert "maxLength" not in body_text


def test_each_refusal_leads_to_the_next_dialect() -> None:
    dialect: ChatDialect | None = ChatDialect()
    tried = []
    while dialect is not None:
        tried.append(dialect)
        dialect = dialect.after("max_tokens and temperature are not supported, nor json_schema")
    assert tried == [ChatDialect(), ChatDialect(is_newer=True), ChatDialect(is_newer=True, holds_schema=False)]
    assert ChatDialect(holds_schema=False).after("no") is None


@given(JSON)
def test_content_of_any_json_is_text_or_refused(answer: object) -> None:
    with suppress(ValueError):
        assert isinstance(content_of(answer), str)


@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_any_text_is_an_answer_of_the_shape_or_refused(text: str) -> None:
    try:
        answer = read_answer(text, Titled)
    except TextModelUnavailable:
        return
    assert answer.default in ("a", "b")
    assert len(answer.title) <= 5


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "secret things", "default": "a"}',
        '{"title": "a", "default": "secret"}',
        '{"title": "a", "default": "a", "secret": 1}',
        '{"title": "a", "secret": "a"}',
        '{"secret',
    ],
)
def test_refusal_does_not_quote_the_answer(text: str) -> None:
    with pytest.raises(TextModelUnavailable) as caught:
        read_answer(text, Titled)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
