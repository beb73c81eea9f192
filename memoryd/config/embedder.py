"""`agents.defaults.memory`: RsClaw's way to name an embedder; counts while `memorySearch.provider` is not set."""

from typing import Final

from pydantic import Field

from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.providers import HttpAddress, LocalSection, RemoteSection
from memoryd.config.section import SharedSection, Text

ROUTE: Final = "/embeddings"


class LocalEmbedderSection(SharedSection):
    """A folder that holds one GGUF model."""

    model_dir: Text | None = Field(default=None, alias="model_dir")


class RemoteEmbedderSection(SharedSection):
    """An OpenAI-compatible endpoint; `url` is the whole address of its route."""

    url: HttpAddress | None = None
    model: Text | None = None
    query_instruction: Text | None = Field(default=None, alias="query_instruction")


class EmbedderSection(SharedSection):
    """One of the two; if both are given, the endpoint."""

    local: LocalEmbedderSection = LocalEmbedderSection()
    remote: RemoteEmbedderSection = RemoteEmbedderSection()

    @property
    def named_by(self) -> str:
        """The key that names the provider; empty if none does."""
        for place, value in (("remote.url", self.remote.url), ("local.model_dir", self.local.model_dir)):
            if value is not None:
                return f"agents.defaults.memory.embedder.{place}"
        return ""

    def as_search(self) -> MemorySearchSection:
        """Return what it means in the words of `memorySearch`, with only those fields set."""
        if self.remote.url is not None:
            return _search(
                provider="openai",
                remote=RemoteSection(base_url=self.remote.url.rstrip("/").removesuffix(ROUTE)),
                model=self.remote.model,
                query_instruction=self.remote.query_instruction,
            )
        if self.local.model_dir is not None:
            return _search(provider="local", local=LocalSection(model_path=self.local.model_dir))
        return MemorySearchSection()


class AgentMemorySection(SharedSection):
    """What RsClaw keeps under `memory` of an agent."""

    embedder: EmbedderSection = EmbedderSection()


def _search(**values: object) -> MemorySearchSection:
    return MemorySearchSection.model_validate({name: value for name, value in values.items() if value is not None})
