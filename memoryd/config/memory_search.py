"""`memorySearch`: what is indexed and when the disk is scanned, how it is embedded, and how it is searched."""

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
    Many,
    Minutes,
    OpenClawSection,
    ResultCount,
    Seconds,
    Text,
    Texts,
    Threads,
)
from memoryd.domain.sessions.transcripts.records import ReadingRule

REFERENCE_SPLIT = (0.7, 0.3)
"""Weights of meaning and words in OpenClaw: what `weighted` uses for one that is not given, and for two that are 0."""


class MmrSection(OpenClawSection):
    """Diversity: `lambda` 1 is pure relevance, 0 is pure difference."""

    enabled: bool = False
    """`true`: prefer different hits over hits that are near-copies."""
    lambda_: Fraction = 0.7
    """1 is relevance alone, 0 is difference alone."""


class TemporalDecaySection(OpenClawSection):
    """Recency: the score halves every `half_life_days`."""

    enabled: bool = False
    """`true`: dated notes fade, so that new ones stand before old ones."""
    half_life_days: Days = 30
    """The number of days after which a score counts half."""


class HybridSection(OpenClawSection):
    """How words and vectors are weighed against each other; the defaults of the weights are those of `relative`."""

    enabled: bool = True
    """`false`: search by vectors alone, where there are some."""
    fusion: Literal["relative", "weighted"] = "relative"
    """How the scores of words and vectors are merged: `relative` measures each against itself, `weighted` adds the raw
    scores, as OpenClaw does."""
    vector_weight: float = Field(default=0.3, ge=0, le=1_000_000)
    """Weight of meaning; the two weights are made to add up to 1; unset with `weighted`: 0.7."""
    text_weight: float = Field(default=0.7, ge=0, le=1_000_000)
    """Weight of words; the two weights are made to add up to 1; unset with `weighted`: 0.3."""
    candidate_multiplier: int = Field(default=4, ge=1, le=20)
    """Words and vectors each fetch `maxResults` times this, no more than 400; `relative` fetches no fewer than 100."""
    mmr: MmrSection = MmrSection()
    """Maximal marginal relevance: hits that differ from those before them."""
    temporal_decay: TemporalDecaySection = TemporalDecaySection()
    """How the score of a dated note fades with its age."""

    def normalised(self) -> Self:
        """Return the same with weights that add up to 1, so that 70 and 30 work as percentages."""
        vector, text = self._given()
        total = vector + text
        vector, text = (vector / total, text / total) if total else REFERENCE_SPLIT
        return self.model_copy(update={"vector_weight": vector, "text_weight": text})

    def _given(self) -> tuple[float, float]:
        if self.fusion == "relative":
            return self.vector_weight, self.text_weight
        given = self.model_fields_set
        vector, text = REFERENCE_SPLIT
        return (
            self.vector_weight if "vector_weight" in given else vector,
            self.text_weight if "text_weight" in given else text,
        )


class RerankSection(OpenClawSection):
    """A cross-encoder that reads the first candidates beside the question; late or failing, the order stands."""

    model_path: AnchoredPath | None = None
    """The reranker: a GGUF of bge-reranker, jina-reranker, qwen3-reranker or their like, named as in `local.modelPath`;
    unset: nothing is reranked."""
    candidates: int = Field(default=20, ge=2, le=200)
    """How many candidates it reads, the best of what words and meaning found."""
    deadline_ms: DeadlineMs = 1500
    """The time for reading them all, in milliseconds, within `query.deadlineMs`; in what is not enough time the order
    stands as it was."""
    threads: Threads = 1
    """How many threads read."""
    idle_unload_minutes: Minutes = 10
    """After how long without a question the model's memory is given back, in minutes; 0: never."""


class QuerySection(OpenClawSection):
    """Size, threshold and time of an answer."""

    max_results: ResultCount = 6
    """How many hits an answer has at most, if the question does not say."""
    min_score: Fraction = 0.0
    """The least score of a hit, from 0 to 1; lower ones that hold no word of the question are left out."""
    deadline_ms: DeadlineMs = 5000
    """The time for an answer, in milliseconds; it comes by then, with what is there."""
    fresh_ms: int = Field(default=100, ge=0, le=60_000)
    """How long a question first waits until notes and conversations that changed are read, in milliseconds, and never
    longer than half of its deadline; 0: not at all; what is not read by then makes the answer incomplete."""
    hybrid: HybridSection = HybridSection()
    """How words and vectors are searched together."""
    rerank: RerankSection = RerankSection()
    """A second model that puts the best candidates in order; off by default."""


class SyncSessionsSection(OpenClawSection):
    """How much a transcript must grow before it is read on."""

    delta_bytes: int = Field(default=100_000, ge=0, le=1_073_741_824)
    """Read a transcript on after this much growth, in bytes; 0: after any."""
    delta_messages: Count = 50
    """Read a transcript on after this many lines, each a message or an event; 0: after any."""
    idle_seconds: Seconds = 300
    """Read a transcript on when it has not grown for so long, however little came, in seconds."""
    post_compaction_force: bool = True
    """Whether a transcript is read on at once when its program has compacted what its model sees."""

    def rule(self) -> ReadingRule:
        """Return it as the domain has it."""
        return ReadingRule(self.delta_bytes, self.delta_messages, self.idle_seconds, self.post_compaction_force)


class SyncSection(OpenClawSection):
    """Watching, scanning and their grace periods; 0 turns an interval off.

    `paused` leaves passages without vectors until somebody asks for them.
    """

    watch: bool = True
    """Whether the system's file events are followed; `false`: the folder is only scanned."""
    watch_debounce_ms: int = Field(default=1500, ge=0, le=600_000)
    """How long after a change to wait for more, in milliseconds."""
    settle_ms: int = Field(default=200, ge=0, le=60_000)
    """How long a file must rest before it is read, in milliseconds."""
    delete_grace_ms: int = Field(default=2000, ge=0, le=600_000)
    """How long a file must be gone before it leaves the index, in milliseconds: some editors delete and write again."""
    root_grace_seconds: Seconds = 60
    """How long a folder that vanished keeps its index, in seconds; so does whatever an entry of `extraPaths` names or
    matched."""
    reconcile_seconds: Seconds = 30
    """How often folder and index are compared, watcher or not, in seconds; 0: never; on a network file system every 10
    s at the latest, since no event tells what another machine changes."""
    interval_minutes: Minutes = 0
    """Another interval at which folder and index are compared, in minutes; 0: none."""
    on_session_start: bool = True
    """Whether the folder is looked at, in the background, when a session starts."""
    on_search: bool = True
    """Whether the folder is looked at, in the background, when somebody asks."""
    paused: bool = False
    """`true`: notes get vectors only when asked for (`memoryctl index`); words stay current."""
    embedding_batch_timeout_seconds: float | None = Field(default=None, gt=0, le=86_400)
    """How long one request to a remote provider may take, in seconds; unset: 120."""
    sessions: SyncSessionsSection = SyncSessionsSection()
    """When a session's transcript is read on."""


def _only_agent_id(path: str) -> str:
    unknown = re.search(r"\{(?!agentId\})[^}]*\}?", path)
    if unknown:
        raise ValueError(f"only {{agentId}} can stand for something here, not {unknown[0]}")
    return path


class StoreVectorSection(OpenClawSection):
    """The sqlite-vec extension, which memoryd does without."""

    enabled: bool = True
    """Without effect: memoryd compares vectors itself."""
    extension_path: AnchoredPath | None = None
    """Without effect: memoryd compares vectors itself, and loads no extension."""


class StoreFtsSection(OpenClawSection):
    """Keyword search."""

    tokenizer: Literal["unicode61", "trigram"] = "unicode61"
    """Without effect: the choice loses either unspaced scripts or short words, so one tokenizer of ours serves all
    languages."""


class StoreSection(OpenClawSection):
    """Where the index lies; unset means the state directory, a relative path starts at the workspace."""

    driver: Literal["sqlite"] = "sqlite"
    """The kind of database; there is one."""
    path: Annotated[Text, AfterValidator(_only_agent_id)] | None = None
    """The file of the index, relative to the workspace, `{agentId}` standing for the agent; unset: the state directory,
    one index for each workspace, and one more for an agent that indexes or ranks otherwise than those before it there;
    below `~/.openclaw`, where OpenClaw has an index of its own, `NAME.memoryd.sqlite` beside it."""
    vector: StoreVectorSection = StoreVectorSection()
    """How vectors are compared."""
    fts: StoreFtsSection = StoreFtsSection()
    """How words are indexed."""


class ChunkingSection(OpenClawSection):
    """Size of a chunk and how much of it the next one repeats, in tokens."""

    tokens: int = Field(default=400, ge=16, le=8192)
    """The size of a chunk, in tokens, about."""
    overlap: int = Field(default=80, ge=0, le=8191)
    """How much of a chunk the next one repeats, in tokens; a fifth of a chunk if it is no less than that."""

    def fitted(self) -> Self:
        """Return the same with an overlap that leaves room for new text: a fifth of a chunk where none is left.

        OpenClaw takes one token less than a chunk, by which each word is stored and embedded hundreds of times.
        """
        return self if self.overlap < self.tokens else self.model_copy(update={"overlap": self.tokens // 5})


class CacheSection(OpenClawSection):
    """Vectors kept for text that no chunk holds now."""

    enabled: bool = True
    """Whether vectors of text that is gone are kept, for when it comes back."""
    max_entries: int = Field(default=50_000, ge=0, le=100_000_000)
    """How many of these vectors are kept."""

    @property
    def kept(self) -> int:
        """How many are kept, none where that is off."""
        return self.max_entries if self.enabled else 0


class MultimodalSection(OpenClawSection):
    """Pictures and sounds under `extraPaths`; no modality named means all."""

    enabled: bool = False
    """`true`: pictures and sounds below `extraPaths` are indexed too, and sent to `gemini-embedding-2-preview`."""
    modalities: Many[Literal["image", "audio", "all"]] = ()
    """Which of them are indexed; empty: all."""
    max_file_bytes: int = Field(default=10_485_760, ge=1, le=1_073_741_824)
    """The largest picture or sound that is indexed, in bytes; larger ones are left out and reported."""


class ExperimentalSection(OpenClawSection):
    """Switches of features that may change."""

    session_memory: bool = False
    """`true`: with `"sessions"` in `sources`, session transcripts are read and indexed; a remote provider of embeddings
    gets them as it gets notes."""


class SearchQmdSection(OpenClawSection):
    """Collections of qmd that this agent alone searches."""

    extra_collections: QmdPaths = ()
    """More that qmd indexes, as `memory.qmd.paths`, for this agent alone."""


Sources = Annotated[tuple[Literal["memory", "sessions"], ...], Field(strict=False, min_length=1)]


class MemorySearchSection(OpenClawSection):
    """The whole of it, for one agent or as the default of all."""

    enabled: bool = True
    """`false`: this agent's memory cannot be searched, and gets no vectors."""
    sources: Sources = ("memory",)
    """What a question asks unless it names `sources` itself: notes (`memory`), conversations (`sessions`), or both;
    unset with `memory.qmd.sessions.enabled`: both, without qmd as the backend where no provider elsewhere embeds."""
    extra_paths: Texts = ()
    """More Markdown to index: files, folders or globs, absolute, `~` or relative to the workspace; `["."]`: all of
    it."""
    exclude: Texts = ()
    """What is never indexed: patterns as in a `.gitignore` at the top of the workspace."""
    follow_symlinks: bool = False
    """`true`: what symbolic links point to is indexed too."""
    provider: ProviderName = "local"
    """Who embeds: the model that memoryd runs itself (`local`), nobody (`none`, words only), the first that is there
    (`auto`), or a remote provider."""
    fallback: FallbackName = "none"
    """Another provider, used only while the first fails; `none`: words answer alone then."""
    model: Text | None = None
    """The model of a remote provider; unset: the provider's default."""
    output_dimensionality: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """The length of the vectors, for remote models that let one choose; unset: the model's own."""
    input_type: Text | None = None
    """The input type that is sent with questions and notes alike, to `openai` addresses, `gemini` and `voyage`; without
    effect at the others."""
    query_input_type: Text | None = None
    """The input type of questions alone; unset: `inputType`."""
    document_input_type: Text | None = None
    """The input type of notes alone; unset: `inputType`."""
    query_instruction: Text | None = None
    """Put before a question; unset: what the model's family has."""
    document_instruction: Text | None = None
    """Put before a note; unset: what the model's family has."""
    local: LocalSection = LocalSection()
    """The model that memoryd runs itself."""
    remote: RemoteSection = RemoteSection()
    """The endpoint of a remote provider; wins over `models.providers`."""
    store: StoreSection = StoreSection()
    """Where the index lies, and how it is kept."""
    chunking: ChunkingSection = ChunkingSection()
    """How notes are cut into chunks."""
    sync: SyncSection = SyncSection()
    """When the folder is looked at."""
    query: QuerySection = QuerySection()
    """How a question becomes hits."""
    cache: CacheSection = CacheSection()
    """Vectors of text that is gone."""
    multimodal: MultimodalSection = MultimodalSection()
    """Pictures and sounds."""
    experimental: ExperimentalSection = ExperimentalSection()
    """Features that may change."""
    qmd: SearchQmdSection = SearchQmdSection()
    """What qmd has for this agent alone."""
