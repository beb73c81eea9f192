"""What brings an embedder about and keeps it up: the seam between a provider and whoever stands in for it."""

from typing import Protocol

from memoryd.embed.slot import EmbedderSlot


class EmbedderSource(Protocol):
    """Keeps its slot truthful while `run` runs."""

    @property
    def slot(self) -> EmbedderSlot: ...

    async def run(self) -> None:
        """Loop until cancelled; goes on trying by itself after a failure."""

    def trouble(self) -> str | None:
        """Return why it has been given up for now, None while it works or is still on its way."""
