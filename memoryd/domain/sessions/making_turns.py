"""Make a turn of a question and its answer: secrets out, keywords, hash, topics, and whether the answer is kept.

A message may repeat a turn or add to its answer. Words that are forgotten become `[forgotten]`, and the turn keeps its
number.

How much an answer matters: 0.3 uniqueness + 0.2 user action + 0.25 context density + 0.25 emotional weight. The
weights are the reference's. Each part is 0 to 1, by a rule over the two texts and what the store holds, the same for
the same input: signs are counted in closed lists, English and Chinese, and a count saturates, so that the second sign
of a kind counts half as much as the first: `1 − share^count`. A caller who knows better passes its own parts.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.domain.sessions.documents import Keeping
from memoryd.domain.sessions.sequences import MessageKeys
from memoryd.domain.sessions.topics import Commonness, keywords, never_common, simhash, topics
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.wire import ANSWER_CHARS_MAX

_ANSWER_WORDS: Final = 64
"""Keywords of an answer that are held against others."""
_LATEST: Final = 40
"""So many turns of the session are what an answer is compared with, where the caller has no others."""
_TOPICS, _TOPIC_CHARS = 8, 64
_COMPARED: Final = 8 * _LATEST
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


RETRY: Final = timedelta(minutes=10)
"""So long the same words may be the same message, sent again, while nobody has answered."""
_LOOKED_AT: Final = 50
"""So many turns back a message that says when it was said may have been sent before."""
_BETWEEN: Final = "\n\n"


def repeated_turn(session: Session, question: str, at: datetime, *, is_timed: bool) -> Turn | None:
    """Return the turn of a session that holds this message already, None if it is new.

    One that says when it was said is the same at the same second; any other as long as it is the last one, without an
    answer, and young. `question` is as it would be stored.
    """
    for turn in reversed(session.turns[-_LOOKED_AT:]):
        if is_timed and turn.question == question and abs(turn.timestamp - at) < timedelta(seconds=1):
            return turn
    last = session.turns[-1] if session.turns else None
    if is_timed or last is None or last.question != question or is_answered(last):
        return None
    return last if abs(at - last.timestamp) < RETRY else None


def is_answered(turn: Turn) -> bool:
    """Tell whether somebody answered, also where the answer is not kept."""
    return turn.answer is not None or turn.significance > 0


def joined_answer(before: str, more: str) -> str | None:
    """Return an answer that was said in parts as one, None if its end says that already; the beginning is kept."""
    if before == more or before.endswith(f"{_BETWEEN}{more}"):
        return None
    return f"{before}{_BETWEEN}{more}"[:ANSWER_CHARS_MAX] if before else more


UNIQUENESS, USER_ACTION, CONTEXT_DENSITY, EMOTIONAL_WEIGHT = 0.3, 0.2, 0.25, 0.25


class SignificanceParts(Struct, frozen=True):
    """The four parts of a significance, each 0 to 1."""

    uniqueness: float
    user_action: float
    context_density: float
    emotional_weight: float

    @property
    def significance(self) -> float:
        """The weighted sum, to two digits."""
        weighted = (
            UNIQUENESS * self.uniqueness
            + USER_ACTION * self.user_action
            + CONTEXT_DENSITY * self.context_density
            + EMOTIONAL_WEIGHT * self.emotional_weight
        )
        return round(min(max(weighted, 0.0), 1.0), 2)


_FORMULA: Final = expression(
    r"(?:sure|of course|certainly|great question|good question|you'?re welcome|glad (?:to|i could) help|no problem"
    r"|let me know if|i hope (?:this|that) helps|as an ai|i(?:'m| am) (?:just )?an? (?:ai|assistant)|it depends"
    r"|how can i help|happy to help|sounds good|got it|ok(?:ay)?)\b"
    r"|好的|没问题|不客气|当然可以|很高兴|希望.{0,6}有帮助|作为.{0,4}(?:ai|人工智能|助手)|有什么可以帮|随时告诉我|明白了|收到"
)
# repetitions are bounded, or give nothing back where what follows cannot be part of them: answers may be long
_STEPS: Final = expression(r"^\s{0,80}+(?:[0-9]{1,2}[.)、]|[-*•]|第[一二三四五六七八九十]步)\s*+\S", re.MULTILINE)
_FIGURE: Final = expression(
    r"[0-9]+(?:[.,:/-][0-9]+)*|(?<![零一二两三四五六七八九十百千万半])[零一二两三四五六七八九十百千万半]++"
    r"(?:点[零一二三四五六七八九]++)?[个度元块毛天周月年点分秒米斤克寸升次条家条号楼层人岁倍成]"
)
"""Amounts, dates and measures: what a plan rests on, and nobody remembers."""
_CODE: Final = expression(
    r"```|`[^`\n]+`|(?<![\w.])[\w-]{1,120}+\.(?:py|md|json5?|ya?ml|toml|sh|js|ts|conf)\b|https?://|~/|\$ "
)
_ADVICE: Final = expression(
    r"\b(?:you (?:can|could|should|need to|must|have to)|try|run|set|add|remove|install|open|use|change|enable|disable"
    r"|make sure|avoid|switch to|start with|i(?:'d| would) (?:suggest|recommend|go)|first|then|instead|check|call|ask"
    r"|put|buy|take|keep|measure|write|move|replace|wait|order|book|bring|pay|stop|decided|settled|agreed|wins?|won't"
    r"|don't|never|at (?:least|most))\b"
    r"|可以|应该|需要|建议|必须|最好|试试|运行|设置|添加|删除|安装|打开|改成|修改|使用|避免|先.{0,12}再|首先|然后|不要"
    r"|检查|买|换|放|写|问|带|选|至少|最多|就行|够了|别|决定|定了|说好|记得|提前|每[天周月年]"
)
_BINDING: Final = expression(
    r"\b(?:because|therefore|so that|which means|depends on|compared (?:to|with)|rather than|whereas|in contrast"
    r"|trade-?off|as a result|leads? to|related to|combin\w+|together with|both|unless|however|but|since|if|when|so"
    r"|until|instead of|otherwise|than|only|while)\b"
    r"|因为|所以|因此|取决于|相比|而不是|意味着|导致|另一方面|同时|结合|关系|权衡|但是|但|不过|既.{0,8}又|不仅"
    r"|如果|的话|只要|只有|否则|不然|就|才|比.{1,8}[好多少大小快慢贵]|再"
)
_FEELING: Final = expression(
    r"\b(?:worr(?:y|ied)|afraid|scared|anxious|sad|happy|excited|love|hate|angry|frustrat\w+|annoy\w+|upset|sorry"
    r"|stress\w*|hope|wish|proud|grateful|thank(?:s| you)|finally|tired of|sick of|important|urgent|critical"
    r"|asap|deadline|desperate\w*|matters?|birthday|wedding|died|hospital|favou?rite|broken?|fail\w*|leak\w*|drips?"
    r"|crash\w*|hurts?|pain|lost|stuck|wrong|dies|problem|late|forgot|can'?t|cannot|doesn'?t|risky?|danger\w*|safe)\b"
    r"|担心|害怕|焦虑|难过|伤心|开心|高兴|激动|喜欢|讨厌|生气|烦|压力|希望|感谢|谢谢|终于|重要|紧急|着急|关键|受不了|生日|婚礼|医院|最爱|想念|每次都"
    r"|坏了|漏|报错|失败|疼|痛|丢了|卡住|不了|不行|不动|不好|不够|出事|问题|忘了|危险|安全|怕|总是|老是|爸|妈|孩子|女儿|儿子"
)
_STAKE: Final = expression(r"\b(?:my|mine|ours?|i(?:'m|'ve|'d|'ll)?|me|we|let'?s|us)\b|我们?|咱们?|自己|家里")
_OPINION: Final = expression(
    r"\b(?:should i|do you think|your (?:opinion|view|take)|what would you|how do you feel|which (?:one|is better)|why"
    r"|how (?:do|can|should|could) (?:i|we)|worth)\b"
    r"|你觉得|你认为|你的(?:看法|意见|想法)|怎么看|该不该|要不要|哪个(?:更)?好|值得|为什么|如何|怎么(?:样|办|做|才)?|怎样|想知道"
)
_FULL_WORDS: Final = 4
"""So many distinct keywords make an answer that says something of its own for two thirds."""
_ACTED_ON, _BOUND, _FELT = 0.5, 0.5, 0.6
"""What the next sign of a kind leaves of the doubt. Set so that of short answers of everyday conversations (15 words)
one of four is kept, and none that only is polite."""


def uniqueness(
    answer_words: Collection[str], question_words: Collection[str], others: Iterable[Collection[str]]
) -> float:
    """Return how much an answer says that is its own, from its keywords and those of the answers that are stored.

    *Substance*, `1 − 3^(−n/4)` of n distinct keywords that the question does not hold, times *novelty*, one less the
    greatest share of them that another answer holds. The formula phrases of politeness should be taken out before.
    """
    own = frozenset(answer_words) - frozenset(question_words)
    if not own:
        return 0.0
    shared = max((len(own.intersection(other)) / len(own) for other in others), default=0.0)
    return (1 - 3 ** (-len(own) / _FULL_WORDS)) * (1 - shared)


def user_action(answer: str) -> float:
    """Return how likely the user acts on an answer: steps, commands, files and addresses, words of advice."""
    signs = _count(_ADVICE, answer) + 2 * bool(_CODE.search(answer)) + 2 * (_count(_STEPS, answer) > 1)
    return 1 - _ACTED_ON**signs


def context_density(answer: str, topics: Collection[str], earlier_topics: Collection[str]) -> float:
    """Return how much an answer binds together: words that bind, figures, topics, and those it takes up again.

    `earlier_topics` are those of the turns before in the session; a topic counts by each of its parts.
    """
    parts = {part for topic in topics for part in topic.split("_")}
    earlier = {part for topic in earlier_topics for part in topic.split("_")}
    signs = _count(_BINDING, answer) + _count(_FIGURE, answer) + max(0, len(parts) - 1) + len(parts & earlier)
    return 1 - _BOUND**signs


def emotional_weight(question: str, answer: str) -> float:
    """Return how much a turn matters to the user: feeling and urgency, their own affairs, an opinion asked for."""
    signs = 2 * _count(_FEELING, question) + _count(_STAKE, question) + 2 * _count(_OPINION, question)
    signs += _count(_FEELING, answer) + ("!" in question or "！" in question)
    return 1 - _FELT**signs


def without_formulas(answer: str) -> str:
    """Return an answer in small letters without the phrases that every assistant says."""
    return _FORMULA.sub(" ", answer.lower())


def significance_parts(
    question: str,
    answer: str,
    *,
    answer_words: Collection[str],
    question_words: Collection[str],
    stored: Sequence[Collection[str]] = (),
    topics: Collection[str] = (),
    earlier_topics: Collection[str] = (),
) -> SignificanceParts:
    """Return the parts for an answer; `stored` are the keywords of the answers that are kept already."""
    return SignificanceParts(
        uniqueness=uniqueness(answer_words, question_words, stored),
        user_action=user_action(without_formulas(answer)),
        context_density=context_density(answer, topics, earlier_topics),
        emotional_weight=emotional_weight(question, answer),
    )


def _count(pattern: re.Pattern[str], text: str) -> int:
    """Return how many different signs of a kind stand in a text, six at most."""
    # in small letters already: patterns that disregard case take twice as long
    return min(6, len({found.group() for found in pattern.finditer(text.lower())}))
