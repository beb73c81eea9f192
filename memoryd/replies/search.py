"""Replies about search: hits with explanations, and lines of documents; also health, sync, reload and events."""

from typing import Literal, NotRequired, TypedDict

FlagName = Literal[
    "invisible-characters",
    "source-line",
    "hard-link",
    "replaced-bytes",
    "conflict-copy",
    "deprecated",
    "superseded",
    "draft",
    "stale",
]
"""Flags of a text: what a reader cannot see or could mistake for memoryd's, and the status that its note declares."""


class HealthReply(TypedDict):
    """The health of the daemon."""

    ok: bool
    """Always true: a daemon that answers is up."""
    ready: bool
    """Whether the first scan of every workspace is done."""


# `from` is a Python keyword, and cannot be a name in a class
_Left = TypedDict("_Left", {"from": str})
"""The engine or provider that should have answered."""


class FallbackReply(_Left, TypedDict):
    """An engine or provider that failed and was replaced by its fallback."""

    reason: str
    """Why it does not answer."""
    since: str
    """When it was replaced, ISO 8601."""


class ReindexReply(TypedDict):
    """The pending work of the index, which continues in the background; status and events show its progress."""

    pendingFiles: int
    """How many files are still to be read, renamed or removed."""
    pendingEmbeddings: int
    """How many passages still need a vector."""
    generation: int
    """How many commits the index had since the start of the daemon."""


class SyncReply(ReindexReply):
    """The result of waiting. `complete` is false after a timeout, or, with a `reason`, if waiting is useless."""

    complete: bool
    """Whether the awaited state is reached; true if nothing was awaited."""
    reason: str | None
    """Why the state will not be reached; null if it is reached, or work is still going on."""


class ReloadReply(TypedDict):
    """The result of a reload. An invalid file is not an error of the call, and changes nothing."""

    reloaded: bool
    """Whether the configuration from file, environment and flags is now in use; false, as with `dryRun`: the previous
    one stays in use."""
    changed: list[str]
    """The keys that changed, such as `memory.citations` or `agents.list[work].workspace`."""
    needsRestart: list[str]
    """The keys that differ from those at the start of the daemon, and take effect when it is restarted."""
    problems: list[str]
    """Why the configuration was refused, one sentence each; `status` has them until a reload succeeds."""
    notices: list[str]
    """Remarks about the present configuration, one sentence each."""


class ServerEvent(TypedDict):
    """A server-sent event. `event` is a value of wire.Event; later versions may add others."""

    event: str
    data: dict[str, object]


class LinesReply(TypedDict):
    """Lines of a document."""

    startLine: int
    """The first line, from 1."""
    endLine: int
    """The last line, included."""


class FocusExplanation(TypedDict):
    """Why these lines are the focus of a hit."""

    terms: list[str]
    """The words of the question that the lines contain."""
    passage: LinesReply | None
    """The passage whose meaning led to the choice; null if only words did, or nothing."""


class HitExplanation(TypedDict):
    """Why a hit has its rank, or why a miss is not a hit.

    `score` of the hit is `baseScore` × `decay`, unless the reranker replaced it. Ranks count from 1, and are null if an
    arm did not find the hit.
    """

    baseScore: float
    """The merged score of words and meaning before `decay`, 0 to 1."""
    mergedRank: int | None
    """The rank by `baseScore`, from 1; null if there is none."""
    rerankRank: int | None
    """The rank by the reranker, from 1; null if the reranker did not read it."""
    rerankScore: float | None
    """The score of the reranker, 0 to 1; null if the reranker did not read it."""
    wordsRank: int | None
    """The rank in the search by words, from 1; null if it was not found there."""
    bm25: float | None
    """The BM25 score of its words, 0 and up; null if words did not find it."""
    vectorRank: int | None
    """The rank in the search by vectors, from 1; null if it was not found there."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null if vectors did not find it."""
    standout: float | None
    """How far the cosine is above the noise, 0 to 1; null if vectors did not find it, or it was not judged."""
    terms: list[str]
    """The words of the question that it contains."""
    decay: float
    """The product of all reductions, 0 to 1: age, a question without an answer, a conflict copy, the note's status."""
    ageDays: int | None
    """Its age in whole days; null if it does not age, or decay is off."""
    copies: list[str]
    """The citations of copies that were merged into it."""
    focus: FocusExplanation | None
    """Why these lines are its focus; null if it has none."""
    because: str
    """Why it has its rank, or is not a hit, in words; for noise, how near it is."""


class HitReply(TypedDict):
    """A cited chunk; `snippet` is the relevant part of it."""

    path: str
    """The document: relative to the workspace, or `qmd/<collection>/<path>`."""
    startLine: int
    """The first line of the chunk, from 1."""
    endLine: int
    """The last line of the chunk, included."""
    score: float
    """How well it answers, after decay, 0 to 1."""
    vectorScore: float | None
    """The cosine of its best passage with the question, −1 to 1; null if vectors did not find it."""
    textScore: float | None
    """BM25 as r/(1+r), 0 to 1; null if words did not find it, or qmd answered."""
    verdict: Literal["answerable", "weak", "none"]
    """The verdict by its own evidence: it contains the answer, it may, or it is only the nearest result."""
    snippet: str
    """The relevant part of the chunk, followed by `Source: …` while citations are on."""
    snippetStartLine: int
    """The first line of the document in the snippet, from 1."""
    snippetEndLine: int
    """The last line of the document in the snippet, included."""
    snippetLines: NotRequired[list[int]]
    """The line numbers of the snippet, if lines without text of a conversation are left out between them."""
    focus: LinesReply | None
    """The lines of the snippet that answer best, six at most; null for a picture or sound."""
    heading: str
    """The headings above the chunk; empty if there are none."""
    source: str
    """The source of the document: notes (`memory`) or conversations (`sessions`)."""
    person: NotRequired[str]
    """The person of the team who shares it; absent for own documents."""
    citation: NotRequired[str]
    """The citation of its focus, `path#L7-L11` or `session:ID#Q17`; absent while citations are off."""
    flags: list[FlagName]
    """Flags of the snippet and its note."""
    duplicates: int
    """How many copies were merged into it."""
    explain: NotRequired[HitExplanation]
    """How its score was computed; absent unless requested by `explain`."""


class ArmReply(TypedDict):
    """The state of an arm of the search."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    """`off`: by configuration; `waiting`: for its model; `partial`: with part of the data; `timeout`: too slow."""
    reason: str | None
    """Why it is not `ok`; null if it is."""


class SearchHealth(TypedDict):
    """The completeness of an answer."""

    complete: bool
    """Whether every enabled arm took part in full and no file was pending."""
    arms: dict[str, ArmReply]
    """The state of each arm, by name: `lexical` (words), `vector` (meaning), `rerank` if there is a reranker,
    `conversations` if they were searched, and `team` while it cannot be reached."""
    pendingFiles: int
    """How many known files differ on disk from the answer; deleted files do not count."""
    pendingEmbeddings: int
    """How many passages still need a vector."""


class QuestionExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    """The words of the search; any of them may match."""
    phrases: list[str]
    """The phrases that must occur literally."""
    excluded: list[str]
    """The words and phrases that must not occur."""
    paths: list[str]
    """The documents that are searched, as globs, files or folders; empty: all."""
    sources: list[str]
    """The sources that were searched; empty: none, because request and question name different ones."""
    since: str | None
    """The earliest time of searched notes, included, ISO 8601; null: any."""
    until: str | None
    """The latest time of searched notes, included, ISO 8601; null: any."""


class FloorsExplanation(TypedDict):
    """The thresholds for the evidence: see "How answers are ranked".

    `share` is the part of the question's weight that the best hit contains; the floors are standard deviations above
    the mean of the cosines.
    """

    share: float
    """The share of the question's weight that the best chunk contains, 0 to 1; from one half it answers."""
    weights: dict[str, float]
    """The weight of each word of the question in these notes, 0 and up."""
    deviations: float | None
    """How many deviations the best cosine is above the noise; null without vectors."""
    vectorFloor: float | None
    """The deviations below which a hit without any word of the question is noise; null without vectors."""
    clearFloor: float | None
    """The deviations from which a hit answers by meaning alone; null without vectors."""
    noiseMean: float | None
    """The mean cosine of the question with all passages, −1 to 1; null without vectors."""
    noiseDeviation: float | None
    """The standard deviation of these cosines; null without vectors."""
    vectors: int
    """How many vectors the question was compared with."""


class SearchExplanation(TypedDict):
    """How the complete answer was computed."""

    question: QuestionExplanation
    """The question as it was understood."""
    floors: FloorsExplanation | None
    """The thresholds for evidence from notes; null if the engine does not judge it, or notes were not searched."""
    conversationFloors: FloorsExplanation | None
    """The thresholds for evidence from conversations; null if they were not searched or not judged."""


class SearchReply(TypedDict):
    """Hits, best first, with a verdict."""

    results: list[HitReply]
    """The hits, best first."""
    misses: list[HitReply] | None
    """Hits over `maxResults` or below `minScore`, best first; null unless requested by `explain`."""
    backend: Literal["builtin", "qmd"]
    """The engine that answered."""
    provider: str
    """The provider that embeds questions for the engine that answered; `none`: there is none."""
    model: str | None
    """The model that embeds them; null if there is none."""
    mode: Literal["hybrid", "lexical", "vector", "none"]
    """Which arms took part: both, words alone, meaning alone, or none."""
    fallback: FallbackReply | None
    """The engine or provider of embeddings that failed and was replaced; null if none was."""
    verdict: Literal["answerable", "weak", "none"]
    """The verdict of the best hit: it contains the answer, it may, or no hit does."""
    reason: str | None
    """Why the verdict is not better, or what is withheld; null if there is no reason."""
    citations: Literal["on", "off"]
    """Whether hits carry citations in this session."""
    health: SearchHealth
    """The completeness of the answer."""
    tookMs: float
    """How long the search took, in milliseconds."""
    explain: NotRequired[SearchExplanation]
    """How the complete answer was computed; absent unless requested by `explain`."""


_From = TypedDict("_From", {"from": int})
"""The number of the first line of `text`, from 1."""


class FileReply(_From, TypedDict):
    """Lines of a document, or of a conversation, without secrets; `nextFrom` is where the next lines begin.

    A line too long for one reply is cut: `nextColumn` is where the rest of line `from` begins.
    """

    path: str
    """The document as search names it: relative to the workspace, `qmd/<collection>/<path>`, or a conversation."""
    text: str
    """The lines with their line ends, 12,000 characters at most."""
    lines: int
    """How many lines `text` contains, in whole or in part; 0 after the end of the document."""
    column: int
    """The number of the first character of `text` in line `from`, from 1."""
    totalLines: int
    """How many lines the document has; for a conversation, as far as it was read."""
    sha256: str
    """SHA-256 of all bytes of the document, 64 hexadecimal digits; for a conversation, of `text`."""
    truncated: bool
    """Whether the document continues after `text`."""
    nextFrom: int | None
    """The number of the line that continues after `text`; null if there is none."""
    nextColumn: int | None
    """The number of the character where the rest of line `from` begins; null unless the line was cut."""
    flags: list[FlagName]
    """Flags of `text` and its note."""
