"""What a conversation was about, in its own words: the sentences of it that matter most. No model is asked.

Questions and kept answers give sentences as they were said, in the language of the session, in their order, within
`CHARS`; what matters is told by the rules of significance. The same session gives the same text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.expressions import expression
from memoryd.domain.memories.capture.revisions import corrects_alone
from memoryd.domain.memories.capture.values import values_in
from memoryd.domain.memories.unasked.messages import read_message
from memoryd.domain.sessions.significance import (
    answer_signs,
    context_density,
    emotional_weight,
    user_action,
    without_formulas,
)
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.domain.text.sentences import spoken_sentences

CHARS = 400
"""Of all sentences with their labels, the name of the session not counted."""
SHORT_CHARS = 200
"""Of what was asked, where nothing of it is significant."""
MIN_TURNS = 2
"""A shorter session is found by its own turn, word for word: a memory of it would only say it twice."""
_SENTENCE_CHARS = 160
_CHINESE = expression("[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTER = expression(r"[^\W\d_]")
_SIGN = expression(r"\w")
_AGREED = expression(
    r"\b(?:we(?:'ll| will| decided| agreed)|i(?:'ll| will| decided| chose)|let'?s|decided|agreed|settled on"
    r"|go(?:ing)? with|from now on|the plan is)\b"
    r"|决定|定了|说好|就用|就这么|选(?:了|择)|改用|以后都|方案是|我们(?:会|要|就)",
    re.IGNORECASE,
)
_LATER = expression(
    r"\b(?:to-?do|later|tomorrow|next (?:week|time|month)|not yet|still (?:need|have to|open|missing)|remind me"
    r"|open question|need(?:s)? to|have to|waiting for|follow up|unresolved)\b"
    r"|待办|还没|尚未|以后再|明天|下周|下次|记得|提醒我|需要|等.{1,8}回复|没解决|未决",
    re.IGNORECASE,
)
_ASKS = expression(
    r"[?？]\s*\Z|(?:[吗呢谁哪]|哪[里儿天个]|什么|多少|几[点号楼个])\s*[。！]?\Z"
    r"|\A(?:what|who|whose|where|why|how|which|wer|wem|wo|wann|wie|warum)(?:['’]s)?\b(?!ever)",
    re.IGNORECASE,
)
_ANNOUNCES = (":", "：", "=", "?", "？")
_BETWEEN_SHORT = " · "
_ENDED = expression(r"[.!?…。！？;；][\"”’'»」』)）]*\Z")


class SentenceRole(IntEnum):
    """What a sentence does."""

    TOLD = 0
    ASKED = 1
    ANSWERED = 2
    DECIDED = 3
    OPEN = 4


_LABELS = ("Said: ", "Asked: ", "Answered: ", "Decided: ", "Open: ")
_CHINESE_LABELS = ("说：", "问：", "答：", "决定：", "未决：")
_WEIGHTS = (0.0, 0.1, 0.1, 0.4, 0.3)
"""What a sentence is worth by what it does, beside 0 to 1 for what it says and for its turn."""


class SummarySentence(Struct, frozen=True):
    """A sentence of a session, in the order in which it was said, with what it is worth."""

    seq: int
    place: int
    said: SentenceRole
    text: str
    worth: float = 0.0


class SessionSummary(Struct, frozen=True):
    """The sentences of a summary, in the order in which they were said."""

    sentences: tuple[SummarySentence, ...] = ()
    turns: int = 0
    """How many turns it was chosen from."""
    is_chinese: bool = False
    is_short: bool = False
    """Whether nothing of it is significant, so that it tells shortly what was asked."""

    def titled(self, session: SessionId) -> str:
        """Return the text with the name of its session, so that two sessions never say the same; empty likewise."""
        head = f"会话 {session}：" if self.is_chinese else f"Session {session}: "
        return f"{head}{self.text}" if self.text else ""

    @property
    def text(self) -> str:
        """The sentences, each kind with its label; empty if there is none."""
        labels, between = (_CHINESE_LABELS, "") if self.is_chinese else (_LABELS, " ")
        between = _BETWEEN_SHORT if self.is_short else between
        text = ""
        for said, run in groupby(self.sentences, key=lambda one: one.said):
            for number, one in enumerate(run):
                text = _joined(text, one.text if number else f"{labels[said]}{one.text}", between)
        return text


def session_summary(
    session: Session, *, after: int = 0, is_left_out: Callable[[str], bool] = lambda _sentence: False
) -> SessionSummary:
    """Return what a session was about behind the turn `after`.

    Sentences for which `is_left_out` holds, which is asked of them as they were said, are not taken.
    """
    turns = [turn for turn in session.in_order if turn.seq > after]
    found = _corrected(one for turn in turns for one in _sentences_of(turn, turn is turns[-1], is_left_out))
    text = "".join(turn.question for turn in turns)
    is_chinese = 0 < len(_LETTER.findall(text)) <= 2 * len(_CHINESE.findall(text))
    if not any(one.said > SentenceRole.ASKED for one in found):
        return _short(turns, is_left_out, is_chinese=is_chinese)
    return SessionSummary(tuple(_choose(found, is_chinese)), len(turns), is_chinese)


def _short(turns: Sequence[Turn], is_left_out: Callable[[str], bool], *, is_chinese: bool) -> SessionSummary:
    """Return what was asked in turns that hold nothing significant, else what was said, in its order."""
    found = _corrected(one for turn in turns for one in _sentences_of(turn, False, is_left_out, is_short=True))
    said = SentenceRole.ASKED if any(one.said is SentenceRole.ASKED for one in found) else SentenceRole.TOLD
    short = SessionSummary((), len(turns), is_chinese, is_short=True)
    for one in found:
        longer = replace(short, sentences=(*short.sentences, one))
        if one.said is said and not _repeats(one, short.sentences) and len(longer.text) <= SHORT_CHARS:
            short = longer
    return short


def visible_sentences(turn: Turn, is_left_out: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the sentences of question and answer that may be told, each on one line, split as capture splits them.

    What a sentence that is left out announces, as "My passphrase is:" and "What is my PIN?", is left out with it.
    """
    asked, answered = _told_and_left_out(turn, is_left_out)
    return [*filter(None, asked)], [*filter(None, answered)]


def sentences_of_turn(turn: Turn) -> list[str]:
    """Return all sentences of question and answer, as they are asked about."""
    asked, answered = visible_sentences(turn, lambda _sentence: False)
    return [*asked, *answered]


def _told_and_left_out(turn: Turn, is_left_out: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the same, and nothing in the place of each that is left out."""
    asked, is_announced = _visible_in(turn.question, is_left_out, is_announced=False)
    return asked, _visible_in(turn.answer or "", is_left_out, is_announced=is_announced)[0]


def _visible_in(text: str, is_left_out: Callable[[str], bool], *, is_announced: bool) -> tuple[list[str], bool]:
    """Return the sentences that may be told, others empty, and whether the last one announces what may not."""
    told = []
    for sentence in (" ".join(one.text.split()) for one in spoken_sentences(text)):
        is_out = is_announced or is_left_out(sentence)
        is_announced = is_out and sentence.endswith(_ANNOUNCES)
        told.append("" if is_out else sentence)
    return told, is_announced


def _sentences_of(
    turn: Turn, is_last: bool, is_left_out: Callable[[str], bool], *, is_short: bool = False
) -> Iterator[SummarySentence]:
    """Yield the sentences of a turn that may be told, and without a text where one is left out.

    Those of few words only where they ask and it is to be short, or say another value.
    """
    is_open = is_last and not turn.is_answered
    questions, answers = _told_and_left_out(turn, is_left_out)
    asked = [(sentence, _role_of(sentence, is_open=is_open)) for sentence in questions]
    for place, (sentence, said) in enumerate((*asked, *((one, SentenceRole.ANSWERED) for one in answers))):
        # more than a greeting or the politeness of every assistant
        least = 1 if is_short and said is SentenceRole.ASKED else 4 if _CHINESE.search(sentence) else 12
        text = _clip(sentence)
        is_correction = said is SentenceRole.TOLD and corrects_alone(sentence)
        silence = read_message(sentence, names_entity=False).silence if said <= SentenceRole.ASKED else None
        # what is told may have a number like a sum, and begin like an order about the last answer
        is_order = silence is SkipReason.ABOUT_OUTPUT and not values_in(sentence)
        is_idle = silence is SkipReason.SMALL_TALK or is_order or (silence and said is SentenceRole.ASKED)
        if sentence and is_idle and not is_correction:
            continue
        is_short_value = is_correction and values_in(sentence)
        if not sentence or (text and (len(_SIGN.findall(without_formulas(sentence))) >= least or is_short_value)):
            yield SummarySentence(turn.seq, place, said, text, _worth(turn, sentence, said))


def _corrected(found: Iterable[SummarySentence]) -> list[SummarySentence]:
    """Return sentences in which a correction of few words stands behind what it corrects; alone it tells nothing.

    Nor does it where that is left out: it is none of what stands before.
    """
    whole = list[SummarySentence]()
    for one in found:
        if one.said is not SentenceRole.TOLD or not one.text or not corrects_alone(one.text):
            whole.append(one)
        elif whole and whole[-1].text and whole[-1].seq >= one.seq - 1:
            before = whole.pop()
            whole.append(replace(before, text=_joined(before.text, one.text, " "), worth=max(before.worth, one.worth)))
    return [one for one in whole if one.text]


def _joined(text: str, more: str, between: str) -> str:
    """Return a text that goes on; a sentence without a sign at its end gets one between."""
    if not text:
        return more
    return f"{text}{between if _ENDED.search(text) else _BETWEEN_SHORT}{more}"


def _role_of(sentence: str, *, is_open: bool) -> SentenceRole:
    if _ASKS.search(sentence):
        return SentenceRole.OPEN if is_open else SentenceRole.ASKED
    if _AGREED.search(sentence):
        return SentenceRole.DECIDED
    return SentenceRole.OPEN if _LATER.search(sentence) else SentenceRole.TOLD


def _worth(turn: Turn, sentence: str, said: SentenceRole) -> float:
    told = sentence.lower()
    signs = answer_signs("", sentence)
    parts = (user_action(signs), context_density(signs), emotional_weight(told, ""))
    return turn.significance / 2 + max(parts) / 2 + _WEIGHTS[said]


def _choose(found: Sequence[SummarySentence], is_chinese: bool) -> list[SummarySentence]:
    """Return the sentences that are worth most and fit, in order; an answer comes with what it answers."""
    chosen: list[SummarySentence] = []
    for one in sorted(found, key=lambda one: (-one.worth, one.seq, one.place)):
        if _repeats(one, chosen):
            continue
        wanted = sorted([*chosen, *_question_of(one, found, chosen), one], key=lambda other: (other.seq, other.place))
        if len(SessionSummary(tuple(wanted), is_chinese=is_chinese).text) <= CHARS:
            chosen = wanted
    return chosen


def _question_of(
    one: SummarySentence, found: Iterable[SummarySentence], chosen: Sequence[SummarySentence]
) -> list[SummarySentence]:
    """Return the question that a sentence answers, where it is there and not chosen yet."""
    if one.said is not SentenceRole.ANSWERED or any(
        other.seq == one.seq and other.said is SentenceRole.ASKED for other in chosen
    ):
        return []
    asked = (other for other in found if other.seq == one.seq and other.said is SentenceRole.ASKED)
    return [other for other in list(asked)[:1] if not _repeats(other, chosen)]


def _repeats(one: SummarySentence, chosen: Iterable[SummarySentence]) -> bool:
    return any(one.text.casefold() == other.text.casefold() for other in chosen)


def _clip(sentence: str) -> str:
    """Return a sentence that says something, cut where it is long; empty for any other."""
    if not _LETTER.search(sentence):
        return ""
    told = harmless_text(sentence)
    return told if len(told) <= _SENTENCE_CHARS else f"{told[: _SENTENCE_CHARS - 1].rstrip()}…"
