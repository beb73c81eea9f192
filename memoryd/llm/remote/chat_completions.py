"""The wire format of OpenAI's chat completions, which many servers speak, and what they differ in.

POST /chat/completions {"model", "messages", "temperature", "seed", "max_tokens", "response_format"}
→ {"choices": [{"finish_reason", "message": {"content"}}]}
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from memoryd.llm.text_model import AnswerShape, Prompt

PATH: Final = "/chat/completions"
SEED: Final = 7
_NEWER: Final = re.compile(r"max_tokens|max_completion_tokens|temperature", re.IGNORECASE)
_UNSENT: Final = frozenset({"minLength", "maxLength", "title", "default"})
"""Keywords that strict servers refuse in a schema; what comes is held against the whole schema anyway."""


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What an endpoint was heard to take: a schema to hold to, or JSON alone; and which names of the limits."""

    holds_schema: bool = True
    is_newer: bool = False
    """Whether it wants `max_completion_tokens`, and no temperature: models that think first."""

    def after(self, refusal: str) -> "ChatDialect | None":
        """Return what to try after a request was refused with these words; None if there is nothing else."""
        if _NEWER.search(refusal) and not self.is_newer:
            return replace(self, is_newer=True)
        return replace(self, holds_schema=False) if self.holds_schema else None


def request_body(
    model: str, prompt: Prompt, shape: type[AnswerShape], max_tokens: int, dialect: ChatDialect
) -> dict[str, object]:
    """Return the body of a request: the task is the system's, the data the user's."""
    schema = _strict(shape.model_json_schema())
    task = prompt.task if dialect.holds_schema else f"{prompt.task}\nThe answer fits this JSON schema: {_line(schema)}"
    messages = [{"role": "system", "content": task}, {"role": "user", "content": prompt.data}]
    limits: dict[str, object] = {"temperature": 0, "max_tokens": max_tokens}
    if dialect.is_newer:
        limits = {"max_completion_tokens": max_tokens}
    form: dict[str, object] = {"type": "json_object"}
    if dialect.holds_schema:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    return {"model": model, "messages": messages, "seed": SEED, "response_format": form, **limits}


def content_of(answer: object) -> str:
    """Return the text of the first choice; raises ValueError, which quotes nothing, where there is none or a part."""
    match answer:
        case {"choices": [{"message": {"refusal": str(refusal)}}, *_]} if refusal:
            raise ValueError("the model declines to answer")
        case {"choices": [{"finish_reason": "length"}, *_]}:
            raise ValueError("the answer is cut off")
        case {"choices": [{"finish_reason": "content_filter"}, *_]}:
            raise ValueError("the endpoint withholds the answer")
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return content
    raise ValueError("no text in the answer")


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what strict servers refuse; the names of keys are left alone."""
    kept = {key: value for key, value in schema.items() if key not in _UNSENT}
    for key in ("$defs", "properties"):
        if key in kept:
            kept[key] = {name: _strict(one) for name, one in kept[key].items()}
    return kept | ({"items": _strict(kept["items"])} if "items" in kept else {})


def _line(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
