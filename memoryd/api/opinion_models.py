"""Shapes of the calls on opinions."""

from memoryd.api.models import AgentId, Reply, Request
from memoryd.api.qa_models import SessionKeyText
from memoryd.domain.memories.reflect.opinions import Label


class OpinionReply(Reply):
    """An opinion, and how firmly it is held."""

    id: str
    """The id of the memory that states it; lines name it by its first eight signs."""
    kind: str
    """`opinion` or `preference`."""
    statement: str
    """What is thought."""
    entities: list[str]
    """Whom or what it is about, as written."""
    confidence: float
    """How firmly it is held, 0 to 1."""
    base: float
    """The confidence that its own lines give, from which evidence moved it; 0.5 where they give none."""
    last_updated: str | None
    """The day of the evidence that moved it last, else of the line that states it; null where no line has a date."""
    supporting: int
    """How many pieces of evidence speak for it."""
    opposing: int
    """How many speak against it."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""


class OpinionsReply(Reply):
    """The opinions that reach the caller, the firmest first."""

    opinions: list[OpinionReply]
    """The first of them."""
    total: int
    """How many there are."""


class OpinionStepReply(Reply):
    """What one piece of evidence made of a confidence."""

    evidence: str
    """The id of the memory; that of the opinion itself where it was said again."""
    label: Label
    """What it means for the opinion."""
    labelled_by: str
    """Who says so: `supports` or `contradicts` in its line, `restated`, or `model:` and the identity of the model."""
    day: str
    """The day on which it was said."""
    citations: list[str]
    """Where its lines stand; empty where they are gone."""
    content: str
    """What it says; empty where its line is gone."""
    before: float
    """The confidence before it, 0 to 1."""
    after: float
    """The confidence after it; the same where its day had counted, or the cap of the run was reached."""
    run: str
    """The run of reflect that counted it."""


class OpinionWhyReply(OpinionReply):
    """An opinion, and each step that led to its confidence."""

    steps: list[OpinionStepReply]
    """In the order in which they were counted."""
    set_aside: list[OpinionStepReply]
    """Steps from before its lines gave another confidence: they count no more."""


class OpinionReplayRequest(Request):
    """Whose opinions are to be computed anew."""

    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


class OpinionDifferenceReply(Reply):
    """An opinion with a step that is not as it is computed anew: the first such step."""

    id: str
    """The id of the opinion."""
    statement: str
    """What is thought."""
    evidence: str
    """The id of the evidence that the step counted."""
    before: float
    """The confidence before it, as recorded."""
    after: float
    """The confidence after it, as recorded."""
    computed_before: float
    """The confidence before it, as computed anew."""
    computed_after: float
    """The confidence after it, as computed anew."""


class OpinionReplayReply(Reply):
    """Whether every confidence comes out again, to the bit."""

    equal: bool
    """Whether all do."""
    opinions: int
    """How many opinions were computed anew."""
    steps: int
    """How many steps they have."""
    differing: list[OpinionDifferenceReply]
    """Those that do not."""
