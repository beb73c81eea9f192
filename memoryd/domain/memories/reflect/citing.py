"""Whether a sentence that a text model wrote rests on the facts that it cites, as far as words tell.

It may have words of its own, but fewer than of its facts, and no name or number.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import expression, word_set
from memoryd.domain.text.words import Statement, statement_of

SENTENCE_CHARACTERS: Final = 300
"""A sentence that is as long ends where its room does."""
_ID: Final = expression(r"(?<![0-9a-zA-Z])[0-9a-f]{8}(?![0-9a-zA-Z])")
_NUMBER: Final = expression(r"[0-9]+")
_MARK_UP: Final = ("<", ">", "[", "]", "`", "\u2028", "\u2029", "\ufffd")
"""What could make a comment, a link, a marker of generated text or another line of a sentence, or is no character."""
_BULLET: Final = expression(r"\s*(?:[-*+#>|=~]|[0-9]+[.)]\s)")
"""How a sentence does not begin: as a bullet, a heading or a quotation."""
_NAME: Final = expression(r"(?<=[\w,;] )[^\W\d_\u4e00-\u9fff]{3,}")
"""A word inside a sentence, which is a name if it begins with a capital letter."""
_NOBODY: Final = word_set("user users 用户")
"""Of whom facts and sentences are, whatever they say."""
_STEM: Final = 4
"""Characters by which words of one meaning are taken for one: `move` and `moved`."""


class CitedFact(Struct, frozen=True):
    """A fact that may be told, by the id that it is cited with."""

    id: str
    text: str


class CitedSentence(Struct, frozen=True):
    """A sentence, and the ids of the facts that it rests on: at least one."""

    text: str
    ids: tuple[str, ...]


def fault_of(sentence: CitedSentence, facts: Sequence[CitedFact]) -> str:
    """Return why a sentence is refused; empty if it may stand: it is whole, without mark-up, and cites given facts, on
    which it rests with each of its numbers."""
    given = {fact.id: fact.text for fact in facts}
    if not sentence.ids or not given.keys() >= set(sentence.ids):
        return "it cites no fact, or one that was not given"
    if not sentence.text.isprintable() or any(mark in sentence.text for mark in _MARK_UP):
        return "it holds a line break, mark-up or what is no character"
    if not sentence.text or _BULLET.match(sentence.text):
        return "it is no sentence"
    if len(sentence.text) >= SENTENCE_CHARACTERS:
        return "it is cut off"
    if _ID.search(sentence.text):
        return "it has an id in its text"
    cited = {number for one in sentence.ids for number in _NUMBER.findall(given[one])}
    if not set(_NUMBER.findall(sentence.text)) <= cited:
        return "it holds a number that stands in none of its facts"
    return _why_unsupported(sentence.text, [given[one] for one in sentence.ids])


def supporting_ids(sentence: str, cites: Iterable[str], facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """Return the ids that a sentence cites, each once, without those of facts that it has no word of."""
    own = _stems(statement_of(sentence))
    unrelated = {fact.id for fact in facts if own.isdisjoint(_stems(statement_of(fact.text)))}
    return tuple(one for one in dict.fromkeys(cites) if one not in unrelated)


def _why_unsupported(sentence: str, facts: Iterable[str]) -> str:
    own, stated = statement_of(sentence), [statement_of(fact) for fact in facts]
    stems, told = _stems(own), set[str]().union(*map(_stems, stated))
    if 2 * len(stems & told) < len(stems):
        return "most of its words stand in none of its facts"
    names = {name.casefold()[:_STEM] for name in _NAME.findall(sentence) if name[0].isupper()}
    if names & stems - told:
        return "it names what stands in none of its facts"
    if all(fact.is_negated != own.is_negated for fact in stated):
        return "it says the contrary of its facts"
    return ""


def _stems(statement: Statement) -> set[str]:
    return {word[:_STEM] for word in statement.words - _NOBODY}
