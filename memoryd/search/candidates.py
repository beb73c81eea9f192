"""Question → candidates: both arms side by side under one deadline, and again where the answer wants more."""

import asyncio
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.fusion import Evidence, LexicalMatches, VectorMatches
from memoryd.domain.ranking.selection import DEEPER
from memoryd.search.arm_times import EMBEDDING, ArmTimes
from memoryd.search.backend import LEXICAL, VECTOR, Arm, ArmState, Query
from memoryd.search.lexical_arm import lexical_matches
from memoryd.search.search_settings import SearchSettings
from memoryd.search.vector_arm import QuestionVector, VectorArm
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the arms found, and how each took part."""

    arms: Mapping[str, Arm]
    evidence: Evidence
    is_full: bool
    """Whether an arm had more to give."""


class CandidateSearch:
    """Puts one question to both arms, which have until `end` (monotonic clock). `first` comes first."""

    def __init__(
        self,
        *,
        database: Database,
        vector_arm: VectorArm,
        settings: SearchSettings,
        query: Query,
        admitted: CandidateFilter,
        withdrawn: Container[str],
        times: ArmTimes,
        end: float,
    ) -> None:
        self.depth = settings.depth(query.limit)
        """How many candidates each arm is asked for."""
        self.has_asked_others = False
        self._database = database
        self._vector_arm = vector_arm
        self._settings = settings
        self._query = query
        self._admitted = admitted
        self._withdrawn = withdrawn
        """The notes that nobody may be told of."""
        self._times = times
        self._end = end
        self._lexical: tuple[Arm, LexicalMatches | None]
        self._embedded: tuple[Arm, QuestionVector | None]

    async def first(self) -> Candidates:
        """Return what both arms find."""
        self._lexical, self._embedded = await asyncio.gather(
            self._by_words(self.depth, self._admitted),
            self._times.guarded(EMBEDDING, lambda: self._vector_arm.embedded(self._query.question), self._end),
        )
        return await self._candidates()

    async def with_others(self, dominant: RelativePath) -> Candidates:
        """Add the best words of other documents to those of one that has too many places."""
        self.has_asked_others = True
        arm, found = self._lexical
        wanted = self._settings.hybrid.candidate_multiplier * self._query.limit
        _, others = await self._by_words(wanted, replace(self._admitted, without=dominant))
        self._lexical = arm, (found or LexicalMatches()).joined(others or LexicalMatches())
        return await self._candidates()

    async def deeper(self) -> Candidates:
        """Return what both arms find when they are asked for more."""
        self.depth *= DEEPER
        self._lexical = await self._by_words(self.depth, self._admitted)
        return await self._candidates()

    async def _by_words(self, depth: int, admitted: CandidateFilter) -> tuple[Arm, LexicalMatches | None]:
        question = self._query.question
        return await self._times.guarded(
            LEXICAL, lambda: lexical_matches(self._database, question, depth, admitted), self._end
        )

    async def _candidates(self) -> Candidates:
        """Ask the vector arm, whose vector of the question is made once, and put both together."""
        vector, embedded = self._embedded
        near: VectorMatches | None = None
        if embedded is not None:
            asked, question = embedded, self._query.question
            vector, near = await self._times.guarded(
                VECTOR, lambda: self._vector_arm.matches(asked, question, self.depth, self._admitted), self._end
            )
        lexical, found = self._lexical
        if not self._settings.hybrid.enabled and vector.took_part:
            lexical, found = Arm(ArmState.OFF, "query.hybrid.enabled is false"), None
        evidence = Evidence(found or LexicalMatches(), near or VectorMatches())
        is_full = max(len(evidence.lexical.bm25), len(evidence.vector.cosines)) >= self.depth
        return Candidates({LEXICAL: lexical, VECTOR: vector}, await self._tellable(evidence), is_full)

    async def _tellable(self, evidence: Evidence) -> Evidence:
        """Leave out what an answer is not to tell.

        It would else move the scores of others and be what the answer is judged by: a note that is gone or private
        would tell that it matches.
        """
        untold = self._query.untold
        if untold.is_empty and not self._withdrawn:
            return evidence
        paths = await self._database.documents.paths(list(evidence.chunks))
        # what was replaced meanwhile has no path, and stays: whoever misses its row asks again
        hidden = {chunk for chunk, path in paths.items() if path in self._withdrawn or path in untold.paths}
        return evidence.only(evidence.chunks - hidden - untold.chunks)
