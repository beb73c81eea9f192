"""What a model said, as an answer of the shape that was asked for, or why it is none; no word of it is repeated."""

import json
from typing import Final

from pydantic import ValidationError

from memoryd.errors import TextAnswerRefused
from memoryd.llm.text_model import Answer, AnswerShape

ANSWER_CHARACTERS: Final = 64 * 1024
"""A longer text is no answer to what is asked here."""


def read_answer(text: str, shape: type[Answer]) -> Answer:
    """Return the answer; raises TextAnswerRefused, which says where it is amiss and quotes nothing."""
    if len(text) > ANSWER_CHARACTERS:
        raise TextAnswerRefused(f"the text model's answer has more than {ANSWER_CHARACTERS:,} characters")
    try:
        return shape.model_validate_json(text)
    except ValidationError as exc:
        raise TextAnswerRefused(f"the text model's answer is not of the shape asked for: {_fault(exc)}") from None


def schema_of(shape: type[AnswerShape]) -> str:
    """Return the JSON schema of a shape, as JSON: the same text each time."""
    return json.dumps(shape.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # the name of a key that is not ours was made up by the model
    where = "" if first["type"] == "extra_forbidden" else ".".join(map(str, first["loc"]))
    return f"{first['type']} at {where}" if where else first["type"]
