"""Grammar of questions with days: whether a question is about a day, or the day belongs to the user's own plans.

"what did I do today?" asks about today, and "what is the code? I need it today" does not. Clauses are split and
classified by punctuation and by words of closed classes, English and Chinese: question words, auxiliaries, pronouns,
aspect particles. A past day is seldom a plan. A future day is one, unless the question asks what happens on it.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.times.english import PAST
from memoryd.domain.text.dates import MONTH

_FLAGS = re.ASCII | re.IGNORECASE


class DayRelevance(IntEnum):
    """Relevance of a day that a question names."""

    PASSING = 0
    """The day belongs to a plan, or to a statement beside the question."""
    HINT = 1
    """Memories of that day are slightly more relevant."""
    MATTER = 2
    """The question asks for memories of that day."""


class Mood(IntEnum):
    """Mood of a clause; a clause that only names something has no recognised verb."""

    NAMES = 0
    STATES = 1
    ASKS = 2


class Clause(Struct, frozen=True):
    """A clause: characters `start` to `end` of a text. `is_of_events`: it is about events or plans."""

    start: int
    end: int
    text: str
    mood: Mood
    is_past: bool
    is_of_events: bool

    @property
    def is_of_time(self) -> bool:
        """Whether the clause may be about a day that it names."""
        return self.is_past or self.is_of_events


class DayWord(Struct, frozen=True):
    """A mention of days in the characters `start` to `end` of a text."""

    start: int
    end: int
    is_over: bool
    """Whether the days are in the past."""
    is_weekday: bool
    """Whether it is a weekday without a word such as `last`."""
    is_date: bool
    """Whether it has a number or a month: people do not name a deadline so in passing."""


_SUBJECT = r"(?:i|we|you|he|she|they|it|there|somebody|someone|everybody|everyone|people)(?:'(?:m|ll|ve|re|d|s))?"
_SPLIT = caseless(
    rf"[?!;\n。、]+|(?<!\.)\.++(?=\s|\Z)(?!(?:(?<=[0-9]\.[0-9]\.)|(?<=[0-9]\.[0-9][0-9]\.))\s(?-i:[a-z])"
    rf"|(?<=[0-9]\.)\s{MONTH}\b)"
    r"|,(?![0-9])|:(?![0-9/])|\s[-–—]+\s|[()\[\]“”\"]"
    rf"|\s(?=(?:and|but|or|so|then|as|since|before|after|until|once|which|while|when|if|though|although)\s{_SUBJECT}\s)"
    r"|\s(?=(?:because|cos|so\sthat|in\scase|unless|although|though)\s)"
    r"|(?<!\bknow)(?<!\bme)(?<!\bus)(?<!\bremember)(?<!\bsay)(?<!\bsee)(?<!\bcheck)(?<!\bidea)(?<!\bsure)(?<!\bask)"
    r"\s(?=(?:if|when|while)\s)|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])"
)
_NEW_SUBJECT = expression(
    r"(?P<before>\S{1,30})(?P<gap>\s)(?=(?:(?:i|we)(?:'(?:m|ll|ve|re|d))?|(?:need|tell)\s(?:it|this|that|them|him|her|the|my|our|to))\s)",
    _FLAGS,
)
_LONGEST = 240
"""Approximate maximum length of a clause in characters, which bounds the time for text without punctuation."""
_AUXILIARIES = "do does did am is are was were has have had can could will would shall should may might must need"
_LEADS_ON = frozenset(
    f"{_AUXILIARIES} what which who whom whose where when why how that if whether because and but or so as than then "
    "while since before after until once not to i we you he she they it please never always also really still".split()
)
"""Words before the subject or the verb of the same clause, after which no new clause begins."""

_AUXILIARY = f"(?:{_AUXILIARIES.replace(' ', '|')})"
_WHO = "(?:what|which|who|whom|whose|where|when|why|how)"
_LEAD = (
    r"\A(?:\s|and\b|but\b|so\b|then\b|also\b|or\b|ok(?:ay)?\b|well\b|hey\b|hi\b|hello\b|please\b|oh\b|now\b|just\b)*+"
)
_OPENS_QUESTION = expression(
    rf"{_LEAD}(?:(?:in|on|at|for|from|with|to|of|by|since|until|about|around)\s)?"
    rf"(?:(?:what|which|who|whom|whose|why|how)(?:s|'s|'re|'d|'ll)?\b(?!\s(?:i|we)\s)"
    rf"|(?:when|where)(?:'s|'re|s)?\s{_AUXILIARY}\b|(?:when|where)(?:'s|s)\b)",
    _FLAGS,
)
_INVERTS = expression(
    rf"{_LEAD}{_AUXILIARY}(?:n't)?\s"
    r"(?:i|we|you|he|she|they|it|there|my|our|his|her|their|the|a|an|any\w*|some\w*|every\w*|this|that|these|those"
    r"|(?-i:[A-Z])[\w'-]*)\s",
    _FLAGS,
)
_REQUESTS = expression(
    r"\b(?:tell|show|remind|give|list|find|remember|recall|know|say|check|see|look|ask|wonder|wondering|forgot|forget)\b"
    rf"[^?]{{0,40}}?\b(?P<asked>{_WHO}|if|whether)\b"
    r"|\b(?:tell|remind)\s(?:me|us)\s(?:about|of)\b"
    rf"|{_LEAD}(?:show|list|summari[sz]e|recap|review|search|look\sup|tell\sme|remind\sme|give\sme|any\w*)\b",
    _FLAGS,
)
_STATES = expression(rf"(?:\A|\s){_SUBJECT}\s\w", _FLAGS)
_PAST_AUXILIARY = expression(r"\b(?:did|didn't|was|wasn't|were|weren't|had|been|ha(?:s|ve)(?!\sto\b))\b", _FLAGS)
_HAS_TENSE = expression(
    r"\b(?:do|does|am|is|are|can|could|will|would|shall|should|may|might|must)\b|'(?:s|re|ll|m)\b", _FLAGS
)
_DO_HAVE = expression(r"\b(?:do|does|to|can|could|will|would|shall|should|must)\s(?:\w+\s){0,3}have\b", _FLAGS)
_EVENTS = expression(
    r"\b(?:plan(?:s|ned)?|schedul(?:e|ed)|agenda|calendar|appointments?|due|upcoming|coming\sup|happen(?:s|ed|ing)?"
    r"|going\son|goes\son|events?|to-?dos?|to\sdo|deadlines?|what(?:'s|\sis)\son|what'?s\sup)\b",
    _FLAGS,
)
_DEADLINE = expression(r"\b(?:for|by|until|till|before|ahead\sof)\s(?:[\w'-]+\s){0,5}\Z", _FLAGS)
_SAYS_MORE = caseless(
    r"(?!(?:and|or|but|so|on|in|at|of|the|say|or|then|only|just|that|is|for|about|from|during|over)\b)[^\W\d_]{2,}|[\u4e00-\u9fff]"
)
_SINCE = expression(r"\bsince\s(?:the\s)?\Z", _FLAGS)
_IS_STAMP = expression(r"[T ][0-9]{1,2}:[0-9]{2}")
"""After a date: together they are the timestamp of a log entry."""

_HAN = expression("[\u4e00-\u9fff]")
_EASTERN_ASKS = expression(
    "(?<![没沒])[什甚][么麼]|啥|哪|谁|誰|[几幾](?!乎|天前|年前|周前|週前|[个個]月前)|多[少大久长長远遠高]|怎[么麼样樣]|咋|如何|[为為]何|何[时時]|何處|何处"
    "|吗|嗎|呢\\Z|有没有|有沒有|是不是|(?P<verb>[\u4e00-\u9fff])[不没沒](?P=verb)|[没沒]有?\\Z"
    "|告诉我|告訴我|说说|讲讲|总结|列出|回顾|查一下|查查|看看"
)
_EASTERN_STATES = expression("[我你您他她它咱]|[要得会會想了过過请請帮幫]")
_EASTERN_PAST = expression("(?<![为為除忘])了(?!解)|过(?![去年节期敏])|過(?![去年節期敏])|昨|曾|刚|剛")
_WHAT = "[\u4e00-\u9fff]{0,2}(?:[什甚][么麼]|啥|谁|誰|哪|[几幾])"
_EASTERN_EVENTS = expression(
    f"安排|计划|計劃|日程|行程|打算|发生|發生|预约|約會|约会|活动|待办|待辦|有什[么麼]事|(?:要|得|该|該|想|准备|準備|打算){_WHAT}"
    "|[做干幹去忙](?:些|点|點|了)?(?:什[么麼]|啥|哪)|有(?:些|点|點)?(?:什[么麼]|啥|哪些)"
)
_EASTERN_PART = (
    "(?:的|早上|上午|中午|下午|晚上|傍晚|夜里|凌晨|一早|就|还|又|也|都|我们?|大家|家里|马上|正好|刚好){0,3}+"
)
_EASTERN_PLAN = expression(
    f"{_EASTERN_PART}(?:必须|必須|需|要|得|想|准备|打算|急|用|交|给|給|[去来來到][^,?]{{0,8}}?的)(?!{_WHAT})"
)
_EASTERN_FOR = expression("(?:给|給|为|為|为了|為了|供|留到|等到?)\\Z")
_EASTERN_WHETHER = expression("(?:吗|嗎|[没沒]有?|呢)\\Z")


def clauses_of(plain: str) -> list[Clause]:
    """Return the clauses of a text in order, without empty ones."""
    return [_clause(plain, start, end) for start, end in _parts(plain) if plain[start:end].strip()]


def relevance_of(word: DayWord, plain: str, clauses: Sequence[Clause]) -> DayRelevance:
    """Return the relevance of a day that a text names; `clauses` are the clauses of the text."""
    if _IS_STAMP.match(plain, word.end):
        return DayRelevance.PASSING
    clause = next((clause for clause in clauses if clause.start <= word.start < clause.end), None)
    if clause is None:
        return DayRelevance.MATTER
    others = [other for other in clauses if other.mood is Mood.ASKS and other is not clause]
    before, behind = plain[clause.start : word.start], plain[word.end : clause.end]
    is_over = clause.is_past if word.is_weekday else word.is_over
    if clause.mood is Mood.ASKS:
        return _in_question(word, clause, before, behind, is_over=is_over)
    return _beside(clause, before, behind, others, is_over=is_over, is_date=word.is_date)


def question_part(plain: str, clauses: Sequence[Clause]) -> str:
    """Return the clauses of a text that ask something, joined; the complete text if none does."""
    return " ".join(clause.text for clause in clauses if clause.mood is Mood.ASKS) or plain


def asks(plain: str) -> bool:
    """Return whether a clause of a text asks something."""
    return any(clause.mood is Mood.ASKS for clause in clauses_of(plain))


def only_asks(plain: str) -> bool:
    """Return whether a text asks something and states nothing."""
    moods = {clause.mood for clause in clauses_of(plain)}
    return Mood.ASKS in moods and Mood.STATES not in moods


def asks_ahead(clauses: Sequence[Clause]) -> bool:
    """Return whether an English question is in a present or future tense: then its weekdays are in the future."""
    asking = [clause for clause in clauses if clause.mood is Mood.ASKS]
    return any(_HAS_TENSE.search(clause.text) for clause in asking) and not any(clause.is_past for clause in asking)


_REVIEW = caseless(r"\bhappened\b|\brecap\b|\bsummar|\bgab es\b|\bpassiert\b|进展")
"""Words that ask for past events, even of days that are not over."""


def asks_for_plans(clauses: Sequence[Clause]) -> bool:
    """Return whether a text asks for plans or present events, not for past ones."""
    return any(
        clause.is_of_events and clause.mood is not Mood.STATES and not (clause.is_past or _REVIEW.search(clause.text))
        for clause in clauses
    )


def _in_question(word: DayWord, clause: Clause, before: str, behind: str, *, is_over: bool) -> DayRelevance:
    if is_over or clause.is_of_time or _SINCE.search(before):
        return DayRelevance.MATTER
    if _DEADLINE.search(before) or _EASTERN_FOR.search(before):
        return DayRelevance.PASSING
    if _EASTERN_PLAN.match(behind) and not _EASTERN_WHETHER.search(clause.text):
        return DayRelevance.PASSING
    return DayRelevance.MATTER if word.is_date else DayRelevance.HINT


def _beside(
    clause: Clause, before: str, behind: str, others: Sequence[Clause], *, is_over: bool, is_date: bool
) -> DayRelevance:
    """Return the relevance of a day in a clause that asks nothing; `others` are the clauses that do."""
    is_of_time = any(other.is_of_events for other in (clause, *others))
    # as in "last week: who called?"
    is_alone = not _SAYS_MORE.search(f"{before} {behind}")
    asks_past = any(other.is_past for other in others)
    if is_over:
        if not others or is_of_time or asks_past:
            return DayRelevance.MATTER if clause.mood is Mood.NAMES else DayRelevance.HINT
        return DayRelevance.HINT if clause.mood is Mood.NAMES else DayRelevance.PASSING
    if clause.mood is Mood.STATES:
        return DayRelevance.PASSING
    if is_of_time or (is_alone and asks_past):
        return DayRelevance.MATTER
    if others or _DEADLINE.search(before) or _EASTERN_FOR.search(before):
        return DayRelevance.PASSING
    return DayRelevance.MATTER if is_date else DayRelevance.HINT


def _parts(plain: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each clause; the punctuation after a clause belongs to it."""
    start = 0
    for match in _SPLIT.finditer(plain):
        yield from _with_subjects(plain, start, match.end())
        start = match.end()
    yield from _with_subjects(plain, start, len(plain))


def _with_subjects(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield parts of a clause, split where a new subject follows an unpunctuated question: `what is it I need it`.

    A clause of more than _LONGEST characters is split at any subject, since each subject examines the text before it.
    """
    for match in _NEW_SUBJECT.finditer(plain, start, end):
        if match.end() - start > _LONGEST:
            yield start, match.start()
            start = match.start()
        word = match["before"].lower()
        if word in _LEADS_ON or word.endswith("n't") or not _asks(plain[start : match.end()]):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _clause(plain: str, start: int, end: int) -> Clause:
    text = plain[start:end].strip().rstrip(".,;:!。、").strip()
    is_question = text.endswith("?")
    text = text.rstrip("?").strip()
    mood = _mood(text, is_question=is_question)
    is_of_events = bool(_EVENTS.search(text) or (_HAN.search(text) and _EASTERN_EVENTS.search(text)))
    return Clause(start, end, text, mood, _is_past(text, mood), is_of_events)


def _mood(text: str, *, is_question: bool) -> Mood:
    if _asks(text):
        return Mood.ASKS
    if _STATES.search(text) or (_HAN.search(text) and _EASTERN_STATES.search(text)):
        return Mood.STATES
    return Mood.ASKS if is_question else Mood.NAMES


def _asks(text: str) -> bool:
    if _HAN.search(text) and _EASTERN_ASKS.search(text):
        return True
    return bool(_OPENS_QUESTION.match(text) or _INVERTS.match(text) or _REQUESTS.search(text))


def _is_past(text: str, mood: Mood) -> bool:
    """Return whether a clause is about the past, by its auxiliaries, else by its verb or particle."""
    if _HAN.search(text) and _EASTERN_PAST.search(text):
        return True
    request = _REQUESTS.search(text)
    question = text[request.start("asked") :] if request and request["asked"] else text
    if _PAST_AUXILIARY.search(_DO_HAVE.sub(" ", question)):
        return True
    if mood is Mood.ASKS and _HAS_TENSE.search(question):
        return False
    return PAST.search(question) is not None
