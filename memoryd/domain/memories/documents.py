"""Memories as documents: what a program asks for by id, and edits. A view over lines, stored nowhere."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo

from memoryd.domain.citations import cited
from memoryd.domain.memories.abstracts import abstract_of, overview_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import SHORT_SIGNS, MemoryId, short_id
from memoryd.domain.memories.kinds import Kind, Network
from memoryd.domain.memories.reach import MemoryReach
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.memories.recall_order import newer_of
from memoryd.domain.memories.tiers import RelevanceTerms, Tier
from memoryd.domain.memories.verification import cite
from memoryd.domain.memories.versions import superseded


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDocument:
    """A memory as a program sees it; times are Unix seconds.

    `scope` is as it is told (`told_scope`), `terms` what its relevance is made of now. `score` is None where nothing
    was asked.
    """

    memory: Memory
    scope: str
    created_at: float
    """The beginning of the day on which it was written first."""
    accessed_at: float
    """When it was delivered last; when it was created, if it never was."""
    terms: RelevanceTerms
    superseded_by: tuple[MemoryId, ...] = ()
    score: float | None = None

    @property
    def id(self) -> MemoryId:
        return self.memory.id

    @property
    def kind(self) -> Kind:
        return self.memory.kind

    @property
    def network(self) -> Network:
        return self.memory.line.network

    @property
    def text(self) -> str:
        return self.memory.line.text

    @property
    def tier(self) -> Tier:
        return self.terms.tier

    @property
    def access_count(self) -> int:
        return self.terms.access_count

    @property
    def relevance(self) -> float:
        """How near at hand it is kept, 0.1 to 1."""
        return self.terms.relevance

    @property
    def importance(self) -> float:
        return self.memory.line.importance

    @property
    def pinned(self) -> bool:
        return self.memory.line.attributes.is_pinned

    @property
    def tags(self) -> tuple[str, ...]:
        return self.memory.line.attributes.tags

    @property
    def entities(self) -> tuple[str, ...]:
        return self.memory.line.entities

    @property
    def abstract_text(self) -> str:
        return abstract_of(self.text)

    @property
    def overview_text(self) -> str:
        return overview_of(self.text)

    @property
    def citation(self) -> str:
        """Where its newest line stands, with its mark."""
        return str(cite(self.memory.sources[0]))

    @property
    def sources(self) -> tuple[str, ...]:
        """The lines that state it, the newest first."""
        return tuple(str(cited(one.path, one.start_line, one.end_line)) for one in self.memory.sources)


def told_scope(scope: str, agent: str, *, is_alone: bool) -> str:
    """Return how the scope of a memory is told: without one it is the workspace's, or of the one agent that has it."""
    return scope or (f"agent:{agent}" if is_alone else WORKSPACE)


def within(book: Book, reach: MemoryReach) -> list[Memory]:
    """Return the memories that somebody may know of."""
    return [one for one in book.memories.values() if reach.admits(one.line.attributes.scope)]


def named(memories: Iterable[Memory], name: str) -> Memory:
    """Return the memory of a full id, or of a beginning of at least eight signs; raise ValueError.

    Give it only what the asker may know of: then another's id reads as one that there is not.
    """
    asked = name.strip().lower()
    found = [one for one in memories if one.id.startswith(asked)] if len(asked) >= SHORT_SIGNS else []
    if not found:
        raise ValueError(f"there is no memory {name!r}")
    if len(found) > 1:
        raise ValueError(f"{name!r} is the beginning of {len(found)} ids: give more of it")
    return found[0]


def newer_versions(known: Iterable[Memory], asked: Iterable[Memory]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return what supersedes some memories, of what the asker may know of.

    Only what may be a version of them is looked at: what is of their kind and entities, and what names them.
    """
    asked = list(asked)
    alike = {(one.kind, one.slugs, one.line.attributes.scope) for one in asked}
    names = {short_id(one.id) for one in asked}
    near = [
        one
        for one in known
        if (one.kind, one.slugs, one.line.attributes.scope) in alike
        or not names.isdisjoint(one.line.attributes.supersedes)
    ]
    newer = newer_of(superseded(near))
    return {one.id: newer[one.id] for one in asked if one.id in newer}


def beginning_of(day: date, zone: tzinfo | None) -> float:
    """Return when a day begins in a zone, in Unix seconds; 0 for a day before the zone can tell."""
    try:
        return datetime.combine(day, time.min, tzinfo=zone).timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0
