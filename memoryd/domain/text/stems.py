"""What the word index holds of words beside themselves, so that a question finds other forms of what it says.

FTS5 stems every word as Porter did for English (https://www.sqlite.org/fts5.html#porter_tokenizer). Two things are made
of it here:

- Some words are not to be stemmed: *his* becomes *hi*, and *use* becomes *us*. Of each such pair one word gets a MARK
  at its end, which the stemmer leaves alone.
- Words of other languages have a second stem, by Snowball (https://snowballstem.org), where it is another one than
  Porter's. What a word finds without it is found as before.

Accents are gone before a word is stemmed, since many do not type them. Of the pairs of forms that Snowball brings
together with accents it still does so with all in German, and with nine in ten in Spanish.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from memoryd.domain.expressions import expression
from memoryd.domain.text.words import STOP_WORDS

MARK = "\ue000"
"""Of the private use area: part of a word for FTS5, and in nobody's notes."""
STEMMERS = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
"""The languages beside English that are stemmed, and how Snowball calls them."""
LEAST_LETTERS = 4
"""Of a word that these stem: a shorter one would lose what it means."""
_LEAST_LETTERS_LEFT = 3

_NOT_STEMMED = expression(
    # what stands before is taken, not looked back at: from there on most of a text is skipped
    r"[\W_](?:a(?:[ceghlprtuwy]|ndes|te)|b(?:[aiouy]|ios)|c(?:[aeiou]|ms)|d(?:[aei]|os)|e[adfhlmnprstvwxy]"
    r"|f(?:[aei]|ps|ri)|g(?:[aei]|ps|ui)|h(?:[aio]|ar|erring)|i(?:[acilor]|de)|j[aou]|k[aiou]|l(?:[aeiouy]|en)"
    r"|m(?:[aiou]|rs)|n(?:[aeiuy]|eg|ews)|o[bcdhklmvwxy]|p[aeiou]|r(?:[aiou]|el)|s(?:[aeiuy]|ed|kies|ms|os|pi)"
    r"|t(?:[aeiuy]|hus|os|ri)|u(?:[bhklmnrst]|ps)|v[aeiou]|w(?:[aioy]|ed|it)|x[aeiou]|y[aeou]|z[aeiou])(?![^\W_])"
)
"""Words of two letters that are the stem of others that mean something else, and words with the stem of such another:
hi and his, US and use, new and news, guy and GUI. Not *ad*, *go* and their like, whose other forms are their own."""
_ENDINGS = {
    "fr": (expression(r"ees?\Z"), "e"),
    "pt": (expression(r"[ao]es\Z"), "ao"),
}
"""Endings that Snowball knows by their accents (née, ações), and what it makes the same of."""
_LETTERS = expression(rf"(?<![^\W_])[^\W\d_]{{{LEAST_LETTERS},}}(?![^\W_])")


def marked(text: str) -> str:
    """Return a text with marks at the words that FTS5 is not to stem, which are known in lower case."""
    return _NOT_STEMMED.sub(rf"\g<0>{MARK}", f" {text}")[1:]


def stems_of(text: str, language: str) -> list[str]:
    """Return the stems that the words of a text have in a language beside those of FTS5, in order; none for others.

    The text is in lower case, cut and spelled as `index_text` does. `language` is a code as of `language_of`.
    """
    if language not in STEMMERS:
        return []
    words = _LETTERS.findall(text)
    if language in _ENDINGS:
        ending, other = _ENDINGS[language]
        words = [ending.sub(other, word) for word in words]
    english = _stemmer("porter")
    found = _stemmer(STEMMERS[language])(words)
    both = zip(found, english(words), english(found), strict=True)
    return [stem for stem, plain, again in both if plain != again and len(stem) >= _LEAST_LETTERS_LEFT]


def stems_asked(word: str, languages: Sequence[str]) -> list[str]:
    """Return the stems by which a word of a question is looked for, too, each once; none that many notes hold."""
    found = [stem for language in languages for stem in stems_of(word, language) if stem not in STOP_WORDS]
    return list(dict.fromkeys(found))


@cache
def _stemmer(name: str) -> Callable[[Sequence[str]], list[str]]:
    # an English workspace needs none
    from Stemmer import Stemmer

    # the second argument: it is to remember no words, which are of somebody's notes
    return cast(Callable[[Sequence[str]], list[str]], Stemmer(name, 0).stemWords)
