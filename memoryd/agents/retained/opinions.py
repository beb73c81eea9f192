"""What may be asked of an agent's opinions: which it holds, why, and whether each confidence comes out again."""

from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.reflect.opinions import Step, chained
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.book import MemoryBook
from memoryd.memory.opinions import HeldOpinion, OpinionBook, OpinionEvidence, evidence_of

_SHORTEST_ID = 4


class ToldStep(Struct, frozen=True):
    """A step of an opinion with its evidence and what that says, empty where its line is gone."""

    step: Step
    evidence: OpinionEvidence
    content: str


class ExplainedOpinion(Struct, frozen=True):
    """An opinion, and the steps that led to its confidence; `set_aside` came before its lines gave another one."""

    held: HeldOpinion
    steps: tuple[ToldStep, ...]
    set_aside: tuple[ToldStep, ...]


class DifferingStep(Struct, frozen=True):
    """The first step of an opinion that is not as it is computed anew."""

    opinion: Memory
    recorded: Step
    computed: Step


class OpinionReplay(Struct, frozen=True):
    """How many opinions and steps were computed anew, and which differ, to the bit."""

    opinions: int
    steps: int
    differing: tuple[DifferingStep, ...]


class AgentOpinions(Struct, frozen=True):
    """The opinions that reach one agent. Each call raises StoreError where index or ledger cannot be read."""

    agent: str
    book: MemoryBook
    opinions: OpinionBook

    async def all(self, admitted: Admitted, entity: str | None = None) -> list[HeldOpinion]:
        """Return the opinions, about an entity if one is named, the firmest first."""
        book, reach = await self.book.now(), self._reach(admitted)
        chosen = [one for one in _beliefs(book, reach) if entity is None or _is_about(book, one, entity)]
        held = await self._held(book, chosen)
        return sorted(held, key=lambda one: (-one.confidence, one.memory.id))

    async def one(self, admitted: Admitted, name: str) -> ExplainedOpinion:
        """Explain the opinion of an id, or of a beginning of one; raises NotFound, InvalidRequest for several."""
        book, reach = await self.book.now(), self._reach(admitted)
        (held,) = await self._held(book, [_named(book, reach, name)])
        standing = held.standing
        return ExplainedOpinion(held, _told(book, reach, standing.steps), _told(book, reach, standing.set_aside))

    async def replay(self, admitted: Admitted) -> OpinionReplay:
        """Compute the confidences of all opinions anew, and compare them with what is on record."""
        book, reach = await self.book.now(), self._reach(admitted)
        held = await self._held(book, _beliefs(book, reach))
        steps = sum(len(one.standing.recorded) for one in held)
        differing = [found for one in held if (found := _differing(one)) is not None]
        return OpinionReplay(len(held), steps, tuple(differing))

    def _reach(self, admitted: Admitted) -> MemoryReach:
        return MemoryReach(self.agent, admitted.channel, admitted.is_owner)

    async def _held(self, book: Book, memories: Sequence[Memory]) -> list[HeldOpinion]:
        held = await self.opinions.held(book, [one.id for one in memories])
        return list(held.values())


def _beliefs(book: Book, reach: MemoryReach) -> list[Memory]:
    every = (one for one in book.memories.values() if is_belief(one.kind))
    return sorted((one for one in every if reach.admits(one.line.attributes.scope)), key=lambda one: one.id)


def _is_about(book: Book, memory: Memory, entity: str) -> bool:
    asked = slug_of(entity)
    return any(book.aliases.get(slug, slug) == book.aliases.get(asked, asked) for slug in memory.slugs)


def _named(book: Book, reach: MemoryReach, name: str) -> Memory:
    # only among those that the caller may see: another id is no more told than what it stands for
    asked = name.strip().lower()
    found = [one for one in _beliefs(book, reach) if len(asked) >= _SHORTEST_ID and one.id.startswith(asked)]
    if not found:
        raise NotFound(f"there is no opinion {name!r}", hint="memoryctl opinions list shows all with their ids")
    if len(found) > 1:
        raise InvalidRequest(f"{name!r} is the beginning of {len(found)} ids", hint="give more of the id")
    return found[0]


def _told(book: Book, reach: MemoryReach, steps: Sequence[Step]) -> tuple[ToldStep, ...]:
    return tuple(_told_step(book, reach, step) for step in steps)


def _told_step(book: Book, reach: MemoryReach, step: Step) -> ToldStep:
    memory = book.memories.get(MemoryId(step.evidence))
    if memory is None or not reach.admits(memory.line.attributes.scope):
        return ToldStep(step, OpinionEvidence(step.evidence, step.label, step.day, ()), "")
    return ToldStep(step, evidence_of(book, step), memory.line.text)


def _differing(held: HeldOpinion) -> DifferingStep | None:
    recorded = held.standing.recorded
    for old, new in zip(recorded, chained(recorded), strict=True):
        if old != new:
            return DifferingStep(held.memory, old, new)
    return None
