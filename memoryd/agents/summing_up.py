"""What may be told of a session, and a summary of it: in the prose of a text model, else of its own sentences."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from memoryd.domain.memories.capture.identifiers import found_identifier
from memoryd.domain.sessions.session_summary import SessionSummary, sentences_of, session_summary
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.text.gist import gist
from memoryd.errors import StoreError, TextModelUnavailable
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.tombstone_store import TombstoneStore
from memoryd.memory.llm_prose import CitedFact, Prose

log = structlog.get_logger(__name__)

PROSE_CHARS: Final = 800
"""A longer summary of a text model is none."""
WITHOUT_MODEL: Final = "It is made of sentences that were said: the text model gave no summary that can be used."
_MOST_FACTS: Final = 30
_NO_TAG: Final = re.compile(r"[^\w.:/@+-]")
_TAG_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary as it is written; empty if there is nothing to tell. `model` is the text model that wrote it."""

    text: str = ""
    model: str = ""
    remark: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """What the line is labelled with, where a model wrote it."""
        return (f"model:{_NO_TAG.sub('_', self.model)[:_TAG_CHARS]}",) if self.model else ()


@dataclass(frozen=True, slots=True)
class SummingUp:
    """Sums up the sessions of one agent.

    Left out is what a memory says already, what was forgotten, and what has the number or address of somebody.
    """

    prose: Prose
    book: MemoryBook
    tombstones: TombstoneStore

    async def extract(self, session: Session) -> SessionSummary:
        """Return what was said behind the last summary, in its own sentences; raises StoreError."""
        return session_summary(session, after=session.summed_up, is_left_out=await self._left_out())

    async def text(self, session: Session) -> SummaryText:
        """Return a summary of what was said behind the last one; raises StoreError."""
        is_left_out = await self._left_out()
        found = session_summary(session, after=session.summed_up, is_left_out=is_left_out)
        if not self.prose.has_model:
            return SummaryText(found.titled(session.id))
        turns = [turn for turn in session.turns if turn.seq > session.summed_up][-_MOST_FACTS:]
        written = await self._written(list(_facts(turns, is_left_out)), is_left_out)
        return written or SummaryText(found.titled(session.id), remark=WITHOUT_MODEL)

    async def _written(self, facts: Sequence[CitedFact], is_left_out: Callable[[str], bool]) -> SummaryText | None:
        try:
            prose = await self.prose.summary(facts)
        except (TextModelUnavailable, StoreError) as exc:
            log.info("a summary is made without the text model", reason=str(exc))
            return None
        if prose is None:
            return None
        text = " ".join(one.text for one in prose.sentences if not is_left_out(one.text))
        return SummaryText(text, prose.model) if 0 < len(text) <= PROSE_CHARS else None

    async def _left_out(self) -> Callable[[str], bool]:
        tombstones = await self.tombstones.all()
        stated = {_said(memory.line.text) for memory in (await self.book.now()).memories.values()}

        def is_left_out(sentence: str) -> bool:
            if found_identifier(sentence, [0]) is not None or _said(sentence) in stated:
                return True
            return tombstones.hold("", sentence)

        return is_left_out


def _facts(turns: Sequence[Turn], is_left_out: Callable[[str], bool]) -> Iterator[CitedFact]:
    for turn in turns:
        said = [_without(text, is_left_out) for text in (turn.question, turn.answer or "")]
        if any(said):
            yield CitedFact(f"{turn.seq:08x}", " — ".join(filter(None, said)))


def _without(text: str, is_left_out: Callable[[str], bool]) -> str:
    return " ".join(sentence for sentence in sentences_of(text) if not is_left_out(sentence))


def _said(text: str) -> str:
    return " ".join((gist(text) or text).split()).casefold().rstrip(".!。！ ")
