"""What is known of the index of qmd: how new it is, and what it lacks."""

from dataclasses import dataclass

from memoryd.qmd.collections import Collection
from memoryd.qmd.model_links import QmdModels


@dataclass(slots=True)
class UpkeepState:
    """What is known of the index; moments are seconds of the system's clock. The upkeep alone writes it."""

    changed_at: float
    vector_trouble: str | None
    trouble: str | None = "qmd is starting"
    hint: str = ""
    updated_at: float | None = None
    """When the last update began that succeeded."""
    embedded_at: float | None = None
    vectors: int | None = None
    is_embedding: bool = False
    collections: tuple[Collection, ...] = ()
    models: QmdModels | None = None

    @property
    def is_current(self) -> bool:
        """Whether an update has begun after the last change that is known of, and succeeded."""
        return self.updated_at is not None and self.updated_at > self.changed_at

    @property
    def owes_vectors(self) -> bool:
        """Whether the last update may have brought documents that have no vectors yet."""
        return self.updated_at is None or self.embedded_at is None or self.embedded_at < self.updated_at

    def as_of(self, *, by_words: bool) -> float | None:
        """Return the moment up to which changes can be found, None if that is all that are known of.

        Found by words is what was updated, by meaning what was embedded since.
        """
        moment = self.updated_at if by_words else self.embedded_at
        return None if moment is not None and moment > self.changed_at else moment or 0.0
