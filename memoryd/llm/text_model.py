"""The seam between a question and a model that writes text: what every text model takes, gives and promises.

An answer is JSON of a given shape, never free text: what a model says is a value that was checked.
"""

from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict


class AnswerShape(BaseModel):
    """What an answer must look like: its JSON schema is what the model is held to, and its reading the check.

    Bound every text and list, so that an answer ends. Keys are neither missing nor more than these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


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
