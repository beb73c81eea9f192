"""What an answer is not to tell: documents that are gone or private now, and chunks that their documents lost."""

from dataclasses import dataclass

from memoryd.domain.documents import RelativePath
from memoryd.store.index.passages import ChunkRow


@dataclass(frozen=True, slots=True)
class Untold:
    """Paths, and chunks by their ids; others take their places."""

    paths: frozenset[RelativePath] = frozenset()
    chunks: frozenset[int] = frozenset()

    def __or__(self, other: "Untold") -> "Untold":
        return Untold(self.paths | other.paths, self.chunks | other.chunks)

    @property
    def is_empty(self) -> bool:
        return not self.paths and not self.chunks

    def holds(self, chunk: ChunkRow) -> bool:
        """Tell whether a chunk is one of these."""
        return chunk.path in self.paths or chunk.id in self.chunks
