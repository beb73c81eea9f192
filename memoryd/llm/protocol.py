"""The interface of models that write text.

An answer is JSON of a given shape, never free text. An answer of another shape is refused, and never quoted in errors.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memoryd.errors import InvalidTextAnswer, TextModelUnavailable

NAME_CHARACTERS = 100
_MARK_UP = str.maketrans(dict.fromkeys("<>[]`*\\", "-"))
ANSWER_CHARACTERS = 64 * 1024
"""A longer text is no valid answer to our questions."""


def recorded_name(provider: str, model: str, release: str) -> str:
    """Return `provider/model@release` on one line, without mark-up: the model name in a file may be any text."""
    name = "".join(sign for sign in " ".join(model.split()) if sign.isprintable()).translate(_MARK_UP)
    return f"{provider}/{name[:NAME_CHARACTERS]}@{release}"


class AnswerShape(BaseModel):
    """Base of answer shapes. The JSON schema constrains the model, and parsing checks the answer.

    Give every string and list a maximum length, so that an answer ends. An answer must have exactly the declared keys.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


Answer = TypeVar("Answer", bound=AnswerShape)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A task, and the data for it. Memory texts are only in `data`, delimited, and are no instructions."""

    task: str
    data: str = field(repr=False)


class TextModel(Protocol):
    """A model that answers in JSON; as deterministic as its engine: temperature 0 and a fixed seed."""

    @property
    def identity(self) -> str:
        """Provider, model and release on one line; it is recorded with every label."""
        ...

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, in seconds of `time.monotonic()`, of at most `max_tokens`.

        Raises TextModelUnavailable if there is no answer now, or not in time; its subclass TextAnswerRefused if this
        question has no answer of that shape, while the next question may have one. Callers must do without.
        """
        ...


def read_answer(text: str, shape: type[Answer]) -> Answer:
    """Parse an answer. Raises TextAnswerRefused, which names the place of the error and quotes nothing."""
    if len(text) > ANSWER_CHARACTERS:
        raise InvalidTextAnswer(f"the text model's answer has more than {ANSWER_CHARACTERS:,} characters")
    try:
        return shape.model_validate_json(text)
    except ValidationError as exc:
        raise InvalidTextAnswer(f"the text model's answer is not of the shape asked for: {_fault(exc)}") from None


def schema_of(shape: type[AnswerShape]) -> str:
    """Return the JSON schema of a shape, as JSON: the same text each time."""
    return json.dumps(shape.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # an unknown key is a text by the model, so it is not quoted
    where = "" if first["type"] == "extra_forbidden" else ".".join(map(str, first["loc"]))
    return f"{first['type']} at {where}" if where else first["type"]


WAITING_MAX = 8
"""Most questions that wait for the current one; further questions are refused at once."""


class Turns:
    """Lets one question at a time pass; the others wait here, where cancelling costs nothing."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def take(self, deadline: float) -> AsyncIterator[None]:
        """Wait for earlier questions. Raises TextModelUnavailable if there are too many, or they take too long."""
        if self._waiting > WAITING_MAX:
            raise TextModelUnavailable(f"{self._waiting} questions wait for the text model already")
        self._waiting += 1
        try:
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    await self._turn.acquire()
            except TimeoutError:
                raise TextModelUnavailable("the text model gave no answer in time: others asked before") from None
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._waiting -= 1
