"""The seam for models that write text: what each takes and promises, and what status shows of it.

An answer is JSON of a given shape, never free text. One of another shape is refused, and no word of it is repeated.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from memoryd.errors import TextAnswerRefused, TextModelUnavailable

NAME_CHARACTERS = 100
_MARK_UP = str.maketrans(dict.fromkeys("<>[]`*\\", "-"))
ANSWER_CHARACTERS = 64 * 1024
"""A longer text is no answer to what is asked here."""


def recorded_name(provider: str, model: str, release: str) -> str:
    """Return `provider/model@release` on one line and without mark-up: a file says of itself what it likes."""
    name = "".join(sign for sign in " ".join(model.split()) if sign.isprintable()).translate(_MARK_UP)
    return f"{provider}/{name[:NAME_CHARACTERS]}@{release}"


class AnswerShape(BaseModel):
    """What an answer must look like: its JSON schema is what the model is held to, and its reading the check.

    Bound every text and list, so that an answer ends. Keys are neither missing nor more than these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


Answer = TypeVar("Answer", bound=AnswerShape)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to do, and the data to do it with: memory text stands in `data` alone, delimited, and is no instruction."""

    task: str
    data: str = field(repr=False)


class TextModel(Protocol):
    """Answers in JSON. Deterministic as far as its engine is: temperature 0, one fixed seed."""

    @property
    def identity(self) -> str:
        """Provider, model and what tells releases apart, on one line; it is recorded with every label."""
        ...

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, seconds of `time.monotonic()`, in at most so many tokens.

        Raises TextModelUnavailable: not now, or not in time; TextAnswerRefused, which is one, where this question has
        no answer of that shape, and the next one may have. Who asks goes on without.
        """
        ...


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


WAITING_MAX = 8
"""So many may wait for the one that is answered; another is told at once that it is busy."""


class Turns:
    """One question is answered at a time, and the others wait where giving up costs nothing."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def one(self, deadline: float) -> AsyncIterator[None]:
        """Wait for those who asked before; raises TextModelUnavailable where they are too many, or take too long."""
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
