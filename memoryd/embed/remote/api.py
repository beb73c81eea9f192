"""What the providers' wire formats share: the prompts around a text, and the answer that most of them give."""

import base64
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Purpose, Unembeddable
from memoryd.models.families import NO_TITLE, ModelMetadata, family_of

PLAIN: Final = "{text}"
TITLE: Final = "{title}"
TITLE_LINE: Final = "{title_line}"
"""The title and a line break, or nothing where there is no title."""
PLACES: Final = expression(r"\{(text|title|title_line)\}")
RawVector = Sequence[object]
"""A vector as it came: not yet known to be numbers, finite, or of the right length."""


class PromptTemplate(Struct, frozen=True):
    """The prompt (a template with `{text}`, `{title}` and `{title_line}`) and the input type for one purpose."""

    prompt: str = PLAIN
    input_type: str = ""

    def apply(self, text: str, title: str = "") -> str:
        """Put the text into the prompt; an empty title reads `none`."""
        title = title.strip()
        values = {"text": text, "title": title or NO_TITLE, "title_line": f"{title}\n" if title else ""}
        return PLACES.sub(lambda place: values[place[1]], self.prompt)

    @property
    def titled(self) -> "PromptTemplate":
        """The same with the title as a line above the text, unless the prompt has a place of its own for it.

        As with a local model: a paragraph of a long page is told from its like by the headings it stands under.
        """
        if TITLE in self.prompt:
            return self
        return replace(self, prompt=self.prompt.replace(PLAIN, TITLE_LINE + PLAIN, 1))

    @property
    def name(self) -> str:
        """What stands in the identity: all of it decides the vector."""
        return f"{self.input_type}|{self.prompt}" if self.input_type else self.prompt


class PromptTemplates(Struct, frozen=True):
    """Both sides."""

    query: PromptTemplate = PromptTemplate()
    document: PromptTemplate = PromptTemplate()

    def of(self, purpose: Purpose) -> PromptTemplate:
        """Return the one for a purpose."""
        return self.query if purpose is Purpose.QUERY else self.document


class PromptOverride(Struct, frozen=True):
    """What the configuration says of one purpose."""

    instruction: str | None = None
    """Stands before the text, or around it if it contains `{text}`; None means the model's own."""
    input_type: str | None = None
    """Is sent as it is; None means the provider's own."""


def family_prompts(model: str) -> PromptTemplates:
    """Return the prompts that the name of an open model asks for; plain for a name that says nothing."""
    family = family_of(ModelMetadata(architecture="", name=model, dimensions=0, context=0))
    return PromptTemplates(PromptTemplate(family.query_prompt), PromptTemplate(family.document_prompt))


def overridden(own: PromptTemplate, override: PromptOverride) -> PromptTemplate:
    """Return what the model wants, except where the configuration says otherwise.

    A configured input type means that the server knows the prompt: the model's own would then stand twice.
    """
    prompt, input_type = own.prompt, own.input_type
    if override.input_type is not None:
        prompt, input_type = PLAIN, override.input_type
    if override.instruction is not None:
        prompt = override.instruction if PLAIN in override.instruction else override.instruction + PLAIN
    return PromptTemplate(prompt, input_type)


class Input(Struct, frozen=True):
    """A text with its prompt; the title apart, for a provider that takes it so."""

    text: str
    title: str = ""


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


def vector_of(row: RawVector) -> Vector | Unembeddable:
    """Return the row as float32 of Euclidean length 1; rejected if it is not made of finite numbers or is all zeros."""
    if not all(type(number) in (float, int) for number in row):
        return Unembeddable("the endpoint answered with something that is no number")
    try:
        # float64: the length of a long vector of large numbers overflows float32
        vector = np.asarray(row, dtype=np.float64)
        length = float(np.linalg.norm(vector))
    except (OverflowError, ValueError):
        return Unembeddable("the endpoint answered with numbers out of range")
    if not np.isfinite(length):
        return Unembeddable("the endpoint answered with numbers that are not finite")
    if length == 0.0:
        return Unembeddable("the endpoint answered with zeros only")
    return (vector / length).astype(np.float32)
