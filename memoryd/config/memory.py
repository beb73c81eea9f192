"""`memory`: what holds for all agents. A section for each part, from capture to sessions.

`memory.evolution` has RsClaw's keys in its own spelling.
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
    Many,
    OpenClawSection,
    SecretValue,
    Section,
    Text,
    Texts,
)
from memoryd.domain.access import AccessRules, folded_id
from memoryd.domain.documents import CitationMode
from memoryd.domain.expressions import expression
from memoryd.domain.memories.tiers import Demotion, Promotion, TierSettings
from memoryd.domain.sessions.documents import ARCHIVE_AFTER, MAX_BYTES, THRESHOLD, TURNS, AnswerRetention
from memoryd.domain.sessions.transcripts.records import TranscriptFormat
from memoryd.wire import RESULTS_MAX, SEQUENCE_MAX


class CaptureSection(Section):
    """Whether memories are made of messages, and of which."""

    enabled: bool = True
    """`false`: nothing is learned from messages; what somebody states by `retain` or `/remember` is kept all the
    same."""
    identifiers: bool = True
    """Whether phone numbers, ID numbers and e-mail addresses are kept; in a sentence of one's own, such as `my number
    is …`, they are pinned."""
    in_groups: bool = False
    """`true`: also from what is said in groups and channels, where anybody may speak; of their conversations a memory
    is made at the end, too."""


class CoreSection(Section):
    """How large the core file may be, and what is shown of it."""

    max_chars: int = Field(default=12_000, ge=500, le=1_000_000)
    """How many characters edits of the core file may leave in it; every session pays for each."""
    in_groups: bool = False
    """`true`: bundles hold the core file and pinned memories in groups and channels too, and not `SOUL.md` alone, and
    what is recalled there unasked may be pinned, or said in other chats."""


class PromotionSection(Section, alias_generator=None):
    """What makes a memory core by itself, any one of three ways."""

    access_only: int = Field(default=15, ge=1, le=1_000_000)
    """Core from so many touches on."""
    importance_only: Fraction = 0.95
    """Core from this importance on."""
    both_access: Count = 5
    """Core from so many touches on, if it is as important as `both_importance`."""
    both_importance: Fraction = 0.8
    """The importance that goes with `both_access`."""


class DemotionSection(Section, alias_generator=None):
    """What makes a working memory peripheral, and what takes one out of the core that only touches brought there."""

    relevance: Fraction = 0.15
    """Peripheral below this composite."""
    age_days: Days = 60
    """Peripheral when it was not touched for more days than these, and seldom before."""
    access: Count = 3
    """Touches from which on age alone makes nothing peripheral."""
    core_days: Days = 60
    """What touches alone made core is working again when nothing used it for more days than these."""


class EvolutionSection(Section):
    """Thresholds of the three tiers."""

    half_life_days: Days = 30
    """After how many days a memory without importance is half as recent; the most important have ten times as many at
    most."""
    promotion: PromotionSection = PromotionSection()
    """When a memory becomes core."""
    demotion: DemotionSection = DemotionSection()
    """When a memory becomes peripheral, or leaves the core."""

    def to_tiers(self) -> TierSettings:
        """Return the thresholds."""
        return TierSettings(
            half_life_days=self.half_life_days,
            promotion=Promotion(**self.promotion.model_dump(by_alias=False)),
            demotion=Demotion(**self.demotion.model_dump(by_alias=False)),
        )


class QaSection(Section):
    """What is kept of conversations, and how much of one a message gets."""

    enabled: bool = True
    """`false`: no questions and answers are kept in a workspace, and none are told."""
    significance: Fraction = THRESHOLD
    """An answer is kept with its question if it is more significant than this, 0 to 1."""
    archive_days: int = Field(default=ARCHIVE_AFTER.days, ge=1, le=36_500)
    """After so many days without a turn a session moves to `memory/archive/`, in days."""
    context_turns: int = Field(default=TURNS, ge=1, le=SEQUENCE_MAX)
    """How many turns are put before an agent if a request does not say."""
    interests: Texts = ()
    """Topics whose answers are kept however insignificant, such as `discord_config`."""
    max_bytes: int = Field(default=MAX_BYTES, ge=64 * 1024, le=1024**4)
    """How large the files of questions and answers of a workspace may be, in bytes; beyond it the answers of the oldest
    sessions in the archive go, then of what is said the question alone is kept, and at four times as much no turn is
    taken any more, which its sender is told."""
    from_transcripts: bool = False
    """`true`: turns that are found in the session transcripts of an agent are kept too, each transcript in a session of
    its own."""

    def answer_retention(self) -> AnswerRetention:
        """Return it as the domain has it."""
        return AnswerRetention(self.significance, frozenset(self.interests), timedelta(days=self.archive_days))


class RecallSection(Section):
    """Size, order and budget of what is recalled."""

    k: int = Field(default=5, ge=1, le=RESULTS_MAX)
    """How many memories and passages are recalled if nobody says."""
    fusion: Literal["relative", "rrf"] = "relative"
    """How words and meaning are merged: `relative` measures each against itself, `rrf` knows ranks alone."""
    budget: int = Field(default=1200, ge=50, le=100_000)
    """How many tokens (estimated) a bundle for a prompt may have, what stays the same included."""


OFF = "off"
_TIME = expression(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")


def _known_schedule(text: str) -> str:
    if text != OFF and not _TIME.match(text):
        raise ValueError('must be "off", or a time of day such as "03:30"')
    return text


TimeOfDay = Annotated[str, AfterValidator(_known_schedule)]


class ReflectSection(Section):
    """A daily run, off unless somebody asks for it."""

    schedule: TimeOfDay = OFF
    """When reflect runs each day, in `memory.timezone`, such as `"03:30"`, caught up once if it was slept through;
    `off`: only when somebody asks."""
    since: Duration = timedelta(days=7)
    """How far back a run looks for what recurred and for what to propose; a scheduled run looks back to the last one at
    least, and evidence for opinions counts once, however old."""

    @property
    def at(self) -> time | None:
        """The time of day; None while it is off."""
        return None if self.schedule == OFF else time.fromisoformat(self.schedule)


class TranscriptFolderSection(Section):
    """A folder with transcripts, of one agent by name: projects must not leak into each other."""

    path: AnchoredPath
    """The folder whose `.jsonl` files are read, and never written, without the folders below it; relative to the folder
    of the configuration file."""
    agent: Annotated[Text, AfterValidator(folded_id)]
    """The id of the one agent whose conversations these are."""
    format: Literal["auto", "openclaw", "claude-code"] = "auto"
    """The program that writes them; `auto`: seen from their first lines."""

    @property
    def transcript_format(self) -> TranscriptFormat | None:
        return None if self.format == "auto" else TranscriptFormat(self.format)


class SessionsSection(Section):
    """Where transcripts lie."""

    max_bytes: int = Field(default=2 * 1024**3, ge=64 * 1024, le=1024**4)
    """How many bytes of transcripts are indexed for an agent; beyond it those that were written longest ago leave the
    index, and status names them."""
    folders: Many[TranscriptFolderSection] = ()
    """Folders of transcripts beside OpenClaw's own (`~/.openclaw/agents/ID/sessions`); read only for an agent with
    `experimental.sessionMemory: true` and `"sessions"` in `sources`."""


class MachinesSection(Section):
    """What travels between the machines on one folder, beside its notes."""

    secret: SecretValue | None = None
    """A secret of 16 characters or more that all machines on this folder have in common, as `{ env: "NAME" }`,
    `{ file: "/absolute/path" }` or itself: with it use, steps of opinions and what is forgotten travel in
    `.memory/machines`; unset: they stay."""


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("must be a time zone such as Europe/Vienna") from error
    return name


TimeZone = Annotated[Text, AfterValidator(_known_zone)]


class MemorySection(OpenClawSection):
    """The backend, citations, time zone and access of the memory."""

    backend: Literal["builtin", "qmd"] = "builtin"
    """Which engine answers: memoryd's own index, or the qmd sidecar."""
    citations: Literal["auto", "on", "off"] = "auto"
    """Whether snippets end in `Source: path#L5-L9`, what answers best; `auto`: in direct chats only."""
    timezone: TimeZone | None = None
    """The time zone, such as `Europe/Vienna`, whose days count for dated notes, `since` and decay; unset: the
    system's."""
    read_only: bool = False
    """`true`: nothing ever writes to a workspace."""
    scope: MemoryAccessSection = MemoryAccessSection()
    """Who may ask, by session key, whatever the backend."""
    qa: QaSection = QaSection()
    """Questions and answers of conversations, kept in the workspace."""
    capture: CaptureSection = CaptureSection()
    """What is learned from messages, without being asked."""
    core: CoreSection = CoreSection()
    """The small file that every session sees."""
    llm: LlmSection = LlmSection()
    """A model that writes text: it may label memories and write prose; off."""
    recall: RecallSection = RecallSection()
    """What is recalled, and how it is put in order."""
    evolution: EvolutionSection = EvolutionSection()
    """How memories come nearer to hand, and how they fade."""
    qmd: QmdSection = QmdSection()
    """The qmd sidecar; counts while `backend` is `qmd`."""

    reflect: ReflectSection = ReflectSection()
    """When pages, opinions and proposals are made of what was retained."""
    sessions: SessionsSection = SessionsSection()
    """Transcripts of agent programs, and whose they are."""

    machines: MachinesSection = MachinesSection()
    """Several machines on one folder."""

    def access_rules(self) -> AccessRules:
        """Return who may ask: `scope`, and with the backend qmd `qmd.scope` too.

        Of the two, one that the file does not give stands back for the other; if both are given, both must allow.
        """
        given: list[AccessSection] = [self.scope] if self.scope.model_fields_set & {"default", "rules"} else []
        if self.backend == "qmd" and "scope" in self.qmd.model_fields_set:
            given.append(self.qmd.scope)
        lists = tuple(scope.to_access() for scope in given or [self.scope])
        return AccessRules(lists, requires_key=self.scope.require_session_key)

    @property
    def citation_mode(self) -> CitationMode:
        return CitationMode(self.citations)
