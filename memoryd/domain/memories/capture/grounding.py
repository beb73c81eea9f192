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
_DIRECTIONS: Final = frozenset({"to", "from", "over", "than"})
"""Words that say which of two is which."""
_ORDERED: Final = re.compile(r"[^\W\d_\u4e00-\u9fff]{2,}")
_PAST: Final = re.compile(
    r"(?<!am )(?<!is )(?<!are )(?<!['’]m )\bused to\b|\b(?:hardly|scarcely|formerly|previously)\b|以前|曾经?|过去",
    re.IGNORECASE,
)
_WHO: Final = (
    r"(?:\b(?:son|daughter|child|children|kids?|wife|husband|partner|girlfriend|boyfriend|mother|mum|mom|father|dad"
    r"|parents|brother|sister|aunt|uncle|cousin|grandmother|grandfather|grandma|grandpa|friend)\b"
    r"|儿子|女儿|孩子|妻子|老婆|太太|丈夫|老公|妈妈|母亲|爸爸|父亲|爷爷|奶奶|外公|外婆|哥哥|弟弟|姐姐|妹妹|叔叔|阿姨|朋友|同事)"
)
_SOMEBODY: Final = re.compile(_WHO, re.IGNORECASE)
_TELLS_OF_SOMEBODY: Final = re.compile(
    rf"\A\W*(?:(?:and|so|also|because) )?(?:my (?:\w+ )?|我(?:的|家)?){_WHO}(?!['’]s| and (?:i|me)\b|[和跟与]我)",
    re.IGNORECASE,
)


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
    if signs or not told <= said or not _is_in_order(text, message):
        return INVENTED
    return INVERTED if _is_inverted(text, message) else ""


def _is_in_order(text: str, message: str) -> bool:
    """Tell whether the telling words of a memory come in the message one behind the other: else roles are turned."""
    said = iter(word[:_STEM] for word in _ordered(message))
    return all(word[:_STEM] in said for word in _ordered(text) if word not in _TELLING or word in _DIRECTIONS)


def _ordered(text: str) -> list[str]:
    words = (word.casefold() for word in _ORDERED.findall(text))
    return [word for word in words if len(word) > len("to") or word in _DIRECTIONS]


def _is_inverted(text: str, message: str) -> bool:
    """Tell whether each clause that a memory may be of says the contrary, tells what was, or tells of somebody else."""
    told = {word[:_STEM] for word in _words(text) if word not in _TELLING}
    signs = set(_HAN.findall(text)) - _TELLING_SIGNS
    shared = {one: _shared(one, told, signs) for one in _CLAUSES.split(message)}
    return all(_is_turned(text, one) for one, count in shared.items() if count == max(shared.values()))


def _is_turned(text: str, clause: str) -> bool:
    if statement_of(clause).is_negated != statement_of(text).is_negated:
        return True
    if _PAST.search(clause) and not _PAST.search(text):
        return True
    return bool(_TELLS_OF_SOMEBODY.search(clause)) and not _SOMEBODY.search(text)


def _shared(clause: str, told: set[str], signs: set[str]) -> int:
    return len(told & {word[:_STEM] for word in _words(clause)}) + len(signs & set(_HAN.findall(clause)))


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
