"""Make a turn of what was said: secrets out, then keywords, hash, topics, and whether the answer is kept."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from memoryd.domain.sessions.harmless_text import harmless_text
from memoryd.domain.sessions.indexed_turns import MessageKeys
from memoryd.domain.sessions.keeping import Keeping
from memoryd.domain.sessions.keywords import Commonness, keywords, never_common
from memoryd.domain.sessions.significance import significance_parts, without_formulas
from memoryd.domain.sessions.simhash import simhash
from memoryd.domain.sessions.topics import topics
from memoryd.domain.sessions.turns import Session, Turn

_ANSWER_WORDS: Final = 64
"""Keywords of an answer that are held against others."""
_LATEST: Final = 40
"""So many turns of the session are what an answer is compared with, where the caller has no others."""
_TOPICS, _TOPIC_CHARS = 8, 64
_COMPARED: Final = 8 * _LATEST
"""Answers whose keywords are remembered: those of a session are asked for with each of its turns."""


@dataclass(frozen=True, slots=True)
class RawTurn:
    """What was said, as it came; what a caller knows better than the rules stands in the rest."""

    question: str
    answer: str | None
    timestamp: datetime
    significance: float | None = None
    topics: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A turn to be stored, and the answer that is not kept with it, redacted: it is held for a while elsewhere."""

    turn: Turn
    dropped_answer: str | None


def message_keys(message: str, commonness: Commonness = never_common) -> MessageKeys:
    """Return what a message is looked up by: the same as would be stored of it."""
    words = keywords(message, commonness)
    return MessageKeys(words, simhash(words, message), topics(message, None, words))


@lru_cache(_COMPARED)
def answer_words(answer: str, commonness: Commonness = never_common) -> tuple[str, ...]:
    """Return the keywords of an answer that it is compared by."""
    return keywords(without_formulas(answer), commonness, limit=_ANSWER_WORDS)


def made_turn(
    raw: RawTurn,
    session: Session,
    *,
    keeping: Keeping,
    commonness: Commonness = never_common,
    stored: Sequence[Collection[str]] | None = None,
) -> MadeTurn:
    """Return the next turn of a session.

    `stored` are the keywords of kept answers, as `answer_words` gives them; None compares with the session's last 40.
    """
    question, answer = harmless_text(raw.question), harmless_text(raw.answer) if raw.answer else None
    words = keywords(question, commonness)
    tags = topics(question, answer, words) if raw.topics is None else _clean_topics(raw.topics)
    significance = 0.0 if raw.significance is None else min(max(raw.significance, 0.0), 1.0)
    if answer and raw.significance is None:
        significance = _significance(question, answer, tags, session, words, commonness, stored)
    is_kept = answer is not None and keeping.is_kept(significance, tags)
    turn = Turn(
        seq=session.last_seq + 1,
        question=question,
        timestamp=raw.timestamp,
        answer=answer if is_kept else None,
        significance=significance,
        tokens=words,
        question_hash=simhash(words, question),
        topics=tags,
    )
    return MadeTurn(turn, None if is_kept else answer)


def _significance(
    question: str,
    answer: str,
    tags: Collection[str],
    session: Session,
    words: Collection[str],
    commonness: Commonness,
    stored: Sequence[Collection[str]] | None,
) -> float:
    latest = session.turns[-_LATEST:]
    if stored is None:
        stored = [answer_words(turn.answer, commonness) for turn in latest if turn.answer]
    return significance_parts(
        question,
        answer,
        answer_words=answer_words(answer, commonness),
        question_words=words,
        stored=stored,
        topics=tags,
        earlier_topics={topic for turn in latest for topic in turn.topics},
    ).significance


def _clean_topics(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of a caller as tags are: short, few, without spaces."""
    clean = ("_".join(harmless_text(tag).split())[:_TOPIC_CHARS] for tag in tags)
    return tuple(dict.fromkeys(filter(None, clean)))[:_TOPICS]
