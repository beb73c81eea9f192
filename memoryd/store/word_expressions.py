"""The query language of FTS5: terms and phrases as an expression behind MATCH.

Every word is quoted, so that none is read as syntax (AND, NEAR, `column:`, `^`, parentheses). Words hold no quotes: the
cut of `domain.text.words` leaves letters, digits and marks only. https://www.sqlite.org/fts5.html#full_text_query_syntax
"""

from collections.abc import Callable, Sequence

from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import Phrase, is_code, is_number, is_single

NAMES = "{heading path}"
"""The columns that name a chunk."""
RELEVANCE = "-bm25(chunk_words, 1.0, 1.0, 1.0, 0.25)"
"""BM25 by the columns body, heading, path and parts. Of parts a hint is enough: the identifier stands in the body."""


def one_of(term: str, dates: Sequence[WrittenDate] = ()) -> str:
    """Return the expression that finds a term, and of a code what begins with it too: all of it counts more.

    What holds a date holds the words that the question has for it.
    """
    found = f'("{term}" OR "{term}"*)' if is_code(term) else _whole(term)
    spelled = [_dated(day) for day in dates if term in day.words]
    return f"({' OR '.join([found, *spelled])})" if spelled else found


def any_of(terms: Sequence[str], phrases: Sequence[Phrase] = (), dates: Sequence[WrittenDate] = ()) -> str:
    """Return the expression that finds any of the terms, phrases and dates, empty without any.

    Of a date's words those that say nothing alone are left to it. Numbers count twice, since years tell paragraphs
    apart; codes do already. The last word of a phrase may go on: `2026-10` finds the days of that month.
    """
    loose = {word for day in dates for word in day.loose}
    telling = [term for term in terms if term not in loose]
    found = [one for term in telling for one in [one_of(term)] * (2 if is_number(term) else 1)]
    found += [f"{_following(words).rstrip('*')}*" for words in phrases]
    return " OR ".join([*found, *(one for day in dates for one in _weighed(day))])


def all_of(terms: Sequence[str], dates: Sequence[WrittenDate] = ()) -> tuple[str, ...]:
    """Return the expressions that find what holds all terms: each as it is given, and each at least begun so.

    One of them where they are the same; none for a single term of which both are what `any_of` finds. A date is held
    in the question's words or in another spelling.
    """
    found = dict.fromkeys(_all_by(each, terms, dates) for each in (_whole, one_of))
    return tuple(found) if len(terms) > 1 or len(found) > 1 else ()


def every_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds each of the phrases, empty without any."""
    return " AND ".join(map(_following, phrases))


def any_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds one of the phrases, empty without any."""
    return " OR ".join(map(_following, phrases))


def _all_by(each: Callable[[str], str], terms: Sequence[str], dates: Sequence[WrittenDate]) -> str:
    of_dates = {word for day in dates for word in day.words}
    found = [each(term) for term in terms if term not in of_dates]
    for day in dates:
        words = " AND ".join(each(term) for term in terms if term in day.words)
        found.append(f"(({words}) OR {_dated(day)})" if words else _dated(day))
    return " AND ".join(found)


def _weighed(day: WrittenDate) -> list[str]:
    """Return what finds a date, each as often as it counts.

    A day of a name counts three times, for itself and the two words that are left to it: a diary has as many notes
    about a matter as days, and one about the day.
    """
    names, sentences = any_phrase(day.in_names), any_phrase(day.in_sentences)
    return [names, *([_named(day)] * 2 if day.day else []), sentences]


def _dated(day: WrittenDate) -> str:
    """Find what holds a date, however it is written."""
    return f"({_named(day)} OR {any_phrase(day.in_sentences)})"


def _named(day: WrittenDate) -> str:
    """Find a date as names of files have it; without its year only in names, since in a text `05:04` is a time."""
    names = f"({any_phrase(day.in_names)})"
    return names if day.year else f"({NAMES} : {names})"


def _whole(term: str) -> str:
    """Find a term and not more than begins with it; a single sign without spaces begins the pairs of the index."""
    return f'"{term}"*' if is_single(term) else f'"{term}"'


def _following(words: Phrase) -> str:
    """Find the words one after the other; a single sign without spaces may begin the last."""
    return f'"{" ".join(words)}"{"*" if words and is_single(words[-1]) else ""}'
