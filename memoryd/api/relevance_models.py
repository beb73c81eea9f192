"""Shapes of what is told of the relevance of memories: its terms now, and how it will be."""

from memoryd.api.memory_models import SNAKE, MemoryReply
from memoryd.api.models import Reply


class RelevanceTermsReply(Reply):
    """Every term of the relevance of a memory: recency and frequency, each 0 to 1, importance, what its tier grants."""

    model_config = SNAKE

    tier: str
    """Its tier."""
    reason: str
    """Why it is there, in words."""
    pinned: bool
    """Whether it is pinned."""
    importance: float
    """0 to 1."""
    access_count: int
    """How often it was delivered."""
    age_days: float
    """Days since it was delivered, else since it was written."""
    half_life_days: float
    """After how many days half of the recency is left, where `beta` is 1."""
    beta: float
    """How the tier bends the curve: less than 1 is slower later on, more is faster."""
    recency: float
    """`exp(-ln 2 / half_life_days * age_days ** beta)`, 0 to 1."""
    frequency: float
    """`1 - exp(-access_count / 5)`, 0 to 1."""
    composite: float
    """`0.4 * recency + 0.3 * frequency + 0.3 * importance`, 0 to 1."""
    floor: float
    """The least that the tier grants."""
    relevance: float
    """The composite, but at least `floor`."""


class MemoryWhyReply(MemoryReply):
    """Why a memory stands where it does."""

    terms: RelevanceTermsReply
    """What its relevance is made of."""


class DecayedMemoryReply(MemoryReply):
    """A memory and how it will stand."""

    terms: RelevanceTermsReply
    """What its relevance will be made of."""


class MemoryDecayReply(Reply):
    """How memories will stand if nobody touches them."""

    model_config = SNAKE

    days: float
    """In how many days."""
    memories: list[DecayedMemoryReply]
    """Those that go to another tier first, then those that lose most; what stays as it is is left out."""
    moving: int
    """How many go to another tier."""
    total: int
    """How many there are."""
