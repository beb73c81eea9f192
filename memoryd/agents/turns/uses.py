"""What counts as used in the turns of one agent: what was told and answers, and what the agent's answer uses.

What was told in the last turn of a session is known in memory alone: after a restart an answer uses nothing.
"""

import asyncio
from collections import OrderedDict
from typing import Final

from msgspec import Struct

from memoryd.agents.retained.recall import AgentRecall, shown_memories
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.uses import used_memories
from memoryd.errors import StoreError
from memoryd.index.threads import with_pauses
from memoryd.memory.capture.capturing import SESSIONS_MAX
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.recall.query import Recalled

QUESTION_CHARS: Final = 4_000
"""Of a longer question the end is known."""


class _ShownTurn(Struct, frozen=True):
    """A question, and what was told for it: memories, each with the citation that stood beside it."""

    question: str
    citations: dict[MemoryId, str]


class TurnUses:
    """Counts the uses of one agent; all that it knows of sessions goes when something is forgotten."""

    def __init__(self, recall: AgentRecall) -> None:
        self._recall = recall
        self._told: OrderedDict[str, _ShownTurn] = OrderedDict()
        drop_with_the_others(self)

    def note_shown(self, key: str, question: str, recalled: Recalled, *, at: float) -> None:
        """Count what answers a question, and know what was told for it until the answer comes."""
        self._recall.touch(recalled, at=at, session=key, message=" ".join(question.casefold().split()))
        if not key:
            return
        self._told.pop(key, None)
        if told := [item for item in shown_memories(recalled) if not item.superseded_by]:
            citations = {item.memory.id: str(item.citation) for item in told}
            self._told[key] = _ShownTurn(question[-QUESTION_CHARS:], citations)
        while len(self._told) > SESSIONS_MAX:
            self._told.popitem(last=False)

    async def note_answer(self, key: str, answer: str, *, at: float) -> None:
        """Count what an answer uses of what was told for its question; one that comes in parts is counted by parts."""
        if (turn := self._told.get(key)) is None:
            return
        try:
            memories = (await self._recall.book.now()).memories
        except StoreError:
            return
        told = [(memories[one], citation) for one, citation in turn.citations.items() if one in memories]
        used = await asyncio.to_thread(
            lambda: used_memories(
                told, question=turn.question, answer=answer, memories=with_pauses(list(memories.values()))
            )
        )
        self._recall.touch_used(used, at=at, session=key)

    def drop_texts(self) -> None:
        """Know no question any more, and nothing that was told."""
        self._told.clear()
