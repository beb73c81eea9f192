"""`agents.defaults.memory`: RsClaw's way to name an embedder, and what a turn recalls by itself.

The embedder counts while `memorySearch.provider` is not set.
"""

from typing import Final

from pydantic import Field

from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.providers import HttpAddress, LocalSection, RemoteSection
from memoryd.config.section import AnchoredPath, SharedSection, Text

MOST: Final = 12
"""More memories than these help no answer."""


class RetrievalSection(SharedSection):
    """How much of a prompt may be spent on what is recalled."""

    max_tokens: int = Field(default=1200, ge=50, le=100_000)
    """How many tokens (estimated) the bundle of a turn may have, what stays the same included."""


class AutoRecallSection(SharedSection, alias_generator=None):
    """Whether a message is answered with what is recalled for it, and with how much."""

    auto_recall: bool = True
    """`false`: a turn gives no bundle; the agent recalls when it needs to."""
    recall_final_k: int = Field(default=5, ge=1, le=MOST)
    """How many memories and passages a turn recalls, 12 at most."""
    retrieval: RetrievalSection = RetrievalSection()
    """The size of the bundle of a turn."""


ROUTE: Final = "/embeddings"


class LocalEmbedderSection(SharedSection, alias_generator=None):
    """A folder that holds one GGUF model."""

    model_dir: AnchoredPath | None = None
    """A folder with one `.gguf` file; RsClaw's name for `memorySearch.local.modelPath`."""


class RemoteEmbedderSection(SharedSection, alias_generator=None):
    """An OpenAI-compatible endpoint; `url` is the whole address of its route."""

    url: HttpAddress | None = None
    """RsClaw's name for `provider: "openai"` with `memorySearch.remote.baseUrl`, with `/embeddings` at the end."""
    model: Text | None = None
    """RsClaw's name for `memorySearch.model`."""
    query_instruction: Text | None = None
    """RsClaw's name for `memorySearch.queryInstruction`."""


class EmbedderSection(SharedSection):
    """One of the two; if both are given, the endpoint."""

    local: LocalEmbedderSection = LocalEmbedderSection()
    """A model on this machine; counts if `remote.url` is not set."""
    remote: RemoteEmbedderSection = RemoteEmbedderSection()
    """An endpoint of the kind that OpenAI has; wins over `local`."""

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


class AgentMemorySection(AutoRecallSection):
    """What RsClaw keeps under `memory` of an agent."""

    embedder: EmbedderSection = EmbedderSection()
    """Who embeds, while `memorySearch.provider` is not set."""


def _search(**values: object) -> MemorySearchSection:
    return MemorySearchSection.model_validate({name: value for name, value in values.items() if value is not None})
