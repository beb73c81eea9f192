"""Find the turn that a message takes up again, by words, near hashes and topics, without reading a session.

score = 0.5 · words + 0.3 · nearness + 0.2 · topics, each 0 to 1: the share of the message's keywords that stand in the
turn or in those of its run, 1 − distance/24 for hashes at most 12 bits apart, and the share of its topics, of which a
part that is shared counts half. A word weighs the more the rarer it is here, `ln(1 + N/df)`, and in its language.
"""

import math
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoryd.domain.sessions.keywords import Commonness, never_common, rarity
from memoryd.domain.sessions.runs import RUN, BestRun, best_run
from memoryd.domain.sessions.simhash import NEAR, distance, hash_value
from memoryd.domain.sessions.turns import Extra, Session, SessionId, Turn

_WORDS, _NEARNESS, _TOPICS = 0.5, 0.3, 0.2
MAX_MATCHES: Final = 10
_FEWEST_WORDS: Final = 2
"""So many rare words a message is taken to have: what is vague has little in common with anything."""
_LOOKED_AT: Final = 400
_SESSIONS: Final = 40
"""Of so many sessions, those with the best turns, all runs are looked at."""
_NOTHING: Final[Extra] = {}
"""One for all turns."""
_ONES: Final = np.array([number.bit_count() for number in range(256)], np.uint8)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MessageKeys:
    """What a message is looked up by."""

    tokens: tuple[str, ...] = ()
    question_hash: str = ""
    topics: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.tokens and not self.topics


@dataclass(frozen=True, slots=True)
class TurnMatch:
    """The best turn of a session for a message, and why.

    `score` is that of its run, 0 to 1; `words` are those that the run and the message share. `bits` is None if the
    hashes are not near.
    """

    session: SessionId
    seq: int
    score: float
    said_at: datetime
    last_seq: int
    """Of the run around the turn."""
    words: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class _Scores:
    """Of each place: what it has in common with a message `alone`, and what of that is not of words."""

    rest: FloatArray
    alone: FloatArray


def without_text(session: Session) -> Session:
    """Return a session with what its turns are looked up by, and nothing of what was said but keywords."""
    turns = (
        replace(
            turn,
            question="",
            answer=None,
            tokens=tuple(map(sys.intern, turn.tokens)),
            topics=tuple(map(sys.intern, turn.topics)),
            extra=_NOTHING,
        )
        for turn in session.turns
    )
    return replace(session, turns=tuple(turns), extra=_NOTHING)


class IndexedTurns:
    """The turns of one agent, to be looked up; about 700 bytes for a turn without its text."""

    def __init__(self, commonness: Commonness = never_common) -> None:
        self._commonness = commonness
        self._turns: dict[SessionId, tuple[Turn, ...]] = {}
        self._places: list[SessionId | None] = []
        """Whose turn it is. One that was taken out leaves its place empty, until half of them are."""
        self._at: dict[SessionId, list[int]] = {}
        self._hashes = array("Q")
        self._by_word: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._by_topic: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def put(self, session: Session) -> None:
        """Take the turns of a session as they are now; what was only added costs what was added."""
        known = self._turns.get(session.id, ())
        if session.turns[: len(known)] != known:
            self.drop(session.id)
            known = ()
        for turn in session.turns[len(known) :]:
            self._add(session.id, turn)
        self._turns[session.id] = session.turns

    def drop(self, session: SessionId) -> None:
        """Forget the turns of a session."""
        if not self._turns.pop(session, ()):
            return
        for at in self._at.pop(session):
            self._places[at] = None
        if len(self._places) > 2 * len(self):
            self._rebuild()

    def matches(
        self, keys: MessageKeys, *, run: int = RUN, limit: int = MAX_MATCHES, always: SessionId | None = None
    ) -> list[TurnMatch]:
        """Return the best turn of each session that has anything in common with a message, the best `limit` first.

        `run` is how many turns stand together. Of equal ones the turn that was said last comes first. That of the
        session `always` is never left out.
        """
        if keys.is_empty or not self._places:
            return []
        worth = self._worth(keys.tokens)
        scores = self._scores(keys, worth)
        names = self._likely(scores.alone)
        if always in self._at and always not in names and scores.alone[self._at[always]].any():
            names.append(always)
        runs = [(name, self._run(name, worth, scores, run)) for name in names]
        runs.sort(key=lambda one: (one[1].score, self._turns[one[0]][one[1].at].timestamp), reverse=True)
        wanted = [one for at, one in enumerate(runs) if at < limit or one[0] == always]
        return [_told(keys, name, self._turns[name], best) for name, best in wanted]

    def _likely(self, alone: FloatArray) -> list[SessionId]:
        """Return the sessions with the best turns, of equal ones those that were taken in last."""
        names: dict[SessionId, None] = {}
        for at in _best_places(alone):
            if (place := self._places[at]) and len(names) < _SESSIONS:
                names[place] = None
        return list(names)

    def _worth(self, tokens: Iterable[str]) -> dict[str, float]:
        """Return what each word of a message that anybody said counts: one alone is half of the words at most."""
        weights = {word: self._weight(word) for word in tokens}
        rarest = math.log(1 + len(self._places) / 2)
        whole = max(sum(weights.values()), _FEWEST_WORDS * rarest)
        return {word: _WORDS * weight / whole for word, weight in weights.items() if word in self._by_word}

    def _scores(self, keys: MessageKeys, worth: Mapping[str, float]) -> _Scores:
        rest = np.zeros(len(self._places))
        self._add_nearness(rest, keys.question_hash)
        parts = _parts(keys.topics)
        for part in parts:
            if part in self._by_topic:
                rest[np.array(self._by_topic[part])] += _TOPICS / len(parts)
        alone = rest.copy()
        for word, share in worth.items():
            alone[np.array(self._by_word[word])] += share
        return _Scores(rest, alone)

    def _run(self, session: SessionId, worth: Mapping[str, float], scores: _Scores, run: int) -> BestRun:
        at = self._at[session]
        return best_run([turn.tokens for turn in self._turns[session]], worth, scores.rest[at], scores.alone[at], run)

    def _add_nearness(self, scores: FloatArray, question_hash: str) -> None:
        if (value := hash_value(question_hash)) is None:
            return
        apart = np.array(self._hashes) ^ np.uint64(value)
        bits = _ONES[apart.view(np.uint8)].reshape(-1, 8).sum(1)
        near = bits <= NEAR
        scores[near] += _NEARNESS * (1 - bits[near] / (2 * NEAR))

    def _weight(self, word: str) -> float:
        """Return how much a word tells: the rarer it is here and in its language, the more."""
        rare_here = math.log(1 + len(self._places) / (1 + len(self._by_word.get(word, ()))))
        return rare_here * rarity(self._commonness(word))

    def _add(self, session: SessionId, turn: Turn) -> None:
        at = len(self._places)
        self._places.append(session)
        self._at.setdefault(session, []).append(at)
        # the hash of another program, or none, is far from all that are likely
        self._hashes.append(hash_value(turn.question_hash) or 0)
        for word in set(turn.tokens):
            self._by_word[word].append(at)
        for part in _parts(turn.topics):
            self._by_topic[part].append(at)

    def _rebuild(self) -> None:
        self._places = []
        self._at.clear()
        self._hashes = array("Q")
        self._by_word.clear()
        self._by_topic.clear()
        for session, turns in self._turns.items():
            for turn in turns:
                self._add(session, turn)


def _best_places(scores: FloatArray) -> list[int]:
    """Return the places with the highest scores, the best and of these the latest first, none without any."""
    places = np.flatnonzero(scores)
    if len(places) > _LOOKED_AT:
        places = places[np.argpartition(scores[places], -_LOOKED_AT)[-_LOOKED_AT:]]
    return [int(at) for at in places[np.lexsort((places, scores[places]))][::-1]]


def _parts(topics: Iterable[str]) -> frozenset[str]:
    """Return topics with their parts: `memory_design` has half in common with `memory_config`."""
    return frozenset(part for topic in topics for part in (topic, *topic.split("_")))


def _told(keys: MessageKeys, session: SessionId, turns: Sequence[Turn], best: BestRun) -> TurnMatch:
    turn, run = turns[best.at], turns[best.first : best.last + 1]
    bits = distance(keys.question_hash, turn.question_hash) if keys.question_hash else NEAR + 1
    shared = _parts(keys.topics) & _parts(turn.topics)
    said = {word for one in run for word in one.tokens}
    return TurnMatch(
        session=session,
        seq=turn.seq,
        score=min(best.score, 1.0),
        said_at=turn.timestamp,
        last_seq=run[-1].seq,
        words=tuple(word for word in dict.fromkeys(keys.tokens) if word in said),
        topics=tuple(topic for topic in turn.topics if not shared.isdisjoint(_parts([topic]))),
        bits=bits if bits <= NEAR else None,
    )
