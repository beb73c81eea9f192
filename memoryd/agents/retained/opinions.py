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
from memoryd.memory.opinions import OpinionStore, OpinionWithEvidence, evidence_of
from memoryd.replies.knowledge import (
    OpinionDifferenceReply,
    OpinionReplayReply,
    OpinionReply,
    OpinionsReply,
    OpinionStepReply,
    OpinionWhyReply,
)

_SHORTEST_ID = 4


class AgentOpinions(Struct, frozen=True):
    """The opinions that reach one agent. Each call raises StoreError where index or ledger cannot be read."""

    agent: str
    book: MemoryCache
    opinions: OpinionStore

    async def all(self, admitted: Admitted, entity: str | None, limit: int) -> OpinionsReply:
        """Return the opinions, about an entity if one is named, the firmest first."""
        book, visibility = (await self.book.now()).own, Visibility.of(self.agent, admitted)
        about = [one for one in _beliefs(book, visibility) if entity is None or _is_about(book, one, entity)]
        rows = firmest_first(await self._with_evidence(book, about))
        return OpinionsReply(opinions=rows[:limit], total=len(rows))

    async def one(self, admitted: Admitted, name: str) -> OpinionWhyReply:
        """Explain the opinion of an id, or of a beginning of one; raises NotFound, InvalidRequest for several."""
        book, visibility = (await self.book.now()).own, Visibility.of(self.agent, admitted)
        (opinion,) = await self._with_evidence(book, [_find_opinion(book, visibility, name)])
        standing = opinion.standing
        return OpinionWhyReply(
            **opinion_reply(opinion),
            steps=[_step_reply(book, visibility, step) for step in standing.steps],
            setAside=[_step_reply(book, visibility, step) for step in standing.set_aside],
        )

    async def replay(self, admitted: Admitted) -> OpinionReplayReply:
        """Compute the confidences of all opinions anew, and compare them with what is on record."""
        book = (await self.book.now()).own
        opinions = await self._with_evidence(book, _beliefs(book, Visibility.of(self.agent, admitted)))
        differing = [row for one in opinions if (row := _first_difference(one)) is not None]
        return OpinionReplayReply(
            equal=not differing,
            opinions=len(opinions),
            steps=sum(len(one.standing.recorded) for one in opinions),
            differing=differing,
        )

    async def _with_evidence(self, book: Book, memories: Sequence[Memory]) -> list[OpinionWithEvidence]:
        return list((await self.opinions.held(book, [one.id for one in memories])).values())


def firmest_first(opinions: Sequence[OpinionWithEvidence]) -> list[OpinionReply]:
    """Return the replies of opinions, the firmest first."""
    return list(map(opinion_reply, sorted(opinions, key=lambda one: (-one.confidence, one.memory.id))))


def opinion_reply(opinion: OpinionWithEvidence) -> OpinionReply:
    """Return an opinion as it is told."""
    memory, standing = opinion.memory, opinion.standing
    return OpinionReply(
        id=memory.id,
        kind=memory.kind,
        statement=memory.line.text,
        entities=list(memory.line.entities),
        confidence=standing.confidence,
        base=standing.base.confidence,
        lastUpdated=standing.last_updated.isoformat() if standing.last_updated else None,
        supporting=len(opinion.supporting),
        opposing=len(opinion.opposing),
        source=str(memory.sources[0].citation),
    )


def _beliefs(book: Book, visibility: Visibility) -> list[Memory]:
    beliefs = (one for one in book.memories.values() if is_belief(one.kind))
    return sorted((one for one in beliefs if visibility.admits(one.line.attributes.scope)), key=lambda one: one.id)


def _is_about(book: Book, memory: Memory, entity: str) -> bool:
    slug = slug_of(entity)
    return any(book.aliases.get(own, own) == book.aliases.get(slug, slug) for own in memory.slugs)


def _find_opinion(book: Book, visibility: Visibility, name: str) -> Memory:
    # only among those that the caller may see: another id is no more told than what it stands for
    prefix = name.strip().lower()
    exact = book.memories.get(MemoryId(prefix))
    if exact is not None and is_belief(exact.kind) and visibility.admits(exact.line.attributes.scope):
        return exact
    matches = [one for one in _beliefs(book, visibility) if len(prefix) >= _SHORTEST_ID and one.id.startswith(prefix)]
    if not matches:
        raise NotFound(f"there is no opinion {name!r}", hint="memoryctl opinions list shows all with their ids")
    if len(matches) > 1:
        raise InvalidRequest(f"{name!r} is the beginning of {len(matches)} ids", hint="give more of the id")
    return matches[0]


def _step_reply(book: Book, visibility: Visibility, step: Step) -> OpinionStepReply:
    """Return a step with what its evidence says, without text where its line is gone or beyond the caller's reach."""
    memory = book.memories.get(MemoryId(step.evidence))
    is_visible = memory is not None and visibility.admits(memory.line.attributes.scope)
    return OpinionStepReply(
        evidence=step.evidence,
        label=step.label.value,
        labelledBy=step.labelled_by,
        day=step.day.isoformat(),
        citations=list(evidence_of(book, step).citations) if is_visible else [],
        content=memory.line.text if memory is not None and is_visible else "",
        before=step.before,
        after=step.after,
        run=step.run,
    )


def _first_difference(opinion: OpinionWithEvidence) -> OpinionDifferenceReply | None:
    """Return the first step of an opinion that is not as it is computed anew."""
    recorded = opinion.standing.recorded
    for old, new in zip(recorded, chained(recorded), strict=True):
        if old != new:
            return OpinionDifferenceReply(
                id=opinion.memory.id,
                statement=opinion.memory.line.text,
                evidence=old.evidence,
                before=old.before,
                after=old.after,
                computedBefore=new.before,
                computedAfter=new.after,
            )
    return None
