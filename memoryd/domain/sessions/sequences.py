"""Choose which turns to show to an agent for a message, and say why: a run of neighbours, never single answers.

These are the last N turns of the current session, or N around a turn that matches clearly. If another session matches
the message better, they are its N turns around the match. Without a message they are the last N. Another session must
win by a margin, so that "and that one?" stays in the current session; the margin is wider for a message that refers to
what was said last.

Turns are matched by words, near hashes, topics and, if there are vectors, meaning. No session file is read. A run of
neighbours is scored as one, since the subject of a message is seldom in a single turn:

score = 0.5 · words + 0.3 · nearness + 0.2 · topics + 0.4 · meaning, each 0 to 1, and 1 at most.
words: the weighted share of the message's keywords that are in the run; nearness: 1 − distance/24 for hashes at most
12 bits apart; topics: the share of the message's topics, where a shared part of a topic counts half; meaning: how far
the cosine is above the noise. The weight of a word grows with its rarity here, `ln(1 + N/df)`, and in its language.
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import TURNS
from memoryd.domain.sessions.topics import NEAR, Commonness, distance, hash_value, never_common, rarity
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.text.tokens import estimate


class MessageKeys(Struct, frozen=True):
    """The search keys of a message."""

    tokens: tuple[str, ...] = ()
    question_hash: str = ""
    topics: tuple[str, ...] = ()
    takes_up: bool = False
    """The message refers to what was said last, so that another session must match it clearly to be chosen."""

    @property
    def is_empty(self) -> bool:
        return not self.tokens and not self.topics


class TurnMatch(Struct, frozen=True):
    """The best turn of a session for a message, and why.

    `score` is the score of its run, 0 to 1; `words` are shared by the run and the message. `bits` is the distance of
    the hashes, None if they are not near.
    """

    session: SessionId
    seq: int
    score: float
    last_seq: int
    """Last turn of the run."""
    words: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    bits: int | None = None
    nearness: float = 0.0
    """Similarity of meaning, 0 to 1."""


SimilarTurns = Mapping[SessionId, Mapping[int, float]]
"""Similarity of meaning to a message by session and turn number: 0 to 1 above the noise. Other turns have none."""

BUDGET = 1200
"""Default size of a sequence in tokens."""
MIN_SCORE = 0.15
"""A match with a lower score shares only one word of many."""
MARGIN, CLEAR_MARGIN = 0.1, 0.3
"""How much better another session must match than the current one. The clear margin applies if the message refers to
what was said last, or if only the current session shares words with it.
"""


class Chosen(StrEnum):
    """Why a sequence was chosen."""

    NO_MESSAGE = "no message"
    CURRENT_MATCHES = "current session matches"
    NOTHING_MATCHES = "nothing matches"
    OTHER_MATCHES = "another session matches"
    NOTHING_KNOWN = "nothing known"


class SequenceChoice(Struct, frozen=True):
    """The chosen session, or None, its last turn to show (None for the end of the session), and the reason."""

    session: SessionId | None
    last_seq: int | None
    why: Chosen
    match: TurnMatch | None = None

    @property
    def sentence(self) -> str:
        """The reason, as text for a person."""
        reason = (
            f"turn {self.match.seq} matches ({_common(self.match)})" if self.match else "nothing matches the message"
        )
        match self.why:
            case Chosen.NO_MESSAGE:
                return f"the last turns of {self.session}: there is no message to look for"
            case Chosen.CURRENT_MATCHES if self.match and self.last_seq is not None:
                around = f"around turn {self.match.seq}, which matches ({_common(self.match)})"
                return f"the turns of the current session, {self.session}, {around}"
            case Chosen.CURRENT_MATCHES | Chosen.NOTHING_MATCHES:
                return f"the last turns of the current session, {self.session}: {reason}"
            case Chosen.OTHER_MATCHES:
                extent = "up to the match" if self.match and self.match.seq == self.last_seq else "with the match"
                return f"the turns of {self.session} {extent}: {reason}"
            case Chosen.NOTHING_KNOWN:
                return "no session is known, and nothing matches the message"


def choose(keys: MessageKeys | None, current: SessionId | None, matches: Sequence[TurnMatch]) -> SequenceChoice:
    """Choose the session and the turns for a message.

    `keys` is None without a message; `matches` come from `IndexedTurns.matches`, best first.
    """
    if keys is None:
        return SequenceChoice(current, None, Chosen.NO_MESSAGE if current else Chosen.NOTHING_KNOWN)
    own = next((match for match in matches if match.session == current), None)
    best = next((match for match in matches if match.session != current and match.score >= MIN_SCORE), None)
    if best:
        has_words_here_alone = own is not None and bool(own.words) and not best.words
        margin = CLEAR_MARGIN if keys.takes_up or has_words_here_alone else MARGIN
        if current is None or best.score > margin + (own.score if own else 0.0):
            return SequenceChoice(best.session, best.last_seq, Chosen.OTHER_MATCHES, best)
    if current is None:
        return SequenceChoice(None, None, Chosen.NOTHING_KNOWN)
    if own is None:
        return SequenceChoice(current, None, Chosen.NOTHING_MATCHES)
    is_further_back = own.score >= CLEAR_MARGIN and not keys.takes_up
    return SequenceChoice(current, own.last_seq if is_further_back else None, Chosen.CURRENT_MATCHES, own)


def sequence(
    session: Session,
    *,
    last_seq: int | None = None,
    match: int | None = None,
    turns: int = TURNS,
    budget: int = BUDGET,
) -> tuple[Turn, ...]:
    """Return the last `turns` turns of a session up to `last_seq`, in order, with their kept answers.

    At most `budget` tokens: turns are added by their distance from turn `match`, by default the newest. An answer that
    does not fit is dropped, its question stays. The question of the first turn added is always included.
    """
    ordered = session.in_order
    end = next((at for at, turn in enumerate(ordered, 1) if turn.seq == last_seq), len(ordered))
    reached = ordered[max(0, end - turns) : end]
    wanted = next((at for at, turn in enumerate(reached) if turn.seq == match), len(reached) - 1)
    chosen: dict[int, Turn] = {}
    left = budget
    # of two equally near turns the earlier first: it led to the match
    for at in sorted(range(len(reached)), key=lambda at: (abs(at - wanted), at)):
        turn = reached[at]
        question_tokens = estimate(turn.question)
        tokens = question_tokens + estimate(turn.answer or "")
        if tokens > left and (question_tokens <= left or not chosen):
            turn, tokens = replace(turn, answer=None), question_tokens
        if tokens > left and chosen:
            break
        chosen[at] = turn
        left -= tokens
    return tuple(chosen[at] for at in sorted(chosen))


def _common(match: TurnMatch) -> str:
    """Return what a message and a turn have in common, as text for a person."""
    words = [f"“{word}”" for word in match.words[:5]]
    near = [] if match.bits is None else ["the same words" if match.bits == 0 else f"{match.bits} bits apart"]
    meaning = ["its meaning is near"] if match.nearness else []
    return ", ".join([*words, *match.topics, *near, *meaning])


_RUN_TURNS_MAX = 100
"""Most turns of a session, the best, around which runs are scored."""


class BestRun(Struct, frozen=True):
    """The run of a session that has most in common with a message; `at` is the turn it was built around.

    `at`, `first` and `last` are indexes from 0 within the session.
    """

    score: float
    at: int
    first: int
    last: int


def run_around(at: int, count: int, run: int) -> tuple[int, int]:
    """Return the first and the last index of the run around a turn, of `count` turns in all.

    Two fifths of the run come after the turn. If too few turns come before it, more of the later turns fill the run.
    """
    run = max(run, 1)
    last = min(count - 1, max(at + run * 2 // 5, run - 1))
    return max(0, last - run + 1), last


def best_run(
    keywords: Sequence[Collection[str]],
    worth: Mapping[str, float],
    rest: NDArray[np.float64],
    alone: NDArray[np.float64],
    run: int,
) -> BestRun:
    """Return the best run of a session; of equal runs the one around the better turn, then the later.

    `keywords` has the keywords of each turn. `worth` is the weight of each word of the message, which counts once in a
    run. `rest` is the score of each turn without words; the best of a run counts. `alone` is each turn's full score.
    """
    places = np.flatnonzero(alone)
    if len(places) > _RUN_TURNS_MAX:
        places = places[np.argpartition(alone[places], -_RUN_TURNS_MAX)[-_RUN_TURNS_MAX:]]
    best, score = (0.0, 0.0, 0.0, 0), 0.0
    for at in map(int, places):
        first, last = run_around(at, len(keywords), run)
        near = keywords[first : last + 1]
        shared = sum(share for word, share in worth.items() if any(word in words for words in near))
        other = rest[first : last + 1]
        score = max(score, shared + float(other.max()))
        best = max(best, (shared, float(other.sum()), float(alone[at]), at))
    return BestRun(score, best[3], *run_around(best[3], len(keywords), run))


_WORDS, _NEARNESS, _TOPICS, _MEANING = 0.5, 0.3, 0.2, 0.4
_UNANSWERED = 0.6
MAX_MATCHES = 10
_FEWEST_WORDS = 2
"""A message counts as having at least this many rare words, so that a vague message matches nothing well."""
_INDEXED_TURNS_MAX = 400
_SESSIONS = 40
"""The number of sessions with the best turns whose runs are scored."""
NOTHING_SIMILAR: SimilarTurns = {}
_ONES = np.array([number.bit_count() for number in range(256)], np.uint8)

FloatArray = NDArray[np.float64]


class IndexedTurns:
    """A search index of the turns of one agent; about 700 bytes per turn, without its text."""

    def __init__(self, commonness: Commonness = never_common) -> None:
        self._commonness = commonness
        self._turns: dict[SessionId, tuple[Turn, ...]] = {}
        self._places: list[SessionId | None] = []
        """The session of each place. A removed turn leaves its place empty; a rebuild follows when half are empty."""
        self._at: dict[SessionId, list[int]] = {}
        self._hashes = array("Q")
        self._by_word: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._by_topic: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def put(self, session: Session) -> None:
        """Store the current turns of a session.

        Only turns that were added, and an answered last one, are indexed again.
        """
        known, turns = self._turns.get(session.id, ()), session.in_order
        same = len(known)
        if turns[:same] != known:
            if len(turns) >= same and turns[: same - 1] == known[:-1]:
                self._replace(self._at[session.id][-1], known[-1], turns[same - 1])
            else:
                self.drop(session.id)
                self._rebuild()  # its empty places would make its words look common
                same = 0
        for turn in turns[same:]:
            self._add(session.id, turn)
        self._turns[session.id] = turns

    def drop(self, session: SessionId) -> None:
        """Remove the turns of a session."""
        if not self._turns.pop(session, ()):
            return
        for at in self._at.pop(session):
            self._places[at] = None
        if len(self._places) > 2 * len(self):
            self._rebuild()

    def matches(
        self,
        keys: MessageKeys,
        *,
        run: int = TURNS,
        limit: int = MAX_MATCHES,
        always: SessionId | None = None,
        near: SimilarTurns = NOTHING_SIMILAR,
    ) -> list[TurnMatch]:
        """Return the best turn of each session that has anything in common with a message: at most `limit`, best first.

        `run` is the length of a run. A run without any answer has a lower rank. Of equal matches the latest turn comes
        first. A match in the session `always` is returned in any case.
        """
        if keys.is_empty or not self._places:
            return []
        worth = self._worth(keys.tokens)
        rest, alone = self._scores(keys, worth, near)
        names = self._likely(alone)
        if always in self._at and always not in names and alone[self._at[always]].any():
            names.append(always)
        runs = list[tuple[SessionId, BestRun]]()
        for name in names:
            at, words = self._at[name], [turn.tokens for turn in self._turns[name]]
            runs.append((name, best_run(words, worth, rest[at], alone[at], run)))
        runs.sort(key=self._order, reverse=True)
        return [
            _turn_match(keys, name, self._turns[name], best, near.get(name, {}))
            for at, (name, best) in enumerate(runs)
            if at < limit or name == always
        ]

    def _order(self, session_run: tuple[SessionId, BestRun]) -> tuple[float, datetime]:
        name, best = session_run
        turns = self._turns[name]
        is_answered = any(turn.is_answered for turn in turns[best.first : best.last + 1])
        return best.score * (1 if is_answered else _UNANSWERED), turns[best.at].timestamp

    def _likely(self, alone: FloatArray) -> list[SessionId]:
        """Return the sessions with the best turns; of equal turns those added last win."""
        places = np.flatnonzero(alone)
        if len(places) > _INDEXED_TURNS_MAX:
            places = places[np.argpartition(alone[places], -_INDEXED_TURNS_MAX)[-_INDEXED_TURNS_MAX:]]
        best_first = places[np.lexsort((places, alone[places]))][::-1]
        sessions = filter(None, (self._places[at] for at in best_first))
        return list(dict.fromkeys(sessions))[:_SESSIONS]

    def _worth(self, tokens: Iterable[str]) -> dict[str, float]:
        """Return the weight of each indexed word of a message. A single word gets at most half of the words' weight."""
        count = len(self._places)
        weights = {
            word: math.log(1 + count / (1 + len(self._by_word.get(word, ())))) * rarity(self._commonness(word))
            for word in tokens
        }
        total = max(sum(weights.values()), _FEWEST_WORDS * math.log(1 + count / 2))
        return {word: _WORDS * weight / total for word, weight in weights.items() if word in self._by_word}

    def _scores(
        self, keys: MessageKeys, worth: Mapping[str, float], near: SimilarTurns
    ) -> tuple[FloatArray, FloatArray]:
        """Return two scores of each place for a message: one without words, and the full one."""
        rest = np.zeros(len(self._places))
        self._add_nearness(rest, keys.question_hash)
        # a similar turn may be newer than this index, or deleted
        for session in near.keys() & self._at.keys():
            for at, turn in zip(self._at[session], self._turns[session], strict=True):
                rest[at] += _MEANING * near[session].get(turn.seq, 0.0)
        parts = _parts(keys.topics)
        for part in parts:
            if part in self._by_topic:
                rest[np.array(self._by_topic[part])] += _TOPICS / len(parts)
        alone = rest.copy()
        for word, share in worth.items():
            alone[np.array(self._by_word[word])] += share
        return rest, alone

    def _add_nearness(self, scores: FloatArray, question_hash: str) -> None:
        if (value := hash_value(question_hash)) is None:
            return
        apart = np.array(self._hashes) ^ np.uint64(value)
        bits = _ONES[apart.view(np.uint8)].reshape(-1, 8).sum(1)
        near = bits <= NEAR
        scores[near] += _NEARNESS * (1 - bits[near] / (2 * NEAR))

    def _add(self, session: SessionId, turn: Turn) -> None:
        at = len(self._places)
        self._places.append(session)
        self._at.setdefault(session, []).append(at)
        self._hashes.append(0)
        self._learn(at, turn)

    def _learn(self, at: int, turn: Turn) -> None:
        self._hashes[at] = (
            hash_value(turn.question_hash) or 0
        )  # no hash, or one of another program: far from all others
        for word in set(turn.tokens):
            self._by_word[word].append(at)
        for part in _parts(turn.topics):
            self._by_topic[part].append(at)

    def _replace(self, at: int, before: Turn, turn: Turn) -> None:
        for word in set(before.tokens):
            self._by_word[word].remove(at)
        for part in _parts(before.topics):
            self._by_topic[part].remove(at)
        self._learn(at, turn)

    def _rebuild(self) -> None:
        self._places = []
        self._at.clear()
        self._hashes = array("Q")
        self._by_word.clear()
        self._by_topic.clear()
        for session, turns in self._turns.items():
            for turn in turns:
                self._add(session, turn)


def _parts(topics: Iterable[str]) -> frozenset[str]:
    """Return topics and their parts, so that `memory_design` partly matches `memory_config`."""
    return frozenset(part for topic in topics for part in (topic, *topic.split("_")))


def _turn_match(
    keys: MessageKeys, session: SessionId, turns: Sequence[Turn], best: BestRun, near: Mapping[int, float]
) -> TurnMatch:
    turn, run = turns[best.at], turns[best.first : best.last + 1]
    bits = distance(keys.question_hash, turn.question_hash) if keys.question_hash else NEAR + 1
    shared = _parts(keys.topics) & _parts(turn.topics)
    run_words = {word for other in run for word in other.tokens}
    return TurnMatch(
        session=session,
        seq=turn.seq,
        score=min(best.score, 1.0),
        last_seq=run[-1].seq,
        words=tuple(word for word in dict.fromkeys(keys.tokens) if word in run_words),
        topics=tuple(topic for topic in turn.topics if not shared.isdisjoint(_parts([topic]))),
        bits=bits if bits <= NEAR else None,
        nearness=near.get(turn.seq, 0.0),
    )
