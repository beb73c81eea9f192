"""What a question asks for beside its words: `path:memory/2026* since:30d "exact phrase" -word`.

What does not read as a filter stays a word of the question, so that no question is an error. In a sentence quotes name
something ("who wrote "The Mayor"?"): there a phrase lifts what holds it, and excludes nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memoryd.domain.filters import Filters, parse_instant
from memoryd.domain.words import (
    MAX_PHRASE_WORDS,
    STOP_WORDS,
    joined_phrases,
    match_expression,
    normalised,
    phrase_expression,
    phrase_words,
    query_terms,
)

_PART = re.compile(
    r'(?P<quoted>"[^"]*"|\u201c[^\u201d]*\u201d)'
    r'|(?<!\S)(?P<key>path|source|since|until):(?P<value>"[^"]*"|[^\s"]+)'
    r"|(?<!\S)-(?P<excluded>[^\W\d_]\w{2,}|[^\W\d_\x00-\u2e7f]\w*)(?!\S)"
)
_QUESTION_MARK = re.compile("[?？]")
_SPACE = re.compile(r"\s+")
_SOURCES = frozenset({"memory", "sessions"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `terms` and `joined` are looked for, `phrases` required, `excluded` forbidden."""

    text: str
    terms: tuple[str, ...] = ()
    joined: tuple[tuple[str, ...], ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)

    @property
    def is_narrowed(self) -> bool:
        """Whether some chunks of the admitted documents may not answer."""
        return bool(self.phrases or self.excluded)

    @property
    def expression(self) -> str:
        """What the keyword index is asked; empty if there is no word."""
        return match_expression(self.terms, self.joined)

    @property
    def required(self) -> str:
        """What the keyword index must find in a chunk before it is read for its phrases."""
        return " AND ".join(phrase_expression(phrase_words(phrase)) for phrase in self.phrases)

    @property
    def forbidden(self) -> str:
        """What the keyword index must not find in a chunk."""
        return " OR ".join(phrase_expression(phrase_words(word)) for word in self.excluded)

    def admits(self, texts: Sequence[str]) -> bool:
        """Tell whether each phrase stands in one of the texts, whatever its case, accents and line breaks."""
        plain = [_plain(text) for text in texts]
        return all(any(_plain(phrase) in text for text in plain) for phrase in self.phrases)

    def allows(self, texts: Sequence[str]) -> bool:
        """Tell the same of phrases and excluded words, for engines that cannot be asked for either."""
        return self.admits(texts) and not any(_holds_word(text, word) for text in texts for word in self.excluded)


def _holds_word(text: str, word: str) -> bool:
    spoken, wanted = phrase_words(text), phrase_words(word)
    return any(spoken[at : at + len(wanted)] == wanted for at in range(len(spoken) - len(wanted) + 1))


def parse_question(text: str, filters: Filters, now: datetime, *, limit: int = 64) -> Question:
    """Take a question apart; its filters narrow `filters`. `limit` is the most terms that are looked for.

    A phrase is required unless the rest is a sentence: it has a question mark or a word that says nothing alone, as
    `the` or `did`. `path:` may be given several times, and any of them may hold. Quotes need a word between them, and
    a minus sign three letters behind it (one, in scripts without spaces), so that `-5` and `ls -l` stay what they are.
    Minus signs count only beside something to look for.
    """
    parts = _Parts()
    bare = _PART.sub(lambda match: _left_of(match, parts, now), text)
    asked = _SPACE.sub(" ", bare).strip()
    if not phrase_words(asked):
        asked, parts.excluded = " ".join([asked, *parts.excluded]).strip(), []
    joined = joined_phrases(asked)
    is_sentence = bool(parts.phrases) and _is_sentence(_PART.sub(" ", text))
    if is_sentence:
        named = (tuple(phrase_words(phrase)) for phrase in parts.phrases)
        joined += [words for words in named if 1 < len(words) <= MAX_PHRASE_WORDS]
    return Question(
        text=asked,
        terms=tuple(query_terms(asked, limit=limit)),
        joined=tuple(dict.fromkeys(joined))[:limit],
        phrases=() if is_sentence else tuple(parts.phrases),
        excluded=tuple(parts.excluded),
        filters=_narrowed(filters, parts),
    )


class _Parts:
    """What is found while a question is read."""

    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self.paths: list[str] = []
        self.sources: list[str] = []
        self.since: datetime | None = None
        self.until: datetime | None = None

    def take(self, match: re.Match[str], now: datetime) -> bool:
        """Keep what was matched; False if it is no filter after all."""
        if match["quoted"]:
            phrase = match["quoted"][1:-1].strip()
            self.phrases += [phrase] if phrase_words(phrase) else []
            return bool(phrase_words(phrase))
        if match["excluded"]:
            self.excluded.append(match["excluded"])
            return True
        return self._take_value(match["key"], match["value"].strip('"'), now)

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
        except (ValueError, OverflowError):
            return False
        return True


def _left_of(match: re.Match[str], parts: _Parts, now: datetime) -> str:
    """Return what a part leaves in the question: all of it, the words of a phrase, or nothing."""
    if not parts.take(match, now):
        return match[0]
    return f" {parts.phrases[-1]} " if match["quoted"] else " "


def _is_sentence(text: str) -> bool:
    return bool(_QUESTION_MARK.search(text)) or not STOP_WORDS.isdisjoint(phrase_words(text))


def _narrowed(filters: Filters, parts: _Parts) -> Filters:
    since = max((one for one in (filters.since, parts.since) if one is not None), default=None)
    until = min((one for one in (filters.until, parts.until) if one is not None), default=None)
    return replace(
        filters,
        since=since,
        until=until,
        within=filters.within + ((tuple(parts.paths),) if parts.paths else ()),
        sources=_both(filters.sources, parts.sources),
    )


def _both(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Return what both admit; nothing given admits all, and no source is called by the empty name."""
    if not first or not second:
        return tuple(first or second)
    return tuple(one for one in first if one in second) or ("",)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", normalised(text)).casefold()
