"""Make a turn of a question and its answer: remove secrets, compute keywords, hash and topics, and rate the answer.

A message may repeat a turn or add to its answer. Forgotten words become `[forgotten]`; the turn keeps its number.

Turns are also taken from growing transcripts. New conversations are read first; after four of them, one that was begun
is read one step further. A turn is a message of the user with everything the assistant says before the next message of
the user; several messages of the assistant are one answer. A question is pending until the user's next message or until
a period of silence. Messages of the assistant before the first question belong to no turn. The place up to which turns
were taken is stored in the session itself: one write stores both, so each turn is taken once.
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
from memoryd.domain.sessions.turns import EARLIEST, Session, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.wire import ANSWER_CHARS_MAX

_ANSWER_WORDS = 64
"""Most keywords of an answer that are compared with other answers."""
_LATEST = 40
"""The number of latest turns of the session with which an answer is compared."""
_TOPICS, _TOPIC_CHARS = 8, 64
_MIN = 0.01
"""Lowest significance of an answer with keywords, however generic; 0 means that the turn has no answer."""
_CACHED_ANSWERS = 8 * _LATEST
"""Size of the cache of answer keywords: each new turn needs those of all latest turns of its session."""


class RawTurn(Struct, frozen=True):
    """A question and an answer as received. `significance` and `topics`, if given, replace the computed values."""

    question: str
    answer: str | None
    timestamp: datetime
    significance: float | None = None
    topics: Sequence[str] | None = None


class MadeTurn(Struct, frozen=True):
    """A turn to be stored, and its redacted answer if the turn does not keep it; that answer is stored elsewhere."""

    turn: Turn
    dropped_answer: str | None


def message_keys(message: str, commonness: Commonness = never_common) -> MessageKeys:
    """Return the search keys of a message: the same values as would be stored for it as a turn."""
    words = keywords(message, commonness)
    return MessageKeys(words, simhash(words, message), topics(message, None, words), takes_up(message, words))


@lru_cache(_CACHED_ANSWERS)
def answer_words(answer: str, commonness: Commonness = never_common) -> tuple[str, ...]:
    """Return the keywords by which an answer is compared with others."""
    return keywords(without_formulas(answer), commonness, limit=_ANSWER_WORDS)


def make_turn(
    raw: RawTurn,
    session: Session,
    *,
    answer_retention: AnswerRetention,
    commonness: Commonness = never_common,
) -> MadeTurn:
    """Return the next turn of a session. Its answer is compared with those of the last 40 turns."""
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
    keeps_answer = answer is not None and answer_retention.keeps(significance, tags)
    turn = Turn(
        seq=session.last_seq + 1,
        question=question,
        timestamp=raw.timestamp,
        answer=answer if keeps_answer else None,
        significance=significance,
        tokens=words or all_words(question),
        question_hash=simhash(words, question),
        topics=tags,
    )
    return MadeTurn(turn, None if keeps_answer else answer)


def _clean_topics(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the topics of a caller in our form: no spaces, at most 64 characters each, at most 8."""
    clean = ("_".join(harmless_text(tag).split())[:_TOPIC_CHARS] for tag in tags)
    return tuple(dict.fromkeys(filter(None, clean)))[:_TOPICS]


def turns_with(session: Session, matcher: TextMatcher) -> list[int]:
    """Return the numbers of the turns with a match in question, answer or topics."""
    return [turn.seq for turn in session.turns if _has_match(turn, matcher)]


def without_words(session: Session, matcher: TextMatcher, commonness: Commonness = never_common) -> Session | None:
    """Return the session without the matched words; None if nothing matches."""
    if not turns_with(session, matcher):
        return None
    turns = (_remove_words(turn, matcher, commonness) if _has_match(turn, matcher) else turn for turn in session.turns)
    return replace(session, turns=tuple(turns))


def _has_match(turn: Turn, matcher: TextMatcher) -> bool:
    # a topic joins its words by "_"
    texts = (turn.question, turn.answer or "", *(topic.replace("_", " ") for topic in turn.topics))
    return any(map(matcher.occurs_in, texts))


def _remove_words(turn: Turn, matcher: TextMatcher, commonness: Commonness) -> Turn:
    question = matcher.cut_from(turn.question)
    answer = None if turn.answer is None else matcher.cut_from(turn.answer)
    if question == turn.question:
        # topics may come from the answer
        return replace(turn, answer=answer, topics=())
    # keywords and hash come from the words of the question
    words = keywords(question, commonness)
    return replace(
        turn, question=question, answer=answer, tokens=words, question_hash=simhash(words, question), topics=()
    )


RETRY = timedelta(minutes=10)
"""Time within which the same words are the same message sent again, if the turn has no answer."""
_REPEAT_TURNS = 50
"""The number of latest turns that are checked for a message that was sent before."""
_BETWEEN = "\n\n"


def repeated_turn(
    session: Session, question: str, at: datetime, *, is_timed: bool, started: datetime = EARLIEST
) -> Turn | None:
    """Return the turn of a session that already has this message, None if the message is new.

    A message with a timestamp is the same if it was sent within a second of the turn. A message without a timestamp is
    the same if the turn has no answer, is at most `RETRY` old, and is the last or older than `started`, the start of
    the daemon: a stop may have cut off its reply while other clients went on. `question` is in its stored form.
    """
    within = timedelta(seconds=1) if is_timed else RETRY
    for turn in reversed(session.turns[-_REPEAT_TURNS:]):
        may_lack_reply = turn.seq == session.last_seq or turn.timestamp < started
        may_repeat = is_timed or (may_lack_reply and not turn.is_answered)
        if may_repeat and turn.question == question and abs(turn.timestamp - at) < within:
            return turn
    return None


def join_answer(before: str, more: str) -> str | None:
    """Append a further part to an answer. Return None if the answer has it; a too long answer loses its end."""
    if f"{_BETWEEN}{more}{_BETWEEN}" in f"{_BETWEEN}{before}{_BETWEEN}":
        return None
    return f"{before}{_BETWEEN}{more}"[:ANSWER_CHARS_MAX] if before else more


_FRESH = 4
"""The number of unread conversations in a row after which a partly read conversation is next."""


class ReadingOrder:
    """Two queues of conversations: the unread (`fresh`), most urgent first, and the partly read (`begun`)."""

    def __init__(self, fresh: Iterable[RelativePath]) -> None:
        self.fresh = deque(fresh)
        self.begun = deque[RelativePath]()
        self._in_a_row = 0

    @property
    def is_empty(self) -> bool:
        """Whether all has been read."""
        return not self.fresh and not self.begun

    def next(self) -> RelativePath | None:
        """Remove and return the next conversation, None if there is none. The caller appends to `begun` if needed."""
        if self.fresh and (self._in_a_row < _FRESH or not self.begun):
            self._in_a_row += 1
            return self.fresh.popleft()
        self._in_a_row = 0
        return self.begun.popleft() if self.begun else None


class Renaming:
    """Missing conversations, which may have been renamed.

    Each waits until the conversations that were unread when it went missing have been read: one may be its new name.
    """

    def __init__(self) -> None:
        self._awaited: dict[RelativePath, frozenset[RelativePath]] = {}

    def note(self, missing: Iterable[RelativePath], fresh: Iterable[RelativePath]) -> None:
        """Replace the missing conversations; `fresh` are those that are unread now."""
        awaited = frozenset(fresh)
        self._awaited = {path: self._awaited.get(path, awaited) for path in missing}

    def deleted_conversations(self, unread: Collection[RelativePath]) -> Sequence[RelativePath]:
        """Return the conversations that wait for none of the `unread` ones: they were deleted, not renamed."""
        return [path for path, awaited in self._awaited.items() if awaited.isdisjoint(unread)]


PLACE = "transcript"
"""Key of a session under which the place is stored."""
_DIGEST = 8
_NAME = expression(rf"transcript-.+-[0-9a-f]{{{_DIGEST}}}", re.DOTALL)


class TranscriptPlace(Struct, frozen=True):
    """Progress of taking turns from a transcript.

    Turns whose question is on a line up to `line` are final. Reading continues after `tail`, which is not after `line`.
    """

    file: str
    """Name of the transcript, as replies show it."""
    tail: Tail = START
    seen: Tail = START
    """End of the part that was read; used to detect that the transcript was rewritten."""
    line: int = 0
    open_seq: int = 0
    """The turn of the first question after `line`, taken before the turn ended, to be replaced later; 0 for none."""
    is_again: bool = False
    """Whether the transcript was rewritten after its first turn was taken, so that turns may be stored already."""


def place_of(session: Session) -> TranscriptPlace | None:
    """Return the place in the transcript of a session: None without a transcript, the start if the place is damaged."""
    stored = session.extra.get(PLACE)
    if stored is None:
        return None
    file = stored.get("file") if isinstance(stored, dict) else None
    if not isinstance(stored, dict) or not isinstance(file, str):
        return TranscriptPlace("", is_again=True)
    line, open_seq = stored.get("line"), stored.get("open", 0)
    if type(line) is not int or type(open_seq) is not int or not line >= 0 <= open_seq:
        return TranscriptPlace(file, is_again=True)
    tail, seen = (read_tail(str(stored.get(key))) for key in ("tail", "seen"))
    return TranscriptPlace(file, tail, seen, line, open_seq, stored.get("again") is True)


def place_value(place: TranscriptPlace) -> Mapping[str, object]:
    """Return the JSON object that a session stores for a place."""
    return {
        "file": place.file,
        "line": place.line,
        **({"open": place.open_seq} if place.open_seq else {}),
        **({"again": True} if place.is_again else {}),
        "tail": written_tail(place.tail),
        "seen": written_tail(place.seen),
    }


def transcript_session(agent: str, file: str) -> SessionId:
    """Return the session name of an agent's transcript: `transcript-<name>-<hash>`, the same for the same arguments."""
    stem = file.removesuffix(".jsonl")
    digest = sha256(f"{agent}\0{file}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    name = safe_id(f"transcript-{stem}").encode()[: MAX_BYTES - _DIGEST - 1].decode("utf-8", "ignore")
    return safe_id(f"{name.rstrip('-_')}-{digest}")


def is_transcript_session(name: SessionId) -> bool:
    """Return whether a name has the form of `transcript_session`. Such names are reserved for transcripts."""
    return _NAME.fullmatch(name) is not None


def transcript_key(file: str) -> str:
    """Return the session key of the session of a transcript."""
    return f"{PLACE}:{file}"


QUESTION_CHARS = 20_000
ANSWER_CHARS = 100_000
"""Most characters of a question and of an answer from a transcript; the API has the same limits."""


class TranscriptTurn(Struct, frozen=True):
    """A turn read from a transcript, possibly without its end: the line of the question, and the time of it."""

    line: int
    question: str
    at: datetime
    is_timed: bool
    """Whether the time is in the transcript; otherwise it is the time of the message before, or of the file."""
    answer: str = ""

    @property
    def chars(self) -> int:
        return len(self.question) + len(self.answer)

    @property
    def raw(self) -> RawTurn:
        """The same turn as input of `make_turn`."""
        return RawTurn(self.question, self.answer or None, self.at)


class ReadingState(Struct, frozen=True):
    """State between two steps of reading a transcript: the unfinished turn, and the time of the last message."""

    turn: TranscriptTurn | None = None
    last_at: datetime | None = None


def read_turns(
    state: ReadingState, lines: Iterable[SpokenLine], fallback: datetime
) -> tuple[list[TranscriptTurn], ReadingState]:
    """Return the turns that end within these lines, and the state after them.

    `fallback` is the time of a message if neither it nor a message before it has a time.
    """
    ended: list[TranscriptTurn] = []
    for line in lines:
        utterance, turn = line.utterance, state.turn
        at = utterance.time or state.last_at or fallback
        if utterance.speaker is Speaker.USER:
            ended += [turn] if turn else []
            turn = TranscriptTurn(line.number, utterance.text[:QUESTION_CHARS], at, utterance.time is not None)
        elif turn is not None:
            turn = replace(turn, answer=f"{turn.answer} {utterance.text}".strip()[:ANSWER_CHARS])
        state = ReadingState(turn, at)
    return ended, state


class TakenTurns(Struct, frozen=True):
    """A session with new turns of its transcript, its new place, and the new turns as made."""

    session: Session
    place: TranscriptPlace
    made: tuple[MadeTurn, ...] = ()


def add_turns(
    session: Session,
    turns: Sequence[TranscriptTurn],
    place: TranscriptPlace,
    answer_retention: AnswerRetention,
    commonness: Commonness,
    *,
    open_seq: int = 0,
    goes_on: bool = False,
) -> TakenTurns:
    """Return the session with these turns and the place. The first turn replaces turn `open_seq` if that is the last.

    With `goes_on` the last turn may get more of its answer, and the place records its number. A turn with the time and
    the question of a stored turn is skipped: programs that compact a transcript write turns again.
    """
    made: list[MadeTurn] = []
    known = {(turn.timestamp, turn.question) for turn in session.turns}
    last = 0
    for number, turn in enumerate(turns):
        replaced = None
        if number == 0 and open_seq and session.last_seq == open_seq:
            replaced, session = session.turns[-1], replace(session, turns=session.turns[:-1])
        new = make_turn(turn.raw, session, answer_retention=answer_retention, commonness=commonness)
        is_known = (turn.is_timed or place.is_again) and (new.turn.timestamp, new.turn.question) in known
        if replaced is None and is_known:
            last = 0
            continue
        if replaced is not None and replaced.answer is not None:
            # a stored answer stays if the new turn would have none, and so does the mark
            answer = replaced.answer if new.turn.answer is None else new.turn.answer
            dropped = None if new.turn.answer is None else new.dropped_answer
            new = MadeTurn(replace(new.turn, is_marked=replaced.is_marked, answer=answer), dropped)
        known.add((new.turn.timestamp, new.turn.question))
        session = replace(session, turns=(*session.turns, new.turn))
        made.append(new)
        last = new.turn.seq
    place = replace(place, open_seq=last if goes_on else 0)
    return TakenTurns(replace(session, extra={**session.extra, PLACE: place_value(place)}), place, tuple(made))
