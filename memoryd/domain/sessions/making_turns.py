"""Make a turn of a question and its answer: secrets out, keywords, hash, topics, and whether the answer is kept.

A message may repeat a turn or add to its answer. Words that are forgotten become `[forgotten]`, and the turn keeps its
number.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.sequences import MessageKeys
from memoryd.domain.sessions.significance import significance_parts, without_formulas
from memoryd.domain.sessions.topics import Commonness, all_words, keywords, never_common, simhash, takes_up, topics
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.wire import ANSWER_CHARS_MAX

_ANSWER_WORDS = 64
"""Keywords of an answer that are held against others."""
_LATEST = 40
"""So many turns of the session are what an answer is compared with."""
_TOPICS, _TOPIC_CHARS = 8, 64
_MIN = 0.01
"""The significance of an answer with words of its own, however generic: 0 is that of a turn nobody has answered."""
_COMPARED = 8 * _LATEST
"""Answers whose keywords are remembered: those of a session are asked for with each of its turns."""


class RawTurn(Struct, frozen=True):
    """What was said, as it came; what a caller knows better than the rules stands in the rest."""

    question: str
    answer: str | None
    timestamp: datetime
    significance: float | None = None
    topics: Sequence[str] | None = None


class MadeTurn(Struct, frozen=True):
    """A turn to be stored, and the answer that is not kept with it, redacted: it is held for a while elsewhere."""

    turn: Turn
    dropped_answer: str | None


def message_keys(message: str, commonness: Commonness = never_common) -> MessageKeys:
    """Return what a message is looked up by: the same as would be stored of it."""
    words = keywords(message, commonness)
    return MessageKeys(words, simhash(words, message), topics(message, None, words), takes_up(message, words))


@lru_cache(_COMPARED)
def answer_words(answer: str, commonness: Commonness = never_common) -> tuple[str, ...]:
    """Return the keywords of an answer that it is compared by."""
    return keywords(without_formulas(answer), commonness, limit=_ANSWER_WORDS)


def made_turn(
    raw: RawTurn,
    session: Session,
    *,
    answer_retention: AnswerRetention,
    commonness: Commonness = never_common,
) -> MadeTurn:
    """Return the next turn of a session, whose answer is compared with those of its last 40."""
    question, answer = harmless_text(raw.question), harmless_text(raw.answer) if raw.answer else None
    words = keywords(question, commonness)
    tags = topics(question, answer, words) if raw.topics is None else _clean_topics(raw.topics)
    significance = 0.0 if raw.significance is None else min(max(raw.significance, 0.0), 1.0)
    if answer and raw.significance is None:
        latest, words_of_answer = session.turns[-_LATEST:], answer_words(answer, commonness)
        parts = significance_parts(
            question,
            answer,
            answer_words=words_of_answer,
            stored=[answer_words(turn.answer, commonness) for turn in latest if turn.answer],
            topics=tags,
            earlier_topics={topic for turn in latest for topic in turn.topics},
        )
        significance = max(parts.significance, _MIN if words_of_answer else 0.0)
    is_kept = answer is not None and answer_retention.is_kept(significance, tags)
    turn = Turn(
        seq=session.last_seq + 1,
        question=question,
        timestamp=raw.timestamp,
        answer=answer if is_kept else None,
        significance=significance,
        tokens=words or all_words(question),
        question_hash=simhash(words, question),
        topics=tags,
    )
    return MadeTurn(turn, None if is_kept else answer)


def _clean_topics(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of a caller as tags are: short, few, without spaces."""
    clean = ("_".join(harmless_text(tag).split())[:_TOPIC_CHARS] for tag in tags)
    return tuple(dict.fromkeys(filter(None, clean)))[:_TOPICS]


def turns_with(session: Session, said: TextMatcher) -> list[int]:
    """Return the numbers of the turns in which the words stand: in question, answer or topics."""
    return [turn.seq for turn in session.turns if _holds(turn, said)]


def without_words(session: Session, said: TextMatcher, commonness: Commonness = never_common) -> Session | None:
    """Return the session without the words; None if they do not stand in it."""
    if not turns_with(session, said):
        return None
    turns = (_without(turn, said, commonness) if _holds(turn, said) else turn for turn in session.turns)
    return replace(session, turns=tuple(turns))


def _holds(turn: Turn, said: TextMatcher) -> bool:
    # a topic has its words joined
    texts = (turn.question, turn.answer or "", *(topic.replace("_", " ") for topic in turn.topics))
    return any(map(said.occurs_in, texts))


def _without(turn: Turn, said: TextMatcher, commonness: Commonness) -> Turn:
    question = said.cut_from(turn.question)
    answer = None if turn.answer is None else said.cut_from(turn.answer)
    if question == turn.question:
        # topics are made of the answer, too
        return replace(turn, answer=answer, topics=())
    # what a question is looked up by is made of its words
    words = keywords(question, commonness)
    return replace(
        turn, question=question, answer=answer, tokens=words, question_hash=simhash(words, question), topics=()
    )


RETRY = timedelta(minutes=10)
"""So long the same words may be the same message, sent again, while nobody has answered."""
_LOOKED_AT = 50
"""So many turns back a message that says when it was said may have been sent before."""
_BETWEEN = "\n\n"


def repeated_turn(session: Session, question: str, at: datetime, *, is_timed: bool) -> Turn | None:
    """Return the turn of a session that holds this message already, None if it is new.

    One that says when it was said is the same at the same second; any other as long as it is the last one, without an
    answer, and young. `question` is as it would be stored.
    """
    for turn in reversed(session.turns[-_LOOKED_AT:]):
        if is_timed and turn.question == question and abs(turn.timestamp - at) < timedelta(seconds=1):
            return turn
    last = session.turns[-1] if session.turns else None
    if is_timed or last is None or last.question != question or last.is_answered:
        return None
    return last if abs(at - last.timestamp) < RETRY else None


def joined_answer(before: str, more: str) -> str | None:
    """Return an answer that was said in parts as one, None if its end says that already; the beginning is kept."""
    if before == more or before.endswith(f"{_BETWEEN}{more}"):
        return None
    return f"{before}{_BETWEEN}{more}"[:ANSWER_CHARS_MAX] if before else more
