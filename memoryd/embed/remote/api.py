"""The seam between a provider's wire format and everything else, and the answer that most of them share."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.prompts import PromptTemplates

RawVector = Sequence[object]
"""A vector as it came: not yet known to be numbers, finite, or of the right length."""


@dataclass(frozen=True, slots=True)
class Input:
    """A text with its prompt; the title apart, for a provider that takes it so."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A request: path below the base address, and the JSON body."""

    path: str
    body: Mapping[str, object] = field(repr=False)


class Api(Protocol):
    """One provider's wire format. `rows` raises ValueError for an answer of another shape or number."""

    @property
    def base_url(self) -> str: ...

    @property
    def auth(self) -> Mapping[str, str]: ...

    @property
    def prompts(self) -> PromptTemplates: ...

    @property
    def items(self) -> int: ...

    @property
    def older(self) -> "Api | None":
        """The format to speak where this one's address does not exist."""

    def call(self, inputs: Sequence[Input], purpose: Purpose) -> Call: ...

    def rows(self, answer: object, count: int) -> list[RawVector]: ...


def indexed_rows(answer: object, count: int) -> list[RawVector]:
    """Return the rows of `{"data": [{"index": 0, "embedding": […]}, …]}`, in the order of `index` where it is given.

    An embedding may be base64 of little-endian float32 instead of numbers. Raises ValueError.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise ValueError(_miscounted(data, count))
    rows: dict[int, RawVector] = {}
    for place, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise ValueError("an entry of `data` is no object")
        index = entry.get("index", place)
        rows[index if isinstance(index, int) else place] = _row(entry.get("embedding"))
    if sorted(rows) != list(range(count)):
        raise ValueError("the indices in `data` are not those of the texts")
    return [rows[index] for index in range(count)]


def list_rows(found: object, count: int) -> list[RawVector]:
    """Return the rows of a plain list of lists. Raises ValueError."""
    if not isinstance(found, list) or len(found) != count:
        raise ValueError(_miscounted(found, count))
    return [_row(row) for row in found]


def _row(embedding: object) -> RawVector:
    if isinstance(embedding, str):
        numbers: list[object] = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").tolist()
        return numbers
    if not isinstance(embedding, list) or not embedding:
        raise ValueError("an embedding is no list of numbers")
    return embedding


def _miscounted(found: object, count: int) -> str:
    return f"{len(found)} vectors for {count} texts" if isinstance(found, list) else "no vectors in the answer"


def bearer(key: str) -> dict[str, str]:
    """Return the header that carries a key at most providers."""
    return {"Authorization": f"Bearer {key}"} if key else {}
