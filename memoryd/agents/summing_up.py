"""What may be told of a session, and a summary of it: in the prose of a text model, else of its own sentences."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from memoryd.domain.memories.capture.identifiers import found_identifier
from memoryd.domain.memories.capture.rejections import says_secret
from memoryd.domain.memories.changes.tombstones import as_said
from memoryd.domain.sessions.summary import SessionSummary, sentences_of_turn, session_summary, told_of
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.errors import StoreError, TextModelUnavailable
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.llm import CitedFact, Prose
from memoryd.memory.retaining import StatedLines

log = structlog.get_logger(__name__)

PROSE_CHARS: Final = 800
"""A longer summary of a text model is none."""
WITHOUT_MODEL: Final = "It is made of sentences that were said: the text model gave no summary that can be used."
NOT_SIGNIFICANT: Final = "Nothing of it is significant: only what was asked is kept, shortly."
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

    Left out is what may be a secret or has the number or address of somebody, what a memory says already, and what was
    forgotten or taken back.
    """

    prose: Prose
    book: MemoryBook
    tombstones: TombstoneStore
    stated: StatedLines

    async def extract(self, session: Session) -> SessionSummary:
        """Return what was said behind the last summary, in its own sentences; raises StoreError."""
        return session_summary(session, after=session.summed_up, is_left_out=await self._left_out(_news(session)))

    async def text(self, session: Session) -> SummaryText:
        """Return a summary of what was said behind the last one; raises StoreError."""
        turns = _news(session)
        is_left_out = await self._left_out(turns)
        found = session_summary(session, after=session.summed_up, is_left_out=is_left_out)
        if found.is_short or not self.prose.has_model:
            return SummaryText(found.titled(session.id), remark=NOT_SIGNIFICANT if found.is_short else "")
        written = await self._written(list(_facts(turns[-_MOST_FACTS:], is_left_out)), is_left_out)
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

    async def _left_out(self, turns: Sequence[Turn]) -> Callable[[str], bool]:
        tombstones = await self.tombstones.all()
        standing = {as_said(memory.line.text) for memory in (await self.book.now()).memories.values()}
        # what was stated once and stands no more was taken back
        before = await self.stated.among(sentence for turn in turns for sentence in sentences_of_turn(turn))
        stated = standing | {as_said(sentence) for sentence in before}

        def is_left_out(sentence: str) -> bool:
            if says_secret(sentence) or found_identifier(sentence, [0]) is not None or as_said(sentence) in stated:
                return True
            return tombstones.hold_part_of(sentence)

        return is_left_out


def _news(session: Session) -> list[Turn]:
    return [turn for turn in session.turns if turn.seq > session.summed_up]


def _facts(turns: Sequence[Turn], is_left_out: Callable[[str], bool]) -> Iterator[CitedFact]:
    for turn in turns:
        said = [" ".join(sentences) for sentences in told_of(turn, is_left_out)]
        if any(said):
            yield CitedFact(f"{turn.seq:08x}", " — ".join(filter(None, said)))
