"""Extractive summary of a conversation: its most significant sentences, without a model.

The sentences come unchanged from questions and kept answers, in the language and the order of the session, up to
`CHARS` characters. They are rated by the rules of significance. The result is deterministic.
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
"""Most characters of the sentences with their labels, not counting the name of the session."""
SHORT_CHARS = 200
"""Most characters of the summary of a session in which nothing is significant."""
MIN_TURNS = 2
"""A shorter session gets no summary: search finds its only turn, and a memory would repeat it."""
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
    """The role of a sentence in the conversation."""

    STATEMENT = 0
    QUESTION = 1
    ANSWER = 2
    DECIDED = 3
    OPEN = 4


_LABELS = ("Said: ", "Asked: ", "Answered: ", "Decided: ", "Open: ")
_CHINESE_LABELS = ("说：", "问：", "答：", "决定：", "未决：")
_WEIGHTS = (0.0, 0.1, 0.1, 0.4, 0.3)
"""The worth of each role. It is added to 0 to 1 for the content of the sentence and the significance of its turn."""


class SummarySentence(Struct, frozen=True):
    """A sentence of a session: turn, index in the turn, role, text and worth."""

    seq: int
    place: int
    role: SentenceRole
    text: str
    worth: float = 0.0


class SessionSummary(Struct, frozen=True):
    """The sentences of a summary, in the order of the conversation."""

    sentences: tuple[SummarySentence, ...] = ()
    turns: int = 0
    """Number of turns that were summarised."""
    is_chinese: bool = False
    is_short: bool = False
    """Whether nothing in the session is significant, so that the summary only lists the questions."""

    def titled(self, session: SessionId) -> str:
        """Return the text with the name of its session, which makes it unique. Empty if the summary is empty."""
        head = f"会话 {session}：" if self.is_chinese else f"Session {session}: "
        return f"{head}{self.text}" if self.text else ""

    @property
    def text(self) -> str:
        """The sentences, each run of one role after its label; empty without sentences."""
        labels, between = (_CHINESE_LABELS, "") if self.is_chinese else (_LABELS, " ")
        between = _BETWEEN_SHORT if self.is_short else between
        text = ""
        for role, run in groupby(self.sentences, key=lambda sentence: sentence.role):
            for number, sentence in enumerate(run):
                text = _join(text, sentence.text if number else f"{labels[role]}{sentence.text}", between)
        return text


def session_summary(
    session: Session, *, after: int = 0, is_left_out: Callable[[str], bool] = lambda _sentence: False
) -> SessionSummary:
    """Summarise the turns of a session after turn `after`.

    Sentences for which `is_left_out` returns true are omitted; it is called with their unchanged text.
    """
    turns = [turn for turn in session.in_order if turn.seq > after]
    sentences = _join_corrections(
        sentence for turn in turns for sentence in _sentences_of(turn, turn is turns[-1], is_left_out)
    )
    text = "".join(turn.question for turn in turns)
    is_chinese = 0 < len(_LETTER.findall(text)) <= 2 * len(_CHINESE.findall(text))
    if not any(sentence.role > SentenceRole.QUESTION for sentence in sentences):
        return _short(turns, is_left_out, is_chinese=is_chinese)
    return SessionSummary(tuple(_choose(sentences, is_chinese)), len(turns), is_chinese)


def _short(turns: Sequence[Turn], is_left_out: Callable[[str], bool], *, is_chinese: bool) -> SessionSummary:
    """Return the questions of turns without anything significant, or their statements if there are no questions."""
    sentences = _join_corrections(
        sentence for turn in turns for sentence in _sentences_of(turn, False, is_left_out, is_short=True)
    )
    has_question = any(sentence.role is SentenceRole.QUESTION for sentence in sentences)
    role = SentenceRole.QUESTION if has_question else SentenceRole.STATEMENT
    short = SessionSummary((), len(turns), is_chinese, is_short=True)
    for sentence in sentences:
        longer = replace(short, sentences=(*short.sentences, sentence))
        if sentence.role is role and not _repeats(sentence, short.sentences) and len(longer.text) <= SHORT_CHARS:
            short = longer
    return short


def visible_sentences(turn: Turn, is_left_out: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the sentences of question and answer that are not left out, each on one line, split as capture does.

    A sentence that ends like "My passphrase is:" or "What is my PIN?" announces the next one: if it is left out, the
    next one is left out, too.
    """
    questions, answers = _blank_sentences(turn, is_left_out)
    return [*filter(None, questions)], [*filter(None, answers)]


def sentences_of_turn(turn: Turn) -> list[str]:
    """Return all sentences of question and answer, in the form in which `is_left_out` gets them."""
    questions, answers = visible_sentences(turn, lambda _sentence: False)
    return questions + answers


def _blank_sentences(turn: Turn, is_left_out: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the sentences of question and answer; those that are left out are empty."""
    questions, is_announced = _blank(turn.question, is_left_out, is_announced=False)
    return questions, _blank(turn.answer or "", is_left_out, is_announced=is_announced)[0]


def _blank(text: str, is_left_out: Callable[[str], bool], *, is_announced: bool) -> tuple[list[str], bool]:
    """Return the sentences, empty if left out, and whether the last one was left out and announces the next text."""
    sentences = []
    for sentence in (" ".join(spoken.text.split()) for spoken in spoken_sentences(text)):
        is_out = is_announced or is_left_out(sentence)
        is_announced = is_out and sentence.endswith(_ANNOUNCES)
        sentences.append("" if is_out else sentence)
    return sentences, is_announced


def _sentences_of(
    turn: Turn, is_last: bool, is_left_out: Callable[[str], bool], *, is_short: bool = False
) -> Iterator[SummarySentence]:
    """Yield the sentences of a turn that count for a summary, and one with an empty text for each that is left out.

    A very short sentence counts only if it is a question in a short summary, or a correction with a value.
    """
    is_open = is_last and not turn.is_answered
    questions, answers = _blank_sentences(turn, is_left_out)
    with_roles = [(sentence, _role_of(sentence, is_open=is_open)) for sentence in questions]
    with_roles += [(sentence, SentenceRole.ANSWER) for sentence in answers]
    for place, (sentence, role) in enumerate(with_roles):
        # longer than a greeting or a polite phrase
        least = 1 if is_short and role is SentenceRole.QUESTION else 4 if _CHINESE.search(sentence) else 12
        text = _clip(sentence)
        is_correction = role is SentenceRole.STATEMENT and corrects_alone(sentence)
        silence = read_message(sentence, names_entity=False).silence if role <= SentenceRole.QUESTION else None
        # a statement with a value may look like a calculation, or begin like an order about the last answer
        is_order = silence is SkipReason.ABOUT_OUTPUT and not values_in(sentence)
        is_idle = silence is SkipReason.SMALL_TALK or is_order or (silence and role is SentenceRole.QUESTION)
        if sentence and is_idle and not is_correction:
            continue
        is_short_value = is_correction and values_in(sentence)
        if not sentence or (text and (len(_SIGN.findall(without_formulas(sentence))) >= least or is_short_value)):
            yield SummarySentence(turn.seq, place, role, text, _worth(turn, sentence, role))


def _join_corrections(sentences: Iterable[SummarySentence]) -> list[SummarySentence]:
    """Append each short correction to the sentence it corrects, and return the sentences that have a text.

    A correction whose sentence is left out is dropped: it means nothing alone, and does not belong to an earlier one.
    """
    corrected = list[SummarySentence]()
    for sentence in sentences:
        if sentence.role is not SentenceRole.STATEMENT or not sentence.text or not corrects_alone(sentence.text):
            corrected.append(sentence)
        elif corrected and corrected[-1].text and corrected[-1].seq >= sentence.seq - 1:
            before = corrected[-1]
            text, worth = _join(before.text, sentence.text, " "), max(before.worth, sentence.worth)
            corrected[-1] = replace(before, text=text, worth=worth)
    return [sentence for sentence in corrected if sentence.text]


def _join(text: str, more: str, between: str) -> str:
    """Append a sentence to a text, after ` · ` if the text has no punctuation at its end."""
    if not text:
        return more
    return f"{text}{between if _ENDED.search(text) else _BETWEEN_SHORT}{more}"


def _role_of(sentence: str, *, is_open: bool) -> SentenceRole:
    if _ASKS.search(sentence):
        return SentenceRole.OPEN if is_open else SentenceRole.QUESTION
    if _AGREED.search(sentence):
        return SentenceRole.DECIDED
    return SentenceRole.OPEN if _LATER.search(sentence) else SentenceRole.STATEMENT


def _worth(turn: Turn, sentence: str, role: SentenceRole) -> float:
    signs = answer_signs("", sentence)
    parts = (user_action(signs), context_density(signs), emotional_weight(sentence, ""))
    return turn.significance / 2 + max(parts) / 2 + _WEIGHTS[role]


def _choose(sentences: Sequence[SummarySentence], is_chinese: bool) -> list[SummarySentence]:
    """Return the sentences with the highest worth that fit, in order; an answer brings its question along."""
    chosen: list[SummarySentence] = []
    for sentence in sorted(sentences, key=lambda sentence: (-sentence.worth, sentence.seq, sentence.place)):
        if _repeats(sentence, chosen):
            continue
        longer = [*chosen, *_question_of(sentence, sentences, chosen), sentence]
        longer.sort(key=lambda other: (other.seq, other.place))
        if len(SessionSummary(tuple(longer), is_chinese=is_chinese).text) <= CHARS:
            chosen = longer
    return chosen


def _question_of(
    answer: SummarySentence, sentences: Iterable[SummarySentence], chosen: Sequence[SummarySentence]
) -> list[SummarySentence]:
    """Return the question of an answer, unless there is none or a question of its turn is chosen already."""
    if answer.role is not SentenceRole.ANSWER:
        return []
    questions = [other for other in sentences if other.seq == answer.seq and other.role is SentenceRole.QUESTION]
    if any(question in chosen for question in questions):
        return []
    return [question for question in questions[:1] if not _repeats(question, chosen)]


def _repeats(sentence: SummarySentence, chosen: Iterable[SummarySentence]) -> bool:
    return any(sentence.text.casefold() == other.text.casefold() for other in chosen)


def _clip(sentence: str) -> str:
    """Return a harmless sentence, cut if it is long; empty if it has no letter."""
    if not _LETTER.search(sentence):
        return ""
    text = harmless_text(sentence)
    return text if len(text) <= _SENTENCE_CHARS else f"{text[: _SENTENCE_CHARS - 1].rstrip()}…"
