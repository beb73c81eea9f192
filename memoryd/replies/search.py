"""Replies that find: hits and why they rank as they do, recalled items and bundles, lines; and the daemon's own."""

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
"""What a reader of a text cannot see, or could take for ours; and what its note says of whether it holds."""


class HealthReply(TypedDict):
    """`ready` says that the first scan of every workspace is done."""

    ok: bool
    """Always true: what answers, is up."""
    ready: bool
    """Whether the first scan of every workspace is done."""


# `from` is a Python keyword, and so cannot stand in a class
_Left = TypedDict("_Left", {"from": str})
"""The engine or provider that should have answered."""


class FallbackReply(_Left, TypedDict):
    """Which engine was left, why and since when."""

    reason: str
    """Why it does not."""
    since: str
    """When it was left, ISO 8601."""


class ReindexReply(TypedDict):
    """The work goes on in the background; follow it in status or events."""

    pendingFiles: int
    """How many files are still to be read, renamed or removed."""
    pendingEmbeddings: int
    """How many passages are still to get a vector."""
    generation: int
    """How many changes were committed to the index since the start of the daemon."""


class SyncReply(ReindexReply):
    """`complete` is false when the time ran out before the wait was over, or when, for a `reason`, it never will be."""

    complete: bool
    """Whether what was waited for is so; true if nothing was."""
    reason: str | None
    """Why it will not be as things are; null if it is, or is merely not done yet."""


class ReloadReply(TypedDict):
    """What came of a reload; a file that cannot be taken is no failure of the call, and leaves all as it was."""

    reloaded: bool
    """Whether the file, the environment and the flags are what holds now; false leaves the configuration of before, as
    with `dryRun`."""
    changed: list[str]
    """The keys that differ from before, such as `memory.citations` or `agents.list[work].workspace`."""
    needsRestart: list[str]
    """The keys that differ from those at the start of the daemon, and take effect when it is started again."""
    problems: list[str]
    """Why the configuration was not taken, one sentence each; `status` has them until a reload succeeds."""
    notices: list[str]
    """What to know of the configuration that holds, one sentence each."""


class ServerEvent(TypedDict):
    """`event` is one of wire.Event, or a later daemon's addition."""

    event: str
    data: dict[str, object]


class LinesReply(TypedDict):
    """Lines of a document."""

    startLine: int
    """The first line, from 1."""
    endLine: int
    """The last line, included."""


class FocusExplanation(TypedDict):
    """Why these lines of a hit are its focus."""

    terms: list[str]
    """The words of the question that stand in them."""
    passage: LinesReply | None
    """Where the passage stands whose meaning had them chosen; null if words alone did, or nothing."""


class HitExplanation(TypedDict):
    """Why a hit stands where it stands, or why a miss is none.

    `score` of the hit is `baseScore` × `decay`, or what the reranker put in place of `baseScore` × `decay`; ranks count
    from 1 and are null where an arm did not find it.
    """

    baseScore: float
    """What words and meaning say together before `decay` counts, 0 to 1."""
    mergedRank: int | None
    """The place by `baseScore`, from 1; null where there is none."""
    rerankRank: int | None
    """The place among what the reranker read, from 1; null where it did not read it."""
    rerankScore: float | None
    """How well it answers by the reranker, 0 to 1; null where it did not read it."""
    wordsRank: int | None
    """The place among what words found, from 1; null where they did not find it."""
    bm25: float | None
    """How well its words match, 0 and up; null where words did not find it."""
    vectorRank: int | None
    """The place among what vectors found, from 1; null where they did not find it."""
    cosine: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    standout: float | None
    """How far the cosine rises above the noise, 0 to 1; null where vectors did not find it, or nobody judged it."""
    terms: list[str]
    """The words of the question that stand in it."""
    decay: float
    """What its age leaves of the score, 0 to 1; of a conversation less where it only asks what nobody answered."""
    ageDays: int | None
    """Its age in whole days; null for what does not age, or while decay is off."""
    copies: list[str]
    """The citations of what says the same and was folded into it."""
    focus: FocusExplanation | None
    """Why these lines of it are its focus; null where it has none."""
    because: str
    """Why it stands where it stands, or is no hit, in words; of noise, how near it comes."""


class HitReply(TypedDict):
    """A cited chunk; `snippet` is the part of it that shows why, with its own lines."""

    path: str
    """The document: relative to the workspace, or `qmd/<collection>/<path>`."""
    startLine: int
    """The first line of the chunk, from 1."""
    endLine: int
    """The last line of the chunk, included."""
    score: float
    """How well it answers, after decay, 0 to 1."""
    vectorScore: float | None
    """The cosine of its best passage with the question, −1 to 1; null where vectors did not find it."""
    textScore: float | None
    """BM25 as r/(1+r), 0 to 1; null where words did not find it, or qmd did."""
    verdict: Literal["answerable", "weak", "none"]
    """What it is worth by its own evidence: it holds what was asked, it may, or it is only the nearest there is."""
    snippet: str
    """The part of the chunk that shows why, with `Source: …` under it while citations are on."""
    snippetStartLine: int
    """The first line of the document in the snippet, from 1."""
    snippetEndLine: int
    """The last line of the document in the snippet, included."""
    snippetLines: NotRequired[list[int]]
    """The lines that the snippet has, where lines of a conversation that say nothing are left out between them."""
    focus: LinesReply | None
    """The lines of the snippet that answer best, six at most; null for a picture or sound."""
    heading: str
    """The headings that the chunk stands under; empty if there are none."""
    source: str
    """What kind of document it is: a note (`memory`), or a conversation (`sessions`)."""
    person: NotRequired[str]
    """Who of the team shares it; absent for one's own."""
    citation: NotRequired[str]
    """The way to point at its focus, `path#L7-L11` or `session:ID#Q17`; absent while citations are off."""
    flags: list[FlagName]
    """What a reader of the snippet cannot see, or could take for ours."""
    duplicates: int
    """How many copies were folded into it."""
    explain: NotRequired[HitExplanation]
    """How its score came about; absent unless asked for by `explain`."""


class ArmReply(TypedDict):
    """How an arm took part."""

    state: Literal["ok", "partial", "off", "waiting", "failed", "timeout"]
    """`off`: by its owner; `waiting`: for its model; `partial`: with what it has; `timeout`: too slow."""
    reason: str | None
    """Why it is less than `ok`; null if it is not."""


class SearchHealth(TypedDict):
    """Whether the answer rests on everything it could."""

    complete: bool
    """Whether every arm that is switched on took part in full and no file was pending."""
    arms: dict[str, ArmReply]
    """How each arm took part, by name: `lexical` (words), `vector` (meaning), `rerank` where there is a reranker,
    `conversations` where these were asked, and `team` while that is out of reach."""
    pendingFiles: int
    """How many files are otherwise on disk than in the answer, as far as is known; what is gone does not count."""
    pendingEmbeddings: int
    """How many passages are still to get a vector."""


class QuestionExplanation(TypedDict):
    """How the question was understood."""

    terms: list[str]
    """The words that were looked for, any of which may match."""
    phrases: list[str]
    """What must stand there word for word."""
    excluded: list[str]
    """What must not stand there."""
    paths: list[str]
    """The documents that may answer, as globs, files or folders; empty: all."""
    sources: list[str]
    """The sources that were asked; empty: none, since the request and the question name different ones."""
    since: str | None
    """The earliest time of a note that may answer, included, ISO 8601; null: any."""
    until: str | None
    """The latest time of a note that may answer, included, ISO 8601; null: any."""


class FloorsExplanation(TypedDict):
    """What the evidence was held against: see "How answers are ranked".

    `share` is of the question's weight in the best hit; the others are deviations above the noise of its cosines.
    """

    share: float
    """How much of the question's weight stands in the best chunk, 0 to 1; half of it answers."""
    weights: dict[str, float]
    """How telling each word of the question is in these notes, 0 and up."""
    deviations: float | None
    """How many deviations the best cosine stands above the noise; null without vectors."""
    vectorFloor: float | None
    """The deviations below which a hit without a word of the question is noise; null without vectors."""
    clearFloor: float | None
    """The deviations from which a hit answers by its meaning alone; null without vectors."""
    noiseMean: float | None
    """The mean cosine of the question with all passages, −1 to 1; null without vectors."""
    noiseDeviation: float | None
    """The standard deviation of these cosines; null without vectors."""
    vectors: int
    """How many vectors the question was compared with."""


class SearchExplanation(TypedDict):
    """How the whole answer came about."""

    question: QuestionExplanation
    """The question as it was understood."""
    floors: FloorsExplanation | None
    """What the evidence of notes was held against; null where the engine does not judge it, or notes were not asked."""
    conversationFloors: FloorsExplanation | None
    """What the evidence of conversations was held against; null where they were not asked, or nobody judged it."""


class SearchReply(TypedDict):
    """Hits, best first, and what to think of them."""

    results: list[HitReply]
    """The hits, best first."""
    misses: list[HitReply] | None
    """What lies beyond `maxResults` or below `minScore`, best first; null unless asked for by `explain`."""
    backend: Literal["builtin", "qmd"]
    """The engine that answered."""
    provider: str
    """Who embeds questions for the engine that answered; `none`: nobody."""
    model: str | None
    """The model that embeds them; null if there is none."""
    mode: Literal["hybrid", "lexical", "vector", "none"]
    """Which arms took part: both, words alone, meaning alone, or none."""
    fallback: FallbackReply | None
    """Who should have answered or embedded and is out; null if nobody is."""
    verdict: Literal["answerable", "weak", "none"]
    """What the best hit is worth: it holds what was asked, it may, or no hit does, if there is one."""
    reason: str | None
    """Why the verdict is no better, or what is held back; null if there is nothing to say."""
    citations: Literal["on", "off"]
    """Whether hits carry citations in this session."""
    health: SearchHealth
    """How complete the answer is."""
    tookMs: float
    """How long the search took, in milliseconds."""
    explain: NotRequired[SearchExplanation]
    """How the whole answer came about; absent unless asked for by `explain`."""


_From = TypedDict("_From", {"from": int})
"""The number of the first line of `text`, from 1."""


class FileReply(_From, TypedDict):
    """Lines of a document, or of a conversation, without secrets; `nextFrom` continues it behind them.

    A line too long for one reply is cut: `nextColumn` is where the rest of line `from` begins.
    """

    path: str
    """The document as search names it: relative to the workspace, `qmd/<collection>/<path>`, or a conversation."""
    text: str
    """The lines with their ends, 12,000 characters at most."""
    lines: int
    """How many lines `text` touches; 0 beyond the end of the document."""
    column: int
    """The number of the first character of `text` in line `from`, from 1."""
    totalLines: int
    """How many lines the whole document has; of a conversation, as far as it was looked at."""
    sha256: str
    """SHA-256 of all bytes of the document, 64 hexadecimal digits; of a conversation, of `text`."""
    truncated: bool
    """Whether the document goes on behind `text`."""
    nextFrom: int | None
    """The number of the line that goes on behind `text`; null if there is none."""
    nextColumn: int | None
    """The number of the character where the rest of line `from` begins; null unless the line was cut."""
    flags: list[FlagName]
    """What a reader of `text` cannot see, or could take for ours."""
