"""`memorySearch`: what is indexed and embedded, when the disk is scanned, and how the index is searched."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from memoryd.config.providers import FallbackName, LocalSection, ProviderName, RemoteSection
from memoryd.config.qmd import QmdPaths
from memoryd.config.section import (
    AnchoredPath,
    Count,
    Days,
    DeadlineMs,
    Fraction,
    Minutes,
    OpenClawSection,
    ResultCount,
    Seconds,
    Text,
    Texts,
    Threads,
    TupleOf,
)
from memoryd.domain.sessions.transcripts.records import ReadingRule

REFERENCE_SPLIT = (0.7, 0.3)
"""OpenClaw's weights of vectors and words: `weighted` uses them for an unset weight, or if both weights are 0."""


class MmrSection(OpenClawSection):
    """Diversity: `lambda` 1 is pure relevance, 0 is pure difference."""

    enabled: bool = False
    """`true`: prefer different hits over hits that are near-copies."""
    lambda_: Fraction = 0.7
    """1 is relevance alone, 0 is difference alone."""


class TemporalDecaySection(OpenClawSection):
    """Recency: the score halves every `half_life_days`."""

    enabled: bool = False
    """`true`: the scores of dated notes fade, so that new notes rank before old ones."""
    half_life_days: Days = 30
    """The number of days after which a score counts half."""


class HybridSection(OpenClawSection):
    """How word and vector scores are weighted; the default weights are those for `relative`."""

    enabled: bool = True
    """`false`: search by vectors alone, if there are any."""
    fusion: Literal["relative", "weighted"] = "relative"
    """How word and vector scores are merged: `relative` measures each on its own scale, `weighted` adds the raw scores,
    as OpenClaw does."""
    vector_weight: float = Field(default=0.3, ge=0, le=1_000_000)
    """Weight of vectors; the two weights are made to add up to 1; unset with `weighted`: 0.7."""
    text_weight: float = Field(default=0.7, ge=0, le=1_000_000)
    """Weight of words; the two weights are made to add up to 1; unset with `weighted`: 0.3."""
    candidate_multiplier: int = Field(default=4, ge=1, le=20)
    """Word and vector search each fetch `maxResults` times this, at most 400; `relative` fetches at least 100."""
    mmr: MmrSection = MmrSection()
    """Maximal marginal relevance: hits that differ from those before them."""
    temporal_decay: TemporalDecaySection = TemporalDecaySection()
    """How the score of a dated note fades with its age."""

    def with_normalised_weights(self) -> Self:
        """Return a copy with weights that add up to 1, so that 70 and 30 work as percentages."""
        vector, text = self.vector_weight, self.text_weight
        if self.fusion == "weighted":
            vector = vector if "vector_weight" in self.model_fields_set else REFERENCE_SPLIT[0]
            text = text if "text_weight" in self.model_fields_set else REFERENCE_SPLIT[1]
        total = vector + text
        vector, text = (vector / total, text / total) if total else REFERENCE_SPLIT
        return self.model_copy(update={"vector_weight": vector, "text_weight": text})


class RerankSection(OpenClawSection):
    """A cross-encoder that scores the first candidates; if it is late or fails, the order does not change."""

    model_path: AnchoredPath | None = None
    """The reranker: a GGUF of bge-reranker, jina-reranker, qwen3-reranker or a similar model, named as in
    `local.modelPath`; unset: no reranking."""
    candidates: int = Field(default=20, ge=2, le=200)
    """How many candidates are scored, the best of word and vector search."""
    deadline_ms: DeadlineMs = 1500
    """The time for scoring all candidates, in milliseconds, within `query.deadlineMs`; if it does not suffice, the
    order does not change."""
    threads: Threads = 1
    """How many threads the model uses."""
    idle_unload_minutes: Minutes = 10
    """After how long without a query the model is unloaded, in minutes; 0: never."""


class QuerySection(OpenClawSection):
    """Size, threshold and deadline of an answer."""

    max_results: ResultCount = 6
    """How many hits an answer has at most, if the query does not say."""
    min_score: Fraction = 0.0
    """The least score of a hit, from 0 to 1; a lower hit is only returned if it has a word of the query."""
    deadline_ms: DeadlineMs = 5000
    """The time for an answer, in milliseconds; it is sent by then, with the results so far."""
    fresh_ms: int = Field(default=100, ge=0, le=60_000)
    """How long a query first waits for changed notes and conversations to be read, in milliseconds, and never longer
    than half of its deadline; 0: not at all; if they are not read by then, the answer is incomplete."""
    hybrid: HybridSection = HybridSection()
    """How word and vector search are combined."""
    rerank: RerankSection = RerankSection()
    """A second model that ranks the best candidates again; off by default."""


class SyncSessionsSection(OpenClawSection):
    """How much a transcript must grow before its new lines are read."""

    delta_bytes: int = Field(default=100_000, ge=0, le=1_073_741_824)
    """Read the new lines of a transcript after this much growth, in bytes; 0: after any."""
    delta_messages: Count = 50
    """Read the new lines of a transcript after this many lines, each a message or an event; 0: after any."""
    idle_seconds: Seconds = 300
    """Read the new lines of a transcript, however few, when it has not grown for this long, in seconds."""
    post_compaction_force: bool = True
    """Whether the new lines of a transcript are read at once after its program compacted the context of its model."""

    def rule(self) -> ReadingRule:
        """Return the domain type of this section."""
        return ReadingRule(self.delta_bytes, self.delta_messages, self.idle_seconds, self.post_compaction_force)


class SyncSection(OpenClawSection):
    """Watching, scanning and their grace periods; 0 turns an interval off.

    With `paused` new passages get no vectors until they are requested.
    """

    watch: bool = True
    """Whether the system's file events are watched; `false`: the folder is only scanned."""
    watch_debounce_ms: int = Field(default=1500, ge=0, le=600_000)
    """How long after a change to wait for more, in milliseconds."""
    settle_ms: int = Field(default=200, ge=0, le=60_000)
    """How long a file must be unchanged before it is read, in milliseconds."""
    delete_grace_ms: int = Field(default=2000, ge=0, le=600_000)
    """How long a file must be missing before it leaves the index, in milliseconds: some editors delete and write
    again."""
    root_grace_seconds: Seconds = 60
    """How long a missing folder keeps its index, in seconds; also the files that an entry of `extraPaths` names or
    matched."""
    reconcile_seconds: Seconds = 30
    """How often folder and index are compared, also with a watcher, in seconds; 0: never; on a network file system
    every 10 s at least, since no file event reports a change by another machine."""
    interval_minutes: Minutes = 0
    """Another interval at which folder and index are compared, in minutes; 0: none."""
    on_session_start: bool = True
    """Whether the folder is scanned, in the background, when a session starts."""
    on_search: bool = True
    """Whether the folder is scanned, in the background, at each query."""
    paused: bool = False
    """`true`: notes get vectors only on request (`memoryctl index`); word search stays current."""
    embedding_batch_timeout_seconds: float | None = Field(default=None, gt=0, le=86_400)
    """How long one request to a remote provider may take, in seconds; unset: 120."""
    sessions: SyncSessionsSection = SyncSessionsSection()
    """When the new lines of a session's transcript are read."""


def _only_agent_id(path: str) -> str:
    unknown = re.search(r"\{(?!agentId\})[^}]*\}?", path)
    if unknown:
        raise ValueError(f"only {{agentId}} is a placeholder here, not {unknown[0]}")
    return path


class StoreVectorSection(OpenClawSection):
    """OpenClaw's sqlite-vec extension, which memoryd does not use."""

    enabled: bool = True
    """Without effect: memoryd compares vectors itself."""
    extension_path: AnchoredPath | None = None
    """Without effect: memoryd compares vectors itself, and loads no extension."""


class StoreFtsSection(OpenClawSection):
    """Keyword search."""

    tokenizer: Literal["unicode61", "trigram"] = "unicode61"
    """Without effect: each choice fails either for scripts without spaces or for short words, so memoryd has its own
    tokenizer for all languages."""


class StoreSection(OpenClawSection):
    """The location of the index; unset means the state directory, a relative path starts at the workspace."""

    driver: Literal["sqlite"] = "sqlite"
    """The kind of database; there is only one."""
    path: Annotated[Text, AfterValidator(_only_agent_id)] | None = None
    """The file of the index, relative to the workspace; `{agentId}` is replaced by the id of the agent; unset: in the
    state directory, one index for each workspace, and another one for an agent with other index or ranking settings;
    below `~/.openclaw`, where OpenClaw has its own index, `NAME.memoryd.sqlite` beside it."""
    vector: StoreVectorSection = StoreVectorSection()
    """How vectors are compared."""
    fts: StoreFtsSection = StoreFtsSection()
    """How words are indexed."""


class ChunkingSection(OpenClawSection):
    """Size of a chunk and how much of it the next one repeats, in tokens."""

    tokens: int = Field(default=400, ge=16, le=8192)
    """The approximate size of a chunk, in tokens."""
    overlap: int = Field(default=80, ge=0, le=8191)
    """How much of a chunk the next one repeats, in tokens; if it is not less than `tokens`, a fifth of `tokens` is
    used."""

    def with_valid_overlap(self) -> Self:
        """Return a copy with an overlap smaller than a chunk: a fifth of a chunk if it is not smaller.

        OpenClaw uses one token less than a chunk, so that each word is stored and embedded hundreds of times.
        """
        return self if self.overlap < self.tokens else self.model_copy(update={"overlap": self.tokens // 5})


class CacheSection(OpenClawSection):
    """Cache of vectors of text that is in no chunk any more."""

    enabled: bool = True
    """Whether vectors of removed text are cached, in case the text comes back."""
    max_entries: int = Field(default=50_000, ge=0, le=100_000_000)
    """How many of these vectors are cached."""

    @property
    def capacity(self) -> int:
        """The size of the cache; 0 if it is off."""
        return self.max_entries if self.enabled else 0


class MultimodalSection(OpenClawSection):
    """Pictures and sounds under `extraPaths`; an empty list of modalities means all."""

    enabled: bool = False
    """`true`: pictures and sounds below `extraPaths` are indexed too, and sent to `gemini-embedding-2-preview`."""
    modalities: TupleOf[Literal["image", "audio", "all"]] = ()
    """The kinds of media that are indexed; empty: all."""
    max_file_bytes: int = Field(default=10_485_760, ge=1, le=1_073_741_824)
    """The largest picture or sound that is indexed, in bytes; larger ones are left out and reported."""


class ExperimentalSection(OpenClawSection):
    """Switches of features that may change."""

    session_memory: bool = False
    """`true`: with `"sessions"` in `sources`, session transcripts are read and indexed; a remote embedding provider
    receives them, as it receives notes."""


class SearchQmdSection(OpenClawSection):
    """qmd collections for this agent alone."""

    extra_collections: QmdPaths = ()
    """Additional paths that qmd indexes for this agent alone, as in `memory.qmd.paths`."""


Sources = Annotated[tuple[Literal["memory", "sessions"], ...], Field(strict=False, min_length=1)]


class MemorySearchSection(OpenClawSection):
    """Index and search settings of one agent, or the defaults for all agents."""

    enabled: bool = True
    """`false`: this agent's memory cannot be searched, and gets no vectors."""
    sources: Sources = ("memory",)
    """The sources of a query that names none: notes (`memory`), conversations (`sessions`), or both; unset with
    `memory.qmd.sessions.enabled`: both; if qmd is not the backend, only where no remote provider embeds."""
    extra_paths: Texts = ()
    """More Markdown to index: files, folders or globs, absolute, `~` or relative to the workspace; `["."]`: the
    complete workspace."""
    exclude: Texts = ()
    """Files that are never indexed: patterns as in a `.gitignore` at the top of the workspace."""
    follow_symlinks: bool = False
    """`true`: targets of symbolic links are indexed too."""
    provider: ProviderName = "local"
    """The embedder: the model that memoryd runs itself (`local`), none (`none`, words only), the first available one
    (`auto`), or a remote provider."""
    fallback: FallbackName = "none"
    """Another provider, used only while the first fails; `none`: then word search alone answers."""
    model: Text | None = None
    """The model of a remote provider; unset: the provider's default."""
    output_dimensionality: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """The length of the vectors, for remote models with a choice; unset: the model's own."""
    input_type: Text | None = None
    """The input type that is sent with queries and notes, to `openai` addresses, `gemini` and `voyage`; without effect
    for other providers."""
    query_input_type: Text | None = None
    """The input type of queries alone; unset: `inputType`."""
    document_input_type: Text | None = None
    """The input type of notes alone; unset: `inputType`."""
    query_instruction: Text | None = None
    """Text before each query; unset: the default of the model's family."""
    document_instruction: Text | None = None
    """Text before each note; unset: the default of the model's family."""
    local: LocalSection = LocalSection()
    """The model that memoryd runs itself."""
    remote: RemoteSection = RemoteSection()
    """The endpoint of a remote provider; wins over `models.providers`."""
    store: StoreSection = StoreSection()
    """The location of the index, and its database."""
    chunking: ChunkingSection = ChunkingSection()
    """How notes are split into chunks."""
    sync: SyncSection = SyncSection()
    """When the folder is scanned."""
    query: QuerySection = QuerySection()
    """How a query is answered."""
    cache: CacheSection = CacheSection()
    """Vectors of removed text."""
    multimodal: MultimodalSection = MultimodalSection()
    """Pictures and sounds."""
    experimental: ExperimentalSection = ExperimentalSection()
    """Features that may change."""
    qmd: SearchQmdSection = SearchQmdSection()
    """qmd settings for this agent alone."""
