"""Make a turn of a question and its answer: secrets out, keywords, hash, topics, and whether the answer is kept.

A message may repeat a turn or add to its answer. Words that are forgotten become `[forgotten]`, and the turn keeps its
number.

Turns are taken from growing transcripts, too. New conversations come first; after four of them one that was begun goes
a step on. A turn is what the user says, with all that the assistant says before the user goes on; several messages of
the assistant are one answer. A question waits until the user says something else, or until a time of silence; what the
assistant says before the first question belongs to no turn. How far the turns were taken is kept in the session
itself, so that one write stores both and each turn is taken once.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, SessionId, Speaker
from memoryd.domain.expressions import expression
from memoryd.domain.memories.changes.tombstones import TextMatcher
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.names import MAX_BYTES, safe_id
from memoryd.domain.sessions.sequences import MessageKeys
from memoryd.domain.sessions.significance import significance_parts, without_formulas
from memoryd.domain.sessions.topics import Commonness, all_words, keywords, never_common, simhash, takes_up, topics
from memoryd.domain.sessions.transcripts.reading import START, SpokenLine, Tail, read_tail, written_tail
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


_FRESH = 4
"""After so many steps of conversations that nobody has begun to read comes one of those that were begun."""


class ReadingOrder:
    """Those that nobody has begun to read, as urgent as they stand, and those that were `begun`, by turns."""

    def __init__(self, fresh: Iterable[RelativePath]) -> None:
        self.fresh = deque(fresh)
        self.begun = deque[RelativePath]()
        self._in_a_row = 0

    @property
    def is_empty(self) -> bool:
        """Whether all has been read."""
        return not self.fresh and not self.begun

    def next(self) -> RelativePath | None:
        """Take the one that is read next; None if there is none. Who reads it puts it among those begun, or not."""
        if self.fresh and (self._in_a_row < _FRESH or not self.begun):
            self._in_a_row += 1
            return self.fresh.popleft()
        self._in_a_row = 0
        return self.begun.popleft() if self.begun else None


class Renaming:
    """Conversations that are gone, each until what was new when that was seen is read: it may be the same, renamed."""

    def __init__(self) -> None:
        self._awaited: dict[RelativePath, frozenset[RelativePath]] = {}

    def note(self, gone: Iterable[RelativePath], fresh: Iterable[RelativePath]) -> None:
        """Note those that are gone now, and what nobody has begun to read."""
        awaited = frozenset(fresh)
        self._awaited = {path: self._awaited.get(path, awaited) for path in gone}

    def settled(self, unread: Collection[RelativePath]) -> Sequence[RelativePath]:
        """Return those that are gone for good, where of these conversations more is to be read."""
        return [path for path, awaited in self._awaited.items() if awaited.isdisjoint(unread)]


PLACE = "transcript"
"""The key of a session that has the place."""
_DIGEST = 8
_NAME = expression(rf"transcript-.+-[0-9a-f]{{{_DIGEST}}}", re.DOTALL)


class TranscriptPlace(Struct, frozen=True):
    """Turns asked on a line up to `line` are taken for good; reading goes on behind `tail`, which is not later."""

    file: str
    """The name of the transcript, as replies give it."""
    tail: Tail = START
    seen: Tail = START
    """How far it was read, to see whether the transcript still says what was taken."""
    line: int = 0
    open_seq: int = 0
    """The turn of the first question behind `line`, which was taken before it ended, and is replaced; 0: none was."""
    is_again: bool = False
    """Whether the transcript was rewritten since its first turn was taken: what is found may be there already."""


def place_of(session: Session) -> TranscriptPlace | None:
    """Return how far the transcript of a session was taken, None if it is of none; the start where that is damaged."""
    told = session.extra.get(PLACE)
    if told is None:
        return None
    file = told.get("file") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(file, str):
        return TranscriptPlace("", is_again=True)
    line, open_seq = told.get("line"), told.get("open", 0)
    if type(line) is not int or type(open_seq) is not int or not line >= 0 <= open_seq:
        return TranscriptPlace(file, is_again=True)
    tail, seen = (read_tail(str(told.get(key))) for key in ("tail", "seen"))
    return TranscriptPlace(file, tail, seen, line, open_seq, told.get("again") is True)


def saved_place(place: TranscriptPlace) -> Mapping[str, object]:
    """Return what a session keeps of a place."""
    return {
        "file": place.file,
        "line": place.line,
        **({"open": place.open_seq} if place.open_seq else {}),
        **({"again": True} if place.is_again else {}),
        "tail": written_tail(place.tail),
        "seen": written_tail(place.seen),
    }


def transcript_session(agent: str, file: str) -> SessionId:
    """Return the name of the session of a transcript, always the same, of one agent: `transcript-<name>-<hash>`."""
    stem = file.removesuffix(".jsonl")
    digest = sha256(f"{agent}\0{file}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    name = safe_id(f"transcript-{stem}").encode()[: MAX_BYTES - _DIGEST - 1].decode("utf-8", "ignore")
    return safe_id(f"{name.rstrip('-_')}-{digest}")


def is_transcript_session(name: SessionId) -> bool:
    """Tell whether a session of a transcript, of whichever agent, may be named so: it is kept free for that."""
    return _NAME.fullmatch(name) is not None


def transcript_key(file: str) -> str:
    """Return what such a session has for a session key."""
    return f"{PLACE}:{file}"


QUESTION_CHARS = 20_000
ANSWER_CHARS = 100_000
"""As much as a program may report of a turn."""


class FoundTurn(Struct, frozen=True):
    """A turn as far as it was said: the number of the question's line, and when it was asked."""

    line: int
    question: str
    at: datetime
    is_timed: bool
    """Whether the transcript says when; else it is when something was said before, or the file was written."""
    answer: str = ""

    @property
    def chars(self) -> int:
        return len(self.question) + len(self.answer)

    @property
    def raw(self) -> RawTurn:
        """The turn as it is to be made of it."""
        return RawTurn(self.question, self.answer or None, self.at)


class Listening(Struct, frozen=True):
    """What a reader of a transcript has in mind: the turn that goes on, and when something was said last."""

    turn: FoundTurn | None = None
    heard_at: datetime | None = None


def heard(listening: Listening, lines: Iterable[SpokenLine], fallback: datetime) -> tuple[list[FoundTurn], Listening]:
    """Return the turns that end within these lines, and what is in mind behind them.

    `fallback` is when something was said where no message tells so.
    """
    ended: list[FoundTurn] = []
    for line in lines:
        said, turn = line.utterance, listening.turn
        at = said.time or listening.heard_at or fallback
        if said.speaker is Speaker.USER:
            ended += [turn] if turn else []
            turn = FoundTurn(line.number, said.text[:QUESTION_CHARS], at, said.time is not None)
        elif turn is not None:
            turn = replace(turn, answer=f"{turn.answer} {said.text}".strip()[:ANSWER_CHARS])
        listening = Listening(turn, at)
    return ended, listening


class TakenTurns(Struct, frozen=True):
    """A session with turns of its transcript, and those of them whose answer is not kept."""

    session: Session
    place: TranscriptPlace
    made: tuple[MadeTurn, ...] = ()


def with_turns(
    session: Session,
    found: Sequence[FoundTurn],
    place: TranscriptPlace,
    answer_retention: AnswerRetention,
    commonness: Commonness,
    *,
    open_seq: int = 0,
    goes_on: bool = False,
) -> TakenTurns:
    """Return the session with these turns and the place; the first replaces the turn `open_seq`, if that is the last.

    With `goes_on` the last of them may get more of its answer, and the place says so. A turn that is there already,
    asked at the same time in the same words, is left out: programs that compact a transcript write turns again.
    """
    made: list[MadeTurn] = []
    known = {(turn.timestamp, turn.question) for turn in session.turns}
    last = 0
    for number, turn in enumerate(found):
        replaced = None
        if number == 0 and open_seq and session.last_seq == open_seq:
            replaced, session = session.turns[-1], replace(session, turns=session.turns[:-1])
        one = made_turn(turn.raw, session, answer_retention=answer_retention, commonness=commonness)
        is_known = (turn.is_timed or place.is_again) and (one.turn.timestamp, one.turn.question) in known
        if replaced is None and is_known:
            last = 0
            continue
        if replaced is not None and replaced.answer is not None:
            # an answer that somebody marked stays, if there would be none, and so does the mark
            answer = replaced.answer if one.turn.answer is None else one.turn.answer
            dropped = None if one.turn.answer is None else one.dropped_answer
            one = MadeTurn(replace(one.turn, is_marked=replaced.is_marked, answer=answer), dropped)
        known.add((one.turn.timestamp, one.turn.question))
        session = replace(session, turns=(*session.turns, one.turn))
        made.append(one)
        last = one.turn.seq
    place = replace(place, open_seq=last if goes_on else 0)
    return TakenTurns(replace(session, extra={**session.extra, PLACE: saved_place(place)}), place, tuple(made))
