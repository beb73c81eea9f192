"""What a question asks for beside its words: `path:memory/2026* since:30d "exact phrase" -word -"two words"`.

What does not parse as a filter stays a word of the question, so that no question is an error. Phrases and minus signs
bind in keyword queries alone. In a sentence quotes name something (`who wrote "The Mayor"?`): there a phrase boosts
what holds it; and a minus belongs to the text (`what does rsync -archive do?`).

Neighbouring words such as `support group` are searched as a pair where the two are seldom seen together; else they say
what the rarer one says. Two names are no pair: names are side by side everywhere.

A long message has hundreds of words, each of which costs the index time, and most are of what is told around the
question; by place a question at the end would be lost. So the words of its questions are looked for, and beside them
those that are rare in the notes: what stands in none of them finds nothing, and what stands in many says little.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.text.dates import WrittenDate, dates_in
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import (
    MAX_PHRASE_WORDS,
    STOP_WORDS,
    UNSPACED_RUN,
    Phrase,
    joined_phrases,
    normalised,
    phrase_words,
    query_terms,
    spoken_words,
)

_PART = expression(
    r'(?<!\S)-(?P<unwanted>"[^"]*"|\u201c[^\u201d]*\u201d)'
    r'|(?P<quoted>"[^"]*"|\u201c[^\u201d]*\u201d)'
    r'|(?<!\S)(?P<key>path|source|since|until):(?P<value>"[^"]*"|[^\s"]+)'
    r"|(?<!\S)-(?P<excluded>[^\W\d_]\w{2,}|[^\W\d_\x00-\u2e7f]\w*)(?!\S)"
)
_QUESTION_MARK = expression("[?？]")
_SPACE = expression(r"\s+")
_SOURCES = frozenset({"memory", "sessions"})
MAX_COMPLETE_TERMS = 16
"""Of a question that a chunk may hold in full."""
MAX_EXCLUDED_WORDS = 16
"""Of one minus sign, as the index cuts it: pairs of characters where a script has no spaces."""

MAX_COUNTED = 512
"""Words of one message of which is asked how rare they are: of more the beginning and the end."""
ENOUGH_HOLDERS = 256
"""Chunks that hold a word, beyond which it is as usual as any other."""
SHARE_BESIDE = 0.5
"""Of the limit is filled where something is asked: what stands around a question only helps to find its matter."""
_SENTENCE = expression(r"[^.!?;。！？；\n]*+(?:\.(?!\s)[^.!?;。！？；\n]*+)*+(?P<end>[.!?;。！？；\n]|\Z)")
_ASKS = expression(
    r"\A\W*(?:and\s|but\s|so\s)?(?:what|which|who|whom|whose|why|how|(?:when|where)\s(?:do|did|does|is|are|was|were|will|can))"
    r"(?:'s|s)?\b|什么|甚麼|什麼|哪|谁|誰|多少|怎么|怎麼|如何|几[个點点号時时天年次岁]|[吗嗎]\s*\W?\Z",
    re.IGNORECASE,
)
"""A question without its mark; `when` and `where` often begin what is told."""


class LongMessage(Struct, frozen=True):
    """The distinct terms of a message that has more than `limit`, in order; `asked` are those of its questions."""

    terms: tuple[str, ...]
    asked: frozenset[str]
    limit: int

    def by_place(self) -> tuple[str, ...]:
        """Return those to look for where nobody knows the notes: what is asked, and else the first ones."""
        return self._in_order(set(sorted(self.terms, key=lambda term: term not in self.asked)[: self.limit]))

    def by_rarity(self, holders: Mapping[str, int]) -> tuple[str, ...]:
        """Return those to look for in notes of which so many chunks hold each; what stands in none is left out."""
        known = [term for term in self.terms if holders.get(term)]
        room = self.limit if not self.asked else max(1, int(self.limit * SHARE_BESIDE))
        asked = [term for term in known if term in self.asked][: self.limit]
        others = sorted((term for term in known if term not in self.asked), key=lambda term: holders[term])
        return self._in_order({*asked, *others[: max(0, room - len(asked))]}) or self.by_place()

    def _in_order(self, chosen: set[str]) -> tuple[str, ...]:
        return tuple(term for term in self.terms if term in chosen)


def long_message(text: str, terms: Sequence[str], limit: int) -> LongMessage | None:
    """Return the terms of a text as what to choose from; None where there are no more than may be looked for."""
    if len(terms) <= limit:
        return None
    most = max(limit, MAX_COUNTED)
    counted = terms if len(terms) <= most else [*terms[: most // 2], *terms[-(most - most // 2) :]]
    asked = query_terms(questions_in(text), limit=len(text) + 1)
    return LongMessage(tuple(counted), frozenset(counted).intersection(asked), limit)


def questions_in(text: str) -> str:
    """Return the sentences of a text that end with a question mark; without any those that have a word of questions."""
    sentences = list(_SENTENCE.finditer(text))
    marked = [match[0] for match in sentences if match["end"] in ("?", "？")]
    return "\n".join(marked or [match[0] for match in sentences if _ASKS.search(match[0])])


class Question(Struct, frozen=True):
    """A question taken apart. `terms`, `joined` and `dates` are looked for, `phrases` required, `excluded` forbidden.

    Of several words, those are forbidden where they follow each other, whatever signs are between.
    """

    text: str
    language: str = ""
    """Its code as of `language_of`; empty if unknown."""
    terms: tuple[str, ...] = ()
    joined: tuple[Phrase, ...] = ()
    dates: tuple[WrittenDate, ...] = ()
    neighbours: tuple[Phrase, ...] = ()
    """Words that lift what has them side by side, and find nothing."""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    plain_phrases: tuple[str, ...] = ()
    """The phrases in the spelling in which texts are compared with them."""
    filters: Filters = Filters()
    long: LongMessage | None = None
    """What there is to choose `terms` from, where they are not all; until somebody has, they are so by their place."""

    @property
    def is_narrowed(self) -> bool:
        """Whether some chunks of the admitted documents may not answer."""
        return bool(self.phrases or self.excluded)

    @property
    def complete(self) -> tuple[str, ...]:
        """The terms of which a chunk may hold all; none if they are many.

        To look for those in full would cost twice as much, and is seldom met.
        """
        return self.terms if len(self.terms) <= MAX_COMPLETE_TERMS else ()

    @property
    def required(self) -> tuple[Phrase, ...]:
        """What a chunk must hold before it is read for its phrases: the beginning of each."""
        return tuple(tuple(phrase_words(phrase)[:MAX_PHRASE_WORDS]) for phrase in self.phrases)

    @property
    def forbidden(self) -> tuple[Phrase, ...]:
        """What a chunk must not hold."""
        return tuple(tuple(phrase_words(word)) for word in self.excluded)

    def admits(self, texts: Sequence[str]) -> bool:
        """Tell whether each phrase stands in one of the texts, whatever its case, accents and line breaks."""
        # most stand there in so many words; to fold a text costs more
        plain = [text.lower() for text in texts if text.isascii()]
        missing = [phrase for phrase in self.plain_phrases if not any(phrase in text for text in plain)]
        folded = [_plain(text) for text in texts] if missing else []
        return all(any(phrase in text for text in folded) for phrase in missing)

    def allows(self, texts: Sequence[str]) -> bool:
        """Tell the same of phrases and excluded words, for engines that cannot be asked for either."""
        if not self.admits(texts):
            return False
        spoken = [tuple(phrase_words(text)) for text in texts] if self.excluded else []
        return not any(
            words[at : at + len(phrase)] == phrase
            for words in spoken
            for phrase in self.forbidden
            for at in range(len(words) - len(phrase) + 1)
        )


def parse_question(text: str, filters: Filters, now: datetime, *, limit: int = 64) -> Question:
    """Take a question apart; its filters narrow `filters`. `limit` is the most terms that are looked for.

    There are no more phrases either, and no more exclusions: what is beyond stays text. `path:` may be given several
    times, and any of them may hold. Quotes need a word between them, and a minus sign quotes or three letters behind it
    (one, in scripts without spaces), so that `-5` and `ls -l` stay what they are. Minus signs count only beside
    something to look for.
    """
    rest = _PART.sub(" ", text)
    # keywords: beside its parts no question mark, and no word that says nothing alone
    is_keyword_query = not _QUESTION_MARK.search(rest) and STOP_WORDS.isdisjoint(spoken_words(rest))
    parts = _Parts(limit=limit, can_exclude=is_keyword_query)
    bare = _PART.sub(lambda match: parts.left_of(match, now), text)
    asked = _SPACE.sub(" ", bare).strip()
    if parts.excluded and not spoken_words(asked):
        asked, parts.excluded = " ".join([asked, *parts.excluded]).strip(), []
    dates = dates_in(asked)
    spelled = {spelling for day in dates for spelling in day.in_names}
    joined = [words for words in joined_phrases(asked) if words not in spelled]
    if not is_keyword_query:
        named = (tuple(phrase_words(phrase)) for phrase in parts.phrases)
        joined += [words for words in named if 1 < len(words) <= MAX_PHRASE_WORDS]
        parts.phrases = []
    terms = query_terms(asked, limit=len(asked) + 1)
    long = long_message(asked, terms, limit)
    return Question(
        text=asked,
        language=language_of(asked),
        terms=tuple(terms) if long is None else long.by_place(),
        joined=tuple(dict.fromkeys(joined))[:limit],
        dates=dates,
        neighbours=neighbours_in(questions_in(asked) if long is not None and long.asked else asked),
        phrases=tuple(parts.phrases),
        excluded=tuple(parts.excluded),
        plain_phrases=tuple(_plain(phrase) for phrase in parts.phrases),
        filters=_narrowed(filters, parts),
        long=long,
    )


class _Parts:
    """What is found while a question is read: no more than `limit` phrases, nor exclusions if they may stand there."""

    def __init__(self, *, limit: int, can_exclude: bool) -> None:
        self._limit = limit
        self._can_exclude = can_exclude
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self.paths: list[str] = []
        self.sources: list[str] = []
        self.since: datetime | None = None
        self.until: datetime | None = None

    def left_of(self, match: TextMatch, now: datetime) -> str:
        """Keep a part of the question; return what it leaves there: all of it if it is no filter, else a phrase."""
        if match["quoted"]:
            phrase = match["quoted"][1:-1].strip()
            if len(self.phrases) == self._limit or not spoken_words(phrase):
                return match[0]
            self.phrases.append(phrase)
            return f" {phrase} "
        if match["key"]:
            return " " if self._take_value(match["key"], match["value"].strip('"'), now) else match[0]
        word = match["excluded"] or match["unwanted"][1:-1].strip()
        has_room = self._can_exclude and len(self.excluded) < self._limit
        if not has_room or not 0 < len(phrase_words(word)) <= MAX_EXCLUDED_WORDS:
            return match[0]
        self.excluded.append(word)
        return " "

    def _take_value(self, key: str, value: str, now: datetime) -> bool:
        try:
            match key:
                case "path" if value:
                    self.paths.append(value)
                case "source" if value in _SOURCES:
                    self.sources.append(value)
                case "since":
                    self.since = parse_instant(value, now)
                case "until":
                    self.until = parse_instant(value, now, is_end=True)
                case _:
                    return False
        except ValueError:
            return False
        return True


def _narrowed(filters: Filters, parts: _Parts) -> Filters:
    sources = tuple(filters.sources or parts.sources)
    if parts.sources:
        # what both admit; no source is called by the empty name
        sources = tuple(source for source in sources if source in parts.sources) or ("",)
    return replace(
        filters,
        since=max(filter(None, (filters.since, parts.since)), default=None),
        until=min(filter(None, (filters.until, parts.until)), default=None),
        within=filters.within + ((tuple(parts.paths),) if parts.paths else ()),
        sources=sources,
    )


def _plain(text: str) -> str:
    return _SPACE.sub(" ", normalised(text)).casefold()


SHARE = 0.2
"""Of the BM25 of the neighbours counts beside that of the words."""
MAX_TOGETHER = 0.5
"""Of the chunks of the rarer word that hold them side by side."""
MAX_NEIGHBOURS = 8
"""Pairs of one question: each costs the index a phrase."""
_WORD = expression(r"[^\W_]+")


def neighbours_in(question: str) -> tuple[Phrase, ...]:
    """Return the pairs of words with nothing but a space between, without words that say nothing alone.

    Scripts without spaces have none: the index cuts them into pairs as they are.
    """
    text = normalised(question)
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    found = (
        (one.lower(), two.lower())
        for (one, _, end), (two, start, _) in itertools.pairwise(words)
        if text[end:start].isspace() and _tells(one) and _tells(two) and not (one[0].isupper() and two[0].isupper())
    )
    return tuple(itertools.islice(dict.fromkeys(found), MAX_NEIGHBOURS))


def least_apart(together: int) -> int:
    """Return how many chunks must hold each of two words, which so many hold side by side, that this says more."""
    return math.ceil(together / MAX_TOGETHER)


def _tells(word: str) -> bool:
    return len(word) > 1 and word.lower() not in STOP_WORDS and UNSPACED_RUN.search(word) is None
