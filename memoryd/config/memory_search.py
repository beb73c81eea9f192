"""`memorySearch`: what is indexed, how it is embedded and how it is searched."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from memoryd.config.providers import FallbackName, LocalSection, ProviderName, RemoteSection
from memoryd.config.qmd import QmdPaths
from memoryd.config.query import QuerySection
from memoryd.config.section import Section, Text, Texts
from memoryd.config.sync import SyncSection


def _only_agent_id(path: str) -> str:
    unknown = re.search(r"\{(?!agentId\})[^}]*\}?", path)
    if unknown:
        raise ValueError(f"only {{agentId}} can stand for something here, not {unknown[0]}")
    return path


class StoreVectorSection(Section):
    """The sqlite-vec extension; `extension_path` overrides the one that is installed with memoryd."""

    enabled: bool = True
    extension_path: Text | None = None


class StoreFtsSection(Section):
    """Keyword search."""

    tokenizer: Literal["unicode61", "trigram"] = "unicode61"


class StoreSection(Section):
    """Where the index lies; unset means the state directory, a relative path starts at the workspace."""

    driver: Literal["sqlite"] = "sqlite"
    path: Annotated[Text, AfterValidator(_only_agent_id)] | None = None
    vector: StoreVectorSection = StoreVectorSection()
    fts: StoreFtsSection = StoreFtsSection()


class ChunkingSection(Section):
    """Size of a chunk and how much of it the next one repeats, in tokens."""

    tokens: int = Field(default=400, ge=16, le=8192)
    overlap: int = Field(default=80, ge=0, le=8191)

    def fitted(self) -> Self:
        """Return the same with an overlap that leaves room for new text: a fifth of a chunk where none is left.

        OpenClaw takes one token less than a chunk, by which each word is stored and embedded hundreds of times.
        """
        return self if self.overlap < self.tokens else self.model_copy(update={"overlap": self.tokens // 5})


class CacheSection(Section):
    """Vectors kept for text that no chunk holds now."""

    enabled: bool = True
    max_entries: int = Field(default=50_000, ge=0, le=100_000_000)


class MultimodalSection(Section):
    """Pictures and sounds under `extraPaths`; no modality named means all."""

    enabled: bool = False
    modalities: Annotated[tuple[Literal["image", "audio", "all"], ...], Field(strict=False)] = ()
    max_file_bytes: int = Field(default=10_485_760, ge=1, le=1_073_741_824)


class ExperimentalSection(Section):
    """Switches of features that may change."""

    session_memory: bool = False


class SearchQmdSection(Section):
    """Collections of qmd that this agent alone searches."""

    extra_collections: QmdPaths = ()


Sources = Annotated[tuple[Literal["memory", "sessions"], ...], Field(strict=False, min_length=1)]


class MemorySearchSection(Section):
    """The whole of it, for one agent or as the default of all."""

    enabled: bool = True
    sources: Sources = ("memory",)
    extra_paths: Texts = ()
    exclude: Texts = ()
    follow_symlinks: bool = False
    provider: ProviderName = "local"
    fallback: FallbackName = "none"
    model: Text | None = None
    output_dimensionality: Annotated[int, Field(ge=1, le=65_536)] | None = None
    input_type: Text | None = None
    query_input_type: Text | None = None
    document_input_type: Text | None = None
    query_instruction: Text | None = None
    document_instruction: Text | None = None
    local: LocalSection = LocalSection()
    remote: RemoteSection = RemoteSection()
    store: StoreSection = StoreSection()
    chunking: ChunkingSection = ChunkingSection()
    sync: SyncSection = SyncSection()
    query: QuerySection = QuerySection()
    cache: CacheSection = CacheSection()
    multimodal: MultimodalSection = MultimodalSection()
    experimental: ExperimentalSection = ExperimentalSection()
    qmd: SearchQmdSection = SearchQmdSection()
