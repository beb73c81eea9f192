"""The query language of FTS5: terms and phrases as an expression behind MATCH.

Every word is quoted, so that none is read as syntax (AND, NEAR, `column:`, `^`, parentheses). Words hold no quotes: the
cut of `domain.text.words` leaves letters, digits and marks only. https://www.sqlite.org/fts5.html#full_text_query_syntax
"""

from collections.abc import Sequence

from memoryd.domain.text.words import Phrase, is_code, is_single


def one_of(term: str) -> str:
    """Return the expression that finds a term, and of a code what begins with it too: all of it counts more."""
    return f'("{term}" OR "{term}"*)' if is_code(term) else _whole(term)


def any_of(terms: Sequence[str], phrases: Sequence[Phrase] = ()) -> str:
    """Return the expression that finds any of the terms and phrases, empty without any.

    The last word of a phrase may go on: `2026-10` finds the days of that month.
    """
    return " OR ".join([*map(one_of, terms), *(f"{_following(words).rstrip('*')}*" for words in phrases)])


def all_of(terms: Sequence[str]) -> tuple[str, ...]:
    """Return the expressions that find what holds all terms: each as it is given, and each at least begun so.

    One of them where they are the same; none for a single term of which both are what `any_of` finds.
    """
    found = dict.fromkeys(" AND ".join(map(each, terms)) for each in (_whole, one_of))
    return tuple(found) if len(terms) > 1 or len(found) > 1 else ()


def every_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds each of the phrases, empty without any."""
    return " AND ".join(map(_following, phrases))


def any_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds one of the phrases, empty without any."""
    return " OR ".join(map(_following, phrases))


def _whole(term: str) -> str:
    """Find a term and not more than begins with it; a single sign without spaces begins the pairs of the index."""
    return f'"{term}"*' if is_single(term) else f'"{term}"'


def _following(words: Phrase) -> str:
    """Find the words one after the other; a single sign without spaces may begin the last."""
    return f'"{" ".join(words)}"{"*" if words and is_single(words[-1]) else ""}'
