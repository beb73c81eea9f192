"""`memory`: what holds for all agents."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from memoryd.config.access import AccessSection, MemoryAccessSection
from memoryd.config.capture import CaptureSection
from memoryd.config.core import CoreSection
from memoryd.config.evolution import EvolutionSection
from memoryd.config.llm import LlmSection
from memoryd.config.qa import QaSection
from memoryd.config.qmd import QmdSection
from memoryd.config.recall import RecallSection
from memoryd.config.reflect import ReflectSection
from memoryd.config.section import Section, Text
from memoryd.config.sessions import SessionsSection
from memoryd.domain.access import AccessRules
from memoryd.domain.citations import CitationMode


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("must be a time zone such as Europe/Vienna") from error
    return name


TimeZone = Annotated[Text, AfterValidator(_known_zone)]


class MemorySection(Section):
    """The backend, citations, time zone and access of the memory."""

    backend: Literal["builtin", "qmd"] = Field(
        default="builtin", description="Which engine answers: memoryd's own index, or the qmd sidecar."
    )
    citations: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether snippets end in `Source: path#L5-L9`, what answers best; `auto`: in direct chats only.",
    )
    timezone: TimeZone | None = Field(
        default=None,
        description="The time zone, such as `Europe/Vienna`, whose days count for dated notes, `since` and decay; "
        "unset: the system's.",
    )
    read_only: bool = Field(default=False, description="`true`: nothing ever writes to a workspace.")
    scope: MemoryAccessSection = Field(
        default=MemoryAccessSection(), description="Who may ask, by session key, whatever the backend."
    )
    qa: QaSection = Field(
        default=QaSection(), description="Questions and answers of conversations, kept in the workspace."
    )
    capture: CaptureSection = Field(
        default=CaptureSection(), description="What is learned from messages, without being asked."
    )
    core: CoreSection = Field(default=CoreSection(), description="The small file that every session sees.")
    llm: LlmSection = Field(
        default=LlmSection(), description="A model that writes text: it may label memories and write prose; off."
    )
    recall: RecallSection = Field(default=RecallSection(), description="What is recalled, and how it is put in order.")
    evolution: EvolutionSection = Field(
        default=EvolutionSection(), description="How memories come nearer to hand, and how they fade."
    )
    qmd: QmdSection = Field(default=QmdSection(), description="The qmd sidecar; counts while `backend` is `qmd`.")

    reflect: ReflectSection = Field(
        default=ReflectSection(), description="When pages, opinions and proposals are made of what was retained."
    )
    sessions: SessionsSection = Field(
        default=SessionsSection(), description="Transcripts of agent programs, and whose they are."
    )

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
