"""What is asked of a run of reflect, and what came of it."""

from dataclasses import dataclass
from datetime import date

from memoryd.domain.memories.abstracts import NearCopies
from memoryd.domain.memories.reflect.proposals import ProposalId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectOptions:
    """What a run is to do. `since` is the first day it looks at for observations and proposals; pages are made of all
    memories, and evidence counts once, however old.

    `is_dry`: nothing is written. `allows_loss`: pages may lose what they told, since it is gone on purpose.
    """

    since: date
    is_dry: bool = False
    allows_loss: bool = False


@dataclass(frozen=True, slots=True)
class PageRefusal:
    """A page that was left as it is, and why."""

    path: str
    why: str
    lacks_markers: bool = False


@dataclass(frozen=True, slots=True)
class ProposalSummary:
    """A proposal that a run made."""

    id: ProposalId
    kind: str
    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectOutcome:
    """What a run did, or would do. `pages` are those written; `steps` moved opinions; `core_left_out` had no room."""

    run: str
    since: date
    is_dry: bool
    memories: int
    steps: int
    pages: tuple[str, ...]
    unchanged: int
    refusals: tuple[PageRefusal, ...]
    proposals: tuple[ProposalSummary, ...]
    copies: tuple[NearCopies, ...]
    across_scopes: tuple[NearCopies, ...]
    """Memories that say the same in several scopes."""
    core_left_out: int
    seconds: float
