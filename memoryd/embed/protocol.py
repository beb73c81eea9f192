"""The seam between text and vectors: what every embedder takes, gives and promises."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, NewType, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    # a worker reads this module, and has no use for numpy, which takes as long to import as its model to load
    from memoryd.domain.vector import Vector


class Purpose(StrEnum):
    """What a text is embedded for. A question is small, and somebody waits for it: it overtakes all documents."""

    QUERY = "query"
    DOCUMENT = "document"


Fingerprint = NewType("Fingerprint", str)
"""Names a vector space: vectors of different fingerprints are never compared."""


class EmbedderIdentity(Struct, frozen=True):
    """All that decides which vector a text gets. Keys, headers and thread counts are not part of it."""

    provider: str
    model: str
    revision: str
    """What tells two files or releases of one model apart: a content hash for a local file, else empty."""
    endpoint: str
    dimensions: int
    pooling: str
    query_prompt: str
    document_prompt: str

    @property
    def fingerprint(self) -> Fingerprint:
        """Sixteen hexadecimal digits of SHA-256 over all fields."""
        fields = "\x1f".join(str(getattr(self, name)) for name in self.__struct_fields__)
        return Fingerprint(sha256(fields.encode()).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Attachment:
    """The bytes of a picture or sound, what they are, and their SHA-256, by which two are told apart."""

    mime: str
    sha256: bytes
    data: bytes = field(repr=False, compare=False)


class Passage(Struct, frozen=True):
    """A text to embed and the title that prompts of some models carry (heading path or file name).

    With an attachment that is what is embedded, and the text says which file it is. Only a model that takes pictures
    and sounds is given one; it answers with a vector of the same space.
    """

    text: str
    title: str = ""
    attachment: Attachment | None = None


class Unembeddable(Struct, frozen=True):
    """A passage that the model gives no usable vector for, and why."""

    reason: str


class Embedder(Protocol):
    """Turns text into vectors of one space. Applies its model's prompts, normalises, truncates by tokens.

    Both methods raise EmbedderUnavailable when the answer cannot be had now, WorkerDied when the batch
    may have killed the model; a batch answers in order, with Unembeddable for a single unusable passage.
    """

    @property
    def identity(self) -> EmbedderIdentity: ...

    async def embed_query(self, text: str) -> "Vector": ...

    async def embed_documents(self, passages: Sequence[Passage]) -> "list[Vector | Unembeddable]": ...
