"""Whether what a text model made of a message stands in it: in its language, with its words and numbers alone."""

import re
from typing import Final

from memoryd.domain.text.words import STOP_WORDS

OTHER_LANGUAGE: Final = "it is in another language than the message"
FIRST_PERSON: Final = "it is not in the third person"
INVENTED: Final = "it says what the message does not"
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[^\W\d_\u4e00-\u9fff]{3,}")
_NUMBER: Final = re.compile(r"\d+")
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
    return INVENTED if signs or not told <= said else ""


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
