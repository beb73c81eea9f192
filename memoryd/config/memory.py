"""`memory`: settings for all agents, with a section for each part, from capture to sessions.

`memory.evolution` has RsClaw's keys in RsClaw's spelling.
"""

from datetime import time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from memoryd.config.access import AccessSection, MemoryAccessSection
from memoryd.config.providers import LlmSection
from memoryd.config.qmd import QmdSection
from memoryd.config.section import (
    AnchoredPath,
    Count,
    Days,
    Duration,
    Fraction,
    OpenClawSection,
    SecretValue,
    Section,
    Text,
    Texts,
    TupleOf,
)
from memoryd.domain.access import AccessRules, folded_id
from memoryd.domain.documents import CitationMode
from memoryd.domain.expressions import expression
from memoryd.domain.memories.tiers import Demotion, Promotion, TierSettings
from memoryd.domain.sessions.documents import ARCHIVE_AFTER, MAX_BYTES, THRESHOLD, TURNS, AnswerRetention
from memoryd.domain.sessions.transcripts.records import TranscriptFormat
from memoryd.wire import RESULTS_MAX, SEQUENCE_MAX


class CaptureSection(Section):
    """Whether memories are extracted from messages, and from which."""

    enabled: bool = True
    """`false`: nothing is learned from messages; explicit memories (`retain`, `/remember`) are still stored."""
    identifiers: bool = True
    """Whether phone numbers, ID numbers and e-mail addresses are stored; from the person's own statement, such as `my
    number is …`, they are pinned."""
    in_groups: bool = False
    """`true`: also learn from groups and channels, where anyone may speak, and make a memory at the end of their
    conversations."""


class CoreSection(Section):
    """The size of the core file, and where it is shown."""

    max_chars: int = Field(default=12_000, ge=500, le=1_000_000)
    """The size of the core file after an edit, in characters at most; every session pays for each character."""
    in_groups: bool = False
    """`true`: in groups and channels, too, bundles have the core file and pinned memories, not only `SOUL.md`, and what
    is recalled unasked may be pinned or come from other chats."""


class PromotionSection(Section, alias_generator=None):
    """Conditions that make a memory core; any one of the three suffices."""

    access_only: int = Field(default=15, ge=1, le=1_000_000)
    """Core from this number of touches on."""
    importance_only: Fraction = 0.95
    """Core from this importance on."""
    both_access: Count = 5
    """Core from this number of touches on, if the importance is at least `both_importance`."""
    both_importance: Fraction = 0.8
    """The least importance for `both_access`."""


class DemotionSection(Section, alias_generator=None):
    """Conditions that make a working memory peripheral, or a memory that is core by touches alone working again."""

    relevance: Fraction = 0.15
    """Peripheral below this composite score."""
    age_days: Days = 60
    """Peripheral after more than this number of days without a touch, if it had fewer touches than `access`."""
    access: Count = 3
    """The number of touches from which on age alone makes no memory peripheral."""
    core_days: Days = 60
    """A memory that is core by touches alone is working again after more than this number of days without use."""


class EvolutionSection(Section):
    """Thresholds of the three tiers."""

    half_life_days: Days = 30
    """The half-life of a memory's recency, in days, at importance 0; it grows with importance, up to ten times."""
    promotion: PromotionSection = PromotionSection()
    """When a memory becomes core."""
    demotion: DemotionSection = DemotionSection()
    """When a memory becomes peripheral, or leaves the core."""

    def to_tiers(self) -> TierSettings:
        """Return the domain type of this section."""
        return TierSettings(
            half_life_days=self.half_life_days,
            promotion=Promotion(**self.promotion.model_dump(by_alias=False)),
            demotion=Demotion(**self.demotion.model_dump(by_alias=False)),
        )


class QaSection(Section):
    """Questions and answers of conversations: what is stored, and how many turns an agent gets."""

    enabled: bool = True
    """`false`: no questions and answers are stored in a workspace, and none are returned."""
    significance: Fraction = THRESHOLD
    """An answer is stored with its question if its significance, from 0 to 1, is higher than this."""
    archive_days: int = Field(default=ARCHIVE_AFTER.days, ge=1, le=36_500)
    """A session without a turn for this long moves to `memory/archive/`, in days."""
    context_turns: int = Field(default=TURNS, ge=1, le=SEQUENCE_MAX)
    """How many earlier turns an agent gets if the request does not say."""
    interests: Texts = ()
    """Topics whose answers are stored whatever their significance, such as `discord_config`."""
    max_bytes: int = Field(default=MAX_BYTES, ge=64 * 1024, le=1024**4)
    """The size of all question-and-answer files of a workspace, in bytes at most; above it the answers of the oldest
    archived sessions are dropped, then new turns are stored without their answers; at four times this size new turns
    are rejected, and the reply says so."""
    from_transcripts: bool = False
    """`true`: turns in the session transcripts of an agent are stored too, each transcript as a session of its own."""

    def answer_retention(self) -> AnswerRetention:
        """Return the domain type of this section."""
        return AnswerRetention(self.significance, frozenset(self.interests), timedelta(days=self.archive_days))


class RecallSection(Section):
    """Number, ranking and size of recalled memories."""

    k: int = Field(default=5, ge=1, le=RESULTS_MAX)
    """How many memories and passages are recalled if the request does not say."""
    fusion: Literal["relative", "rrf"] = "relative"
    """How word and vector scores are merged: `relative` measures each on its own scale, `rrf` uses ranks alone."""
    budget: int = Field(default=1200, ge=50, le=100_000)
    """The largest bundle for a prompt, in tokens (estimated), including the part that is the same in every turn."""


OFF = "off"
_TIME = expression(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")


def _known_schedule(text: str) -> str:
    if text != OFF and not _TIME.match(text):
        raise ValueError('must be "off", or a time of day such as "03:30"')
    return text


TimeOfDay = Annotated[str, AfterValidator(_known_schedule)]


class ReflectSection(Section):
    """The daily reflect run, off by default."""

    schedule: TimeOfDay = OFF
    """The time of the daily reflect run, in `memory.timezone`, such as `"03:30"`; a missed run is made up once; `off`:
    only on request."""
    since: Duration = timedelta(days=7)
    """How far back a run looks for recurring topics and for proposals; a scheduled run looks back at least to the last
    run, and evidence for opinions counts once, however old it is."""

    @property
    def at(self) -> time | None:
        """The time of day of the daily run; None if it is off."""
        return None if self.schedule == OFF else time.fromisoformat(self.schedule)


class TranscriptFolderSection(Section):
    """A folder with transcripts of one agent, which must be named so that projects do not leak into each other."""

    path: AnchoredPath
    """The folder whose `.jsonl` files are read, and never written; subfolders are not read; relative to the folder of
    the configuration file."""
    agent: Annotated[Text, AfterValidator(folded_id)]
    """The id of the one agent that the conversations belong to."""
    format: Literal["auto", "openclaw", "claude-code"] = "auto"
    """The program that writes the files; `auto`: detected from their first lines."""

    @property
    def transcript_format(self) -> TranscriptFormat | None:
        return None if self.format == "auto" else TranscriptFormat(self.format)


class SessionsSection(Section):
    """The transcript folders, and how much of them is indexed."""

    max_bytes: int = Field(default=2 * 1024**3, ge=64 * 1024, le=1024**4)
    """How many bytes of transcripts are indexed for an agent; above it the least recently written transcripts leave the
    index, and the status lists them."""
    folders: TupleOf[TranscriptFolderSection] = ()
    """Folders of transcripts beside OpenClaw's own (`~/.openclaw/agents/ID/sessions`); read only for an agent with
    `experimental.sessionMemory: true` and `"sessions"` in `sources`."""


class MachinesSection(Section):
    """Data that several machines on one synchronised folder exchange, beside the notes."""

    secret: SecretValue | None = None
    """A secret of 16 characters or more that all machines on this folder share, as `{ env: "NAME" }`,
    `{ file: "/absolute/path" }` or the secret itself: with it, usage, steps of opinions and forgotten memories are
    exchanged in `.memory/machines`; unset: they stay on each machine."""


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("must be a time zone such as Europe/Vienna") from error
    return name


TimeZone = Annotated[Text, AfterValidator(_known_zone)]


class MemorySection(OpenClawSection):
    """Settings of the memory for all agents."""

    backend: Literal["builtin", "qmd"] = "builtin"
    """The engine that answers: memoryd's own index, or the qmd sidecar."""
    citations: Literal["auto", "on", "off"] = "auto"
    """Whether snippets end in `Source: path#L5-L9`, the lines that answer best; `auto`: in direct chats only."""
    timezone: TimeZone | None = None
    """The time zone, such as `Europe/Vienna`, whose days count for dated notes, `since` and decay; unset: the
    system's."""
    read_only: bool = False
    """`true`: memoryd never writes to a workspace."""
    scope: MemoryAccessSection = MemoryAccessSection()
    """Who may ask, by session key, with every backend."""
    qa: QaSection = QaSection()
    """Questions and answers of conversations, stored in the workspace."""
    capture: CaptureSection = CaptureSection()
    """Automatic extraction of memories from messages."""
    core: CoreSection = CoreSection()
    """The small file that every session sees."""
    llm: LlmSection = LlmSection()
    """A model that generates text: it may label memories and write prose; off by default."""
    recall: RecallSection = RecallSection()
    """How many memories are recalled, and how they are ranked."""
    evolution: EvolutionSection = EvolutionSection()
    """How memories move between the tiers, and how they fade."""
    qmd: QmdSection = QmdSection()
    """The qmd sidecar; used while `backend` is `qmd`."""

    reflect: ReflectSection = ReflectSection()
    """When pages, opinions and proposals are made of the stored memories."""
    sessions: SessionsSection = SessionsSection()
    """Transcripts of agent programs, and the agents that they belong to."""

    machines: MachinesSection = MachinesSection()
    """Several machines on one folder."""

    def access_rules(self) -> AccessRules:
        """Return who may ask: `scope`, and with the backend qmd `qmd.scope` too.

        If the file sets only one of the two, only that one applies; if it sets both, both must allow a session.
        """
        scopes: list[AccessSection] = [self.scope] if self.scope.model_fields_set & {"default", "rules"} else []
        if self.backend == "qmd" and "scope" in self.qmd.model_fields_set:
            scopes.append(self.qmd.scope)
        lists = tuple(scope.to_access() for scope in scopes or [self.scope])
        return AccessRules(lists, requires_key=self.scope.require_session_key)

    @property
    def citation_mode(self) -> CitationMode:
        return CitationMode(self.citations)
