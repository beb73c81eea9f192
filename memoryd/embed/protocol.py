"""The interface of all embedders."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, NewType, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    # workers import this module and do not need numpy, whose import takes as long as loading a model
    from memoryd.domain.vector import Vector


class Purpose(StrEnum):
    """The purpose of an embedding. A question is small and a caller waits for it: it overtakes all documents."""

    QUERY = "query"
    DOCUMENT = "document"


Fingerprint = NewType("Fingerprint", str)
"""The id of a vector space: vectors of different fingerprints are never compared."""


class EmbedderIdentity(Struct, frozen=True):
    """Everything that determines the vector of a text. Keys, headers and thread counts are not part of it."""

    provider: str
    model: str
    revision: str
    """Distinguishes files or releases of one model: a content hash for a local file, else empty."""
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
    """The bytes of a picture or sound, their MIME type, and their SHA-256, by which attachments are compared."""

    mime: str
    sha256: bytes
    data: bytes = field(repr=False, compare=False)


class Passage(Struct, frozen=True):
    """A text to embed and the title that prompts of some models contain (heading path or file name).

    With an attachment, the attachment is embedded, and the text says which file it is. Only a model that embeds
    pictures and sounds gets attachments; their vectors are in the same space.
    """

    text: str
    title: str = ""
    attachment: Attachment | None = None


class Unembeddable(Struct, frozen=True):
    """The reason why the model gives no usable vector for a passage."""

    reason: str


class Embedder(Protocol):
    """Turns text into vectors of one space. Applies its model's prompts, normalises, truncates by tokens.

    Both methods raise EmbedderUnavailable if there is no answer now, and WorkerDied if the batch may have killed the
    model. A batch returns its results in order, with Unembeddable for a single unusable passage.
    """

    @property
    def identity(self) -> EmbedderIdentity: ...

    async def embed_query(self, text: str) -> "Vector": ...

    async def embed_documents(self, passages: Sequence[Passage]) -> "list[Vector | Unembeddable]": ...
