"""What may be asked of an agent's opinions: which it holds, why, and whether each confidence comes out again."""

from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.reflect.opinions import Step, chained
from memoryd.domain.memories.scopes import Visibility
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.book import MemoryCache
from memoryd.memory.opinions import OpinionEvidence, OpinionStore, OpinionWithEvidence, evidence_of

_SHORTEST_ID = 4


class OpinionStep(Struct, frozen=True):
    """A step of an opinion with its evidence and what that says, empty where its line is gone."""

    step: Step
    evidence: OpinionEvidence
    content: str


class ExplainedOpinion(Struct, frozen=True):
    """An opinion, and the steps that led to its confidence; `set_aside` came before its lines gave another one."""

    held: OpinionWithEvidence
    steps: tuple[OpinionStep, ...]
    set_aside: tuple[OpinionStep, ...]


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
    book: MemoryCache
    opinions: OpinionStore

    async def all(self, admitted: Admitted, entity: str | None = None) -> list[OpinionWithEvidence]:
        """Return the opinions, about an entity if one is named, the firmest first."""
        book, visibility = await self.book.now(), self._visibility(admitted)
        chosen = [one for one in _beliefs(book, visibility) if entity is None or _is_about(book, one, entity)]
        held = await self._held(book, chosen)
        return sorted(held, key=lambda one: (-one.confidence, one.memory.id))

    async def one(self, admitted: Admitted, name: str) -> ExplainedOpinion:
        """Explain the opinion of an id, or of a beginning of one; raises NotFound, InvalidRequest for several."""
        book, visibility = await self.book.now(), self._visibility(admitted)
        (held,) = await self._held(book, [_named(book, visibility, name)])
        standing = held.standing
        return ExplainedOpinion(
            held, _opinion_steps(book, visibility, standing.steps), _opinion_steps(book, visibility, standing.set_aside)
        )

    async def replay(self, admitted: Admitted) -> OpinionReplay:
        """Compute the confidences of all opinions anew, and compare them with what is on record."""
        book, visibility = await self.book.now(), self._visibility(admitted)
        held = await self._held(book, _beliefs(book, visibility))
        steps = sum(len(one.standing.recorded) for one in held)
        differing = [found for one in held if (found := _differing(one)) is not None]
        return OpinionReplay(len(held), steps, tuple(differing))

    def _visibility(self, admitted: Admitted) -> Visibility:
        return Visibility(self.agent, admitted.channel, admitted.is_owner)

    async def _held(self, book: Book, memories: Sequence[Memory]) -> list[OpinionWithEvidence]:
        held = await self.opinions.held(book, [one.id for one in memories])
        return list(held.values())


def _beliefs(book: Book, visibility: Visibility) -> list[Memory]:
    every = (one for one in book.memories.values() if is_belief(one.kind))
    return sorted((one for one in every if visibility.admits(one.line.attributes.scope)), key=lambda one: one.id)


def _is_about(book: Book, memory: Memory, entity: str) -> bool:
    asked = slug_of(entity)
    return any(book.aliases.get(slug, slug) == book.aliases.get(asked, asked) for slug in memory.slugs)


def _named(book: Book, visibility: Visibility, name: str) -> Memory:
    # only among those that the caller may see: another id is no more told than what it stands for
    asked = name.strip().lower()
    found = [one for one in _beliefs(book, visibility) if len(asked) >= _SHORTEST_ID and one.id.startswith(asked)]
    if not found:
        raise NotFound(f"there is no opinion {name!r}", hint="memoryctl opinions list shows all with their ids")
    if len(found) > 1:
        raise InvalidRequest(f"{name!r} is the beginning of {len(found)} ids", hint="give more of the id")
    return found[0]


def _opinion_steps(book: Book, visibility: Visibility, steps: Sequence[Step]) -> tuple[OpinionStep, ...]:
    return tuple(_opinion_step(book, visibility, step) for step in steps)


def _opinion_step(book: Book, visibility: Visibility, step: Step) -> OpinionStep:
    memory = book.memories.get(MemoryId(step.evidence))
    if memory is None or not visibility.admits(memory.line.attributes.scope):
        return OpinionStep(step, OpinionEvidence(step.evidence, step.label, step.day, ()), "")
    return OpinionStep(step, evidence_of(book, step), memory.line.text)


def _differing(held: OpinionWithEvidence) -> DifferingStep | None:
    recorded = held.standing.recorded
    for old, new in zip(recorded, chained(recorded), strict=True):
        if old != new:
            return DifferingStep(held.memory, old, new)
    return None
