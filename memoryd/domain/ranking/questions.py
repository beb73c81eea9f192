"""Parsing of questions with filters: `path:memory/2026* since:30d "exact phrase" -word -"two words"`.

Text that does not parse as a filter stays part of the question, so that no question is an error. Phrases are required
and excluded words forbidden in keyword queries alone. In a sentence, quotes name something (`who wrote "The Mayor"?`):
there a phrase boosts the chunks that contain it, and a minus belongs to the text (`what does rsync -archive do?`).

Neighbouring words such as `support group` are searched as a pair if the two are seldom side by side; otherwise the pair
says only what its rarer word says. Two names are not a pair: names are side by side everywhere.

A long message has hundreds of words. Each costs the index time, and most belong to the text around the question; a
limit by position would cut off a question at the end. So the words of its questions are searched, and with them those
that are rare in the notes: a word in no note matches nothing, and a word in many says little.
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
"""Most terms of a question for which complete matches are searched."""
MAX_EXCLUDED_WORDS = 16
"""Most words of one exclusion, as the index splits them: character pairs in scripts without spaces."""

MAX_COUNTED = 512
"""Most words of one message whose rarity is looked up; of a longer message, those at its beginning and its end."""
ENOUGH_HOLDERS = 256
"""Number of chunks with a word above which all words count as equally common."""
SHARE_BESIDE = 0.5
"""Share of the limit that is filled if the message asks something: text around a question only gives its topic."""
_SENTENCE = expression(r"[^.!?;。！？；\n]*+(?:\.(?!\s)[^.!?;。！？；\n]*+)*+(?P<end>[.!?;。！？；\n]|\Z)")
_ASKS = expression(
    r"\A\W*(?:and\s|but\s|so\s)?(?:what|which|who|whom|whose|why|how|(?:when|where)\s(?:do|did|does|is|are|was|were|will|can))"
    r"(?:'s|s)?\b|什么|甚麼|什麼|哪|谁|誰|多少|怎么|怎麼|如何|几[个點点号時时天年次岁]|[吗嗎]\s*\W?\Z",
    re.IGNORECASE,
)
"""A question without its mark; `when` and `where` need a verb, since they often begin statements."""


class LongMessage(Struct, frozen=True):
    """Distinct terms, in order, of a message with more than `limit`; `question_terms` are those of its questions."""

    terms: tuple[str, ...]
    question_terms: frozenset[str]
    limit: int

    def by_place(self) -> tuple[str, ...]:
        """Return the terms to search if their rarity is unknown: those of the questions, then the first others."""
        return self._in_order(set(sorted(self.terms, key=lambda term: term not in self.question_terms)[: self.limit]))

    def by_rarity(self, holders: Mapping[str, int]) -> tuple[str, ...]:
        """Return the terms to search, given the number of chunks with each; terms in no chunk are left out."""
        known = [term for term in self.terms if holders.get(term)]
        room = self.limit if not self.question_terms else max(1, int(self.limit * SHARE_BESIDE))
        in_questions = [term for term in known if term in self.question_terms][: self.limit]
        others = sorted((term for term in known if term not in self.question_terms), key=lambda term: holders[term])
        return self._in_order({*in_questions, *others[: max(0, room - len(in_questions))]}) or self.by_place()

    def _in_order(self, chosen: set[str]) -> tuple[str, ...]:
        return tuple(term for term in self.terms if term in chosen)


def long_message(text: str, terms: Sequence[str], limit: int) -> LongMessage | None:
    """Return the terms of a text to choose from; None for at most `limit` terms."""
    if len(terms) <= limit:
        return None
    most = max(limit, MAX_COUNTED)
    counted = terms if len(terms) <= most else [*terms[: most // 2], *terms[-(most - most // 2) :]]
    question_terms = query_terms(questions_in(text), limit=len(text) + 1)
    return LongMessage(tuple(counted), frozenset(counted).intersection(question_terms), limit)


def questions_in(text: str) -> str:
    """Return the sentences of a text that end with a question mark; if none does, those with a question word."""
    sentences = list(_SENTENCE.finditer(text))
    marked = [match[0] for match in sentences if match["end"] in ("?", "？")]
    return "\n".join(marked or [match[0] for match in sentences if _ASKS.search(match[0])])


class Question(Struct, frozen=True):
    """A parsed question. `terms`, `joined` and `dates` are searched, `phrases` required, `excluded` forbidden.

    An exclusion of several words forbids them in sequence, with any punctuation between them.
    """

    text: str
    language: str = ""
    """Code returned by `language_of`; empty if unknown."""
    terms: tuple[str, ...] = ()
    joined: tuple[Phrase, ...] = ()
    dates: tuple[WrittenDate, ...] = ()
    neighbours: tuple[Phrase, ...] = ()
    """Word pairs that boost chunks with both side by side, without matching chunks themselves."""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    plain_phrases: tuple[str, ...] = ()
    """`phrases` normalised for comparison."""
    filters: Filters = Filters()
    long: LongMessage | None = None
    """All terms of a long message, from which `terms` can be chosen by rarity; until then they are chosen by place."""

    @property
    def is_narrowed(self) -> bool:
        """Whether phrases or exclusions may reject chunks of admitted documents."""
        return bool(self.phrases or self.excluded)

    @property
    def complete(self) -> tuple[str, ...]:
        """Terms for which chunks with all of them are searched; empty for more than MAX_COMPLETE_TERMS.

        For many terms that search would double the cost, and few chunks contain them all.
        """
        return self.terms if len(self.terms) <= MAX_COMPLETE_TERMS else ()

    @property
    def required(self) -> tuple[Phrase, ...]:
        """Beginning of each phrase, which a chunk must contain before its text is compared with the phrases."""
        return tuple(tuple(phrase_words(phrase)[:MAX_PHRASE_WORDS]) for phrase in self.phrases)

    @property
    def forbidden(self) -> tuple[Phrase, ...]:
        """Word sequences that a chunk must not contain."""
        return tuple(tuple(phrase_words(word)) for word in self.excluded)

    def has_phrases(self, texts: Sequence[str]) -> bool:
        """Return whether each phrase occurs in one of the texts, ignoring case, accents and line breaks."""
        # Most phrases occur literally; the normalisation costs more.
        plain = [text.lower() for text in texts if text.isascii()]
        missing = [phrase for phrase in self.plain_phrases if not any(phrase in text for text in plain)]
        folded = [_plain(text) for text in texts] if missing else []
        return all(any(phrase in text for text in folded) for phrase in missing)

    def fits(self, texts: Sequence[str]) -> bool:
        """Return whether the texts have all phrases and no exclusion, for engines that can filter by neither."""
        if not self.has_phrases(texts):
            return False
        spoken = [tuple(phrase_words(text)) for text in texts] if self.excluded else []
        return not any(
            words[at : at + len(phrase)] == phrase
            for words in spoken
            for phrase in self.forbidden
            for at in range(len(words) - len(phrase) + 1)
        )


def parse_question(text: str, filters: Filters, now: datetime, *, limit: int = 64) -> Question:
    """Parse a question; its filters narrow `filters`. `limit` is the maximum number of terms to search.

    It also limits the phrases and the exclusions; any further ones stay text. `path:` may be repeated, and one of the
    patterns must match. Quotes must contain a word, and a minus sign must precede quotes or three letters (one, in
    scripts without spaces), so that `-5` and `ls -l` stay text. Exclusions count only beside words to search.
    """
    rest = _PART.sub(" ", text)
    # a keyword query: apart from its filters it has no question mark and no stop word
    is_keyword_query = not _QUESTION_MARK.search(rest) and STOP_WORDS.isdisjoint(spoken_words(rest))
    parts = _Parts(limit=limit, can_exclude=is_keyword_query)
    bare = _PART.sub(lambda match: parts.take(match, now), text)
    question = _SPACE.sub(" ", bare).strip()
    if parts.excluded and not spoken_words(question):
        question, parts.excluded = " ".join([question, *parts.excluded]).strip(), []
    dates = dates_in(question)
    spelled = {spelling for day in dates for spelling in day.file_name_spellings}
    joined = [words for words in joined_phrases(question) if words not in spelled]
    if not is_keyword_query:
        named = (tuple(phrase_words(phrase)) for phrase in parts.phrases)
        joined += [words for words in named if 1 < len(words) <= MAX_PHRASE_WORDS]
        parts.phrases = []
    terms = query_terms(question, limit=len(question) + 1)
    long = long_message(question, terms, limit)
    return Question(
        text=question,
        language=language_of(question),
        terms=tuple(terms) if long is None else long.by_place(),
        joined=tuple(dict.fromkeys(joined))[:limit],
        dates=dates,
        neighbours=neighbours_in(questions_in(question) if long is not None and long.question_terms else question),
        phrases=tuple(parts.phrases),
        excluded=tuple(parts.excluded),
        plain_phrases=tuple(_plain(phrase) for phrase in parts.phrases),
        filters=_narrowed(filters, parts),
        long=long,
    )


class _Parts(Struct):
    """Filters, phrases and exclusions collected while a question is parsed; `limit` bounds phrases and exclusions."""

    limit: int
    can_exclude: bool
    phrases: list[str] = []
    excluded: list[str] = []
    paths: list[str] = []
    sources: list[str] = []
    since: datetime | None = None
    until: datetime | None = None

    def take(self, match: TextMatch, now: datetime) -> str:
        """Store a part of the question; return its replacement: a phrase, a space, or the text if it is no filter."""
        if match["quoted"]:
            phrase = match["quoted"][1:-1].strip()
            if len(self.phrases) == self.limit or not spoken_words(phrase):
                return match[0]
            self.phrases.append(phrase)
            return f" {phrase} "
        if match["key"]:
            return " " if self._take_value(match["key"], match["value"].strip('"'), now) else match[0]
        word = match["excluded"] or match["unwanted"][1:-1].strip()
        has_room = self.can_exclude and len(self.excluded) < self.limit
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
        # the sources that both admit; if there are none, the empty name, which no source has
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


NEIGHBOUR_SHARE = 0.2
"""Share of the BM25 of neighbour pairs that is added to the BM25 of the words."""
MAX_TOGETHER = 0.5
"""Largest share of the rarer word's chunks with the pair side by side, for a pair to be searched."""
MAX_NEIGHBOURS = 8
"""Most pairs of one question: each costs the index a phrase query."""
_WORD = expression(r"[^\W_]+")


def neighbours_in(question: str) -> tuple[Phrase, ...]:
    """Return the pairs of words separated only by white space, in lower case, without stop words.

    Scripts without spaces have none: the index splits them into character pairs anyway.
    """
    text = normalised(question)
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    pairs = (
        (first.lower(), second.lower())
        for (first, _, end), (second, start, _) in itertools.pairwise(words)
        if text[end:start].isspace()
        and _is_significant(first)
        and _is_significant(second)
        and not (first[0].isupper() and second[0].isupper())
    )
    return tuple(itertools.islice(dict.fromkeys(pairs), MAX_NEIGHBOURS))


def min_holders(together: int) -> int:
    """Return how many chunks must contain each of two words for the pair to count, if `together` contain the pair."""
    return math.ceil(together / MAX_TOGETHER)


def _is_significant(word: str) -> bool:
    return len(word) > 1 and word.lower() not in STOP_WORDS and UNSPACED_RUN.search(word) is None
