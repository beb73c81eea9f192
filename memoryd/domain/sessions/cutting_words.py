"""Take words out of the turns of a session: `[forgotten]` stands where they stood, and the turn keeps its number."""

from dataclasses import replace

from memoryd.domain.memories.said_words import SaidWords
from memoryd.domain.sessions.keywords import Commonness, keywords, never_common
from memoryd.domain.sessions.simhash import simhash
from memoryd.domain.sessions.turns import Session, Turn


def turns_with(session: Session, said: SaidWords) -> list[int]:
    """Return the numbers of the turns in which the words stand, in question or answer."""
    return [turn.seq for turn in session.turns if _holds(turn, said)]


def without_words(session: Session, said: SaidWords, commonness: Commonness = never_common) -> Session | None:
    """Return the session without the words; None if they do not stand in it."""
    if not turns_with(session, said):
        return None
    turns = (_without(turn, said, commonness) if _holds(turn, said) else turn for turn in session.turns)
    return replace(session, turns=tuple(turns))


def _holds(turn: Turn, said: SaidWords) -> bool:
    return said.stand_in(turn.question) or (turn.answer is not None and said.stand_in(turn.answer))


def _without(turn: Turn, said: SaidWords, commonness: Commonness) -> Turn:
    question = said.cut_from(turn.question)
    answer = None if turn.answer is None else said.cut_from(turn.answer)
    if question == turn.question:
        return replace(turn, answer=answer)
    # what a question is looked up by is made of its words
    words = keywords(question, commonness)
    return replace(
        turn, question=question, answer=answer, tokens=words, question_hash=simhash(words, question), topics=()
    )
