"""Whether what a text model made of a message stands in it: in its language, with its words and numbers alone."""

import re
from typing import Final

from memoryd.domain.text.negations import statement_of
from memoryd.domain.text.words import STOP_WORDS

OTHER_LANGUAGE: Final = "it is in another language than the message"
FIRST_PERSON: Final = "it is not in the third person"
INVENTED: Final = "it says what the message does not"
INVERTED: Final = "it says the contrary of the message"
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[^\W\d_\u4e00-\u9fff]{3,}")
_NUMBER: Final = re.compile(r"\d+")
_CLAUSES: Final = re.compile(r"[,;:!?\n，；：。！？]|\.(?=\s|$)|\bbut\b|但是?")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i['’]m|my|me|mine|we|our)\b|[我咱]", re.IGNORECASE)
_TELLING: Final = frozenset(
    STOP_WORDS | {"user", "users", "person", "author", "named", "called", "name", "wants", "said", "one"}
)
"""What tells of somebody, in any message."""
_TELLING_SIGNS: Final = frozenset("用户的他她是在有叫名字为了把被和与其人住对会说这位者")
_STEM: Final = 4


def why_ungrounded(text: str, message: str) -> str:
    """Say why a memory does not follow from a message, by its words alone; empty if it may."""
    if bool(_HAN.search(text)) != bool(_HAN.search(message)):
        return OTHER_LANGUAGE
    if _FIRST_PERSON.search(text):
        return FIRST_PERSON
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(message)):
        return INVENTED
    said = {word[:_STEM] for word in _words(message)}
    told = {word[:_STEM] for word in _words(text) if word not in _TELLING}
    signs = set(_HAN.findall(text)) - _TELLING_SIGNS - set(_HAN.findall(message))
    if signs or not told <= said:
        return INVENTED
    return INVERTED if _is_inverted(text, message) else ""


def _is_inverted(text: str, message: str) -> bool:
    """Tell whether each clause that a memory may be of negates what the memory does not, or the other way round."""
    told = {word[:_STEM] for word in _words(text) if word not in _TELLING}
    signs = set(_HAN.findall(text)) - _TELLING_SIGNS
    shared = {one: _shared(one, told, signs) for one in _CLAUSES.split(message)}
    nearest = [one for one, count in shared.items() if count == max(shared.values())]
    is_negated = statement_of(text).is_negated
    return all(statement_of(one).is_negated != is_negated for one in nearest)


def _shared(clause: str, told: set[str], signs: set[str]) -> int:
    return len(told & {word[:_STEM] for word in _words(clause)}) + len(signs & set(_HAN.findall(clause)))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
