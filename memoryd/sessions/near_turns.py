"""Which turns of an agent are near a message in meaning, by the vectors that its conversation index has anyway.

A message is embedded once while recall asks for it, too, so that only the comparison comes on top. A passage of the
index is a few turns, each of which is as near as it; what comes no nearer than strangers do is not near at all.
"""

import time
from collections import defaultdict
from collections.abc import Container, Mapping
from datetime import datetime

from msgspec import Struct

from memoryd.domain.documents import TURN_LINES, SessionId, holds_turns, session_of
from memoryd.domain.ranking.calibration import vector_floor
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import PassageMatch, VectorMatches, standout
from memoryd.domain.ranking.questions import parse_question
from memoryd.domain.sessions.sequences import NOTHING_SIMILAR, SimilarTurns
from memoryd.search.arms import VectorArm, guarded
from memoryd.search.protocol import Arm
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow
from memoryd.store.index.words import CandidateFilter

CHUNKS = 24
"""So many of the nearest chunks are looked at: those of a few sessions."""


class SimilarTurnSearch(Struct, frozen=True, kw_only=True):
    """Asks one conversation index; `withdrawn` are the conversations that no answer may name."""

    database: Database
    vector_arm: VectorArm
    withdrawn: Container[str]

    async def near(self, message: str, now: datetime, seconds: float) -> SimilarTurns:
        """Return the turns near a message; none where there are no vectors, or they do not come in time."""
        if not self.database.is_open:
            return NOTHING_SIMILAR
        _, found = await guarded(lambda: self._search(message, now), time.monotonic() + seconds)
        return found or NOTHING_SIMILAR

    async def _search(self, message: str, now: datetime) -> tuple[Arm, SimilarTurns]:
        question = parse_question(message, Filters(), now)
        arm, asked = await self.vector_arm.embedded(question)
        if asked is None:
            return arm, NOTHING_SIMILAR
        arm, matches = await self.vector_arm.matches(asked, question, CHUNKS, CandidateFilter())
        passages_above = _passages_above_noise(matches)
        rows = await self.database.documents.chunks(list(passages_above))
        visible = [row for row in rows.values() if holds_turns(row.path) and row.path not in self.withdrawn]
        return arm, _turns(visible, passages_above, matches)


def _passages_above_noise(matches: VectorMatches) -> Mapping[int, list[PassageMatch]]:
    """Return the passages that rise above what the best stranger reaches, by chunk."""
    floor = vector_floor(matches.compared, knows_a_word=True)
    passages_above = {
        chunk: [one for one in passages if matches.noise.deviations(one.cosine) >= floor]
        for chunk, passages in matches.passages.items()
    }
    return {chunk: passages for chunk, passages in passages_above.items() if passages}


def _turns(
    rows: list[ChunkRow], passages_above: Mapping[int, list[PassageMatch]], matches: VectorMatches
) -> SimilarTurns:
    near: defaultdict[SessionId, dict[int, float]] = defaultdict(dict)
    for row in rows:
        turns = near[session_of(row.path)]
        for passage in passages_above[row.id]:
            rise = standout(passage.cosine, matches.noise)
            first = row.start_line + row.text.count("\n", 0, passage.start)
            last = first + row.text[passage.start : passage.stop].rstrip("\n").count("\n")
            for seq in range(-(-first // TURN_LINES), -(-last // TURN_LINES) + 1):
                turns[seq] = max(rise, turns.get(seq, 0.0))
    return near
