"""The echo firewall: what was told of the memory in a session is not learned from it anew.

Of a span that was delivered hashes alone are kept, of its words and of each three in a row. A sentence is an echo of
it if it says the same, or quotes a run of it: each word that tells something stands there, in the same order; so is one
that joins several echoes. A word, a number or a negation of its own makes it news: who corrects what was told, or tells
a second fact like it, brings one.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from memoryd.domain.text.negations import statement_of
from memoryd.domain.text.words import UNSPACED, normalised

HASH_BYTES: Final = 8
SIGNS_MAX: Final = 2000
"""Of a longer span the beginning counts."""
RUN: Final = 3
LEAST_WORDS: Final = 3
"""Fewer are an echo of what says just that alone."""
_EMPTY: Final = frozenset(
    {"a", "an", "the", "and", "so", "that", "just", "also", "well", "still", "please", "indeed", *"还仍的了呢吧啊呀"}
)
"""Words that tell nothing; they do not part a run."""
_UNIT: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_TELLING: Final = (
    r"(?:(?:as|like) )?(?:you|we|i)(?:['’]ve| have)? (?:just |already |also |once )?"
    r"(?:told|said|say|know|knew|mentioned|recalled|remembered|remember|noted|wrote|reminded)"
    r"(?: (?:to )?(?:me|you|us))?(?: (?:before|earlier|already|yesterday|last time))?(?: that)?"
    r"|(?:as|like) (?:you|i) (?:told|said)|like (?:you|i) (?:told|said)|exactly|right|yes|yeah|ok|okay|correct|indeed"
    r"|again|once again|once more|so|well|and|good|great"
    r"|(?:thanks|thank you)(?: for (?:remembering|reminding me|knowing))?"
    r"|(?:please )?(?:remember|note|keep in mind)(?: that)?|记住|请记住"
    r"|(?:that['’]?s|it['’]?s) (?:right|correct|true)|of course|true|sure|(?:you )?remembered (?:it|that|well)"
    r"|谢谢你?(?:还)?(?:记得|提醒)?|多谢|(?:你)?(?:还)?记得(?:没错|很?清楚|对)|当然|确实|(?:正?如|像|就像|跟)?(?:你|您|我)"
    r"(?:刚才|之前|已经|也)?(?:告诉过?(?:我|你|您)?|说过?|提到过?|知道|记得|提过)(?:的(?:那样)?|了)?|对|是的|好的?|没错"
)
"""How one says that something was told: it brings nothing of its own."""
_FRAME_BEFORE: Final = re.compile(
    rf"\s*(?:(?:{_TELLING})(?![^\W{UNSPACED}])[\s,.:;!，。：；！、\"“”—–-]*)+", re.IGNORECASE
)
_FRAME_BEHIND: Final = re.compile(rf"(?:[\s,;，；—–-]+(?:{_TELLING}))+[\s.!。！\"”]*\Z", re.IGNORECASE)

_JOINED: Final = re.compile(
    r"\s*(?:[,;，；、]\s*(?:and|but|so|because|also)\b|[,;，；、]|\s(?:and|but|so|because)\b|而且|并且|和)\s*",
    re.IGNORECASE,
)
"""What parts one clause from the next."""
_SHORTENED: Final = tuple(
    (re.compile(rf"{short}\b"), long)
    for short, long in (
        ("can['’]t", "can not"),
        ("won['’]t", "will not"),
        ("n['’]t", " not"),
        ("(?<=i)['’]m", " am"),
        ("['’]re", " are"),
        ("['’]ve", " have"),
        ("['’]ll", " will"),
    )
)
"""The same said shorter, in small letters."""

SpanHash = Callable[[str], bytes]
"""From a word or a run of them to `HASH_BYTES` bytes; keyed, so that nobody can try what they are of."""


@dataclass(frozen=True, slots=True)
class SpanPrint:
    """What is kept of a span: the hash of all of it, those of its words and runs, and whether it negates."""

    whole: bytes
    words: frozenset[bytes]
    runs: frozenset[bytes]
    is_negated: bool


def keyed(key: bytes) -> SpanHash:
    """Return what hashes with a key (up to 64 bytes)."""

    def hashed(text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=HASH_BYTES).digest()

    return hashed


def span_print(text: str, hashed: SpanHash) -> SpanPrint | None:
    """Return the print of a span; None if it says nothing."""
    told = text[:SIGNS_MAX]
    units = _units(told)
    if not units:
        return None
    return SpanPrint(
        whole=hashed(" ".join(units)),
        words=frozenset(map(hashed, units)),
        runs=frozenset(map(hashed, _runs(_telling(units)))),
        is_negated=statement_of(told).is_negated,
    )


def is_echo(text: str, delivered: Iterable[SpanPrint], hashed: SpanHash) -> bool:
    """Tell whether a sentence says what was delivered, and nothing else."""
    told, spans = text[:SIGNS_MAX], list(delivered)
    if _is_of_one(told, spans, hashed):
        return True
    clauses = [one for one in _JOINED.split(_unframed(told)) if _units(_unframed(one))]
    return len(clauses) > 1 and all(_is_of_one(clause, spans, hashed) for clause in clauses)


def _is_of_one(told: str, delivered: Iterable[SpanPrint], hashed: SpanHash) -> bool:
    own = [one for one in (span_print(told, hashed), span_print(_unframed(told), hashed)) if one is not None]
    is_long = len(_telling(_units(_unframed(told)))) >= LEAST_WORDS
    return any(one.whole == span.whole or (is_long and _quotes(one, span)) for span in delivered for one in own)


def _quotes(own: SpanPrint, span: SpanPrint) -> bool:
    return own.is_negated == span.is_negated and bool(own.runs) and own.runs <= span.runs


def _unframed(text: str) -> str:
    """Return a sentence without the words that only say that it was told."""
    before = _FRAME_BEFORE.match(text)
    return _FRAME_BEHIND.sub("", text[before.end() :] if before else text)


def _telling(units: list[str]) -> list[str]:
    return [unit for unit in units if unit not in _EMPTY]


def _units(text: str) -> list[str]:
    said = normalised(text).casefold()
    for short, long in _SHORTENED:
        said = short.sub(long, said)
    return _UNIT.findall(said)


def _runs(units: list[str]) -> list[str]:
    return [" ".join(units[at : at + RUN]) for at in range(len(units) - RUN + 1)]
