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

    enabled: bool = Field(default=True, description="`false`: no sqlite-vec, vectors are compared in memory.")
    extension_path: Text | None = Field(
        default=None, description="The file of another sqlite-vec than the one that came with memoryd."
    )


class StoreFtsSection(Section):
    """Keyword search."""

    tokenizer: Literal["unicode61", "trigram"] = Field(
        default="unicode61",
        description="Without effect: the choice loses either unspaced scripts or short words, so one tokenizer of ours "
        "serves all languages.",
    )


class StoreSection(Section):
    """Where the index lies; unset means the state directory, a relative path starts at the workspace."""

    driver: Literal["sqlite"] = Field(default="sqlite", description="The kind of database; there is one.")
    path: Annotated[Text, AfterValidator(_only_agent_id)] | None = Field(
        default=None,
        description="The file of the index, relative to the workspace, `{agentId}` standing for the agent; unset: the "
        "state directory, one index for each workspace, and one more for an agent that indexes or ranks otherwise than "
        "those before it there; below `~/.openclaw`, where OpenClaw has an index of its own, `NAME.memoryd.sqlite` "
        "beside it.",
    )
    vector: StoreVectorSection = Field(default=StoreVectorSection(), description="How vectors are compared.")
    fts: StoreFtsSection = Field(default=StoreFtsSection(), description="How words are indexed.")


class ChunkingSection(Section):
    """Size of a chunk and how much of it the next one repeats, in tokens."""

    tokens: int = Field(default=400, ge=16, le=8192, description="The size of a chunk, in tokens, about.")
    overlap: int = Field(
        default=80,
        ge=0,
        le=8191,
        description="How much of a chunk the next one repeats, in tokens; a fifth of a chunk if it is no less than "
        "that.",
    )

    def fitted(self) -> Self:
        """Return the same with an overlap that leaves room for new text: a fifth of a chunk where none is left.

        OpenClaw takes one token less than a chunk, by which each word is stored and embedded hundreds of times.
        """
        return self if self.overlap < self.tokens else self.model_copy(update={"overlap": self.tokens // 5})


class CacheSection(Section):
    """Vectors kept for text that no chunk holds now."""

    enabled: bool = Field(
        default=True, description="Whether vectors of text that is gone are kept, for when it comes back."
    )
    max_entries: int = Field(default=50_000, ge=0, le=100_000_000, description="How many of these vectors are kept.")


class MultimodalSection(Section):
    """Pictures and sounds under `extraPaths`; no modality named means all."""

    enabled: bool = Field(
        default=False,
        description="`true`: pictures and sounds below `extraPaths` are indexed too, and sent to "
        "`gemini-embedding-2-preview`.",
    )
    modalities: Annotated[tuple[Literal["image", "audio", "all"], ...], Field(strict=False)] = Field(
        default=(), description="Which of them are indexed; empty: all."
    )
    max_file_bytes: int = Field(
        default=10_485_760,
        ge=1,
        le=1_073_741_824,
        description="The largest picture or sound that is indexed, in bytes; larger ones are left out and reported.",
    )


class ExperimentalSection(Section):
    """Switches of features that may change."""

    session_memory: bool = Field(
        default=False,
        description='`true`: with `"sessions"` in `sources`, session transcripts are read and indexed; a remote '
        "provider of embeddings gets them as it gets notes.",
    )


class SearchQmdSection(Section):
    """Collections of qmd that this agent alone searches."""

    extra_collections: QmdPaths = Field(
        default=(), description="More that qmd indexes, as `memory.qmd.paths`, for this agent alone."
    )


Sources = Annotated[tuple[Literal["memory", "sessions"], ...], Field(strict=False, min_length=1)]


class MemorySearchSection(Section):
    """The whole of it, for one agent or as the default of all."""

    enabled: bool = Field(
        default=True, description="`false`: this agent's memory cannot be searched, and gets no vectors."
    )
    sources: Sources = Field(
        default=("memory",),
        description="What a question asks unless it names `sources` itself: notes (`memory`), conversations "
        "(`sessions`), or both.",
    )
    extra_paths: Texts = Field(
        default=(),
        description="More Markdown to index: files, folders or globs, absolute, `~` or relative to the workspace; "
        '`["."]`: all of it.',
    )
    exclude: Texts = Field(
        default=(), description="What is never indexed: patterns as in a `.gitignore` at the top of the workspace."
    )
    follow_symlinks: bool = Field(default=False, description="`true`: what symbolic links point to is indexed too.")
    provider: ProviderName = Field(
        default="local",
        description="Who embeds: the model that memoryd runs itself (`local`), nobody (`none`, words only), the first "
        "that is there (`auto`), or a remote provider.",
    )
    fallback: FallbackName = Field(
        default="none",
        description="Another provider, used only while the first fails; `none`: words answer alone then.",
    )
    model: Text | None = Field(
        default=None, description="The model of a remote provider; unset: the provider's default."
    )
    output_dimensionality: Annotated[int, Field(ge=1, le=65_536)] | None = Field(
        default=None,
        description="The length of the vectors, for remote models that let one choose; unset: the model's own.",
    )
    input_type: Text | None = Field(
        default=None,
        description="The input type that is sent with questions and notes alike, to `openai` addresses, `gemini` and "
        "`voyage`; without effect at the others.",
    )
    query_input_type: Text | None = Field(
        default=None, description="The input type of questions alone; unset: `inputType`."
    )
    document_input_type: Text | None = Field(
        default=None, description="The input type of notes alone; unset: `inputType`."
    )
    query_instruction: Text | None = Field(
        default=None, description="Put before a question; unset: what the model's family has."
    )
    document_instruction: Text | None = Field(
        default=None, description="Put before a note; unset: what the model's family has."
    )
    local: LocalSection = Field(default=LocalSection(), description="The model that memoryd runs itself.")
    remote: RemoteSection = Field(
        default=RemoteSection(), description="The endpoint of a remote provider; wins over `models.providers`."
    )
    store: StoreSection = Field(default=StoreSection(), description="Where the index lies, and how it is kept.")
    chunking: ChunkingSection = Field(default=ChunkingSection(), description="How notes are cut into chunks.")
    sync: SyncSection = Field(default=SyncSection(), description="When the folder is looked at.")
    query: QuerySection = Field(default=QuerySection(), description="How a question becomes hits.")
    cache: CacheSection = Field(default=CacheSection(), description="Vectors of text that is gone.")
    multimodal: MultimodalSection = Field(default=MultimodalSection(), description="Pictures and sounds.")
    experimental: ExperimentalSection = Field(default=ExperimentalSection(), description="Features that may change.")
    qmd: SearchQmdSection = Field(default=SearchQmdSection(), description="What qmd has for this agent alone.")
