"""Tombstones: keyed hashes of forgotten memories, which do not reveal the text, and the search for their words.

HMAC-SHA-256 (RFC 2104), cut to 16 bytes. One hash is of the id; one of the text, so that the same words under another
scope or entity are known again; one of its words alone, so that they are known in quotation marks, behind a greeting,
or as a part of a sentence.
"""

import hmac
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from hashlib import sha256
from itertools import pairwise

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.words import UNSPACED, query_terms, spoken_words

HASH_BYTES = 16
KEY_BYTES = 32
_WORD = expression(r"\w+(?:[.,:'’@+/-]\w+)*")
_SIGN_OR_WORD = expression(rf"[{UNSPACED}]|[^\W{UNSPACED}]+(?:[.,:'’@+/-][^\W{UNSPACED}]+)*")
_ROW_WORDS = 120
"""So many words in a row, or signs of a script without spaces, are looked at as something that was forgotten."""
_CLAUSE = caseless(
    r"(?<!\d)[,;:.!?](?=\W|\Z)|(?<=\d)[,;:.!?](?=\s|\Z)|[…。！？，；：、\n()\"«»“”„「」『』]|(?<!\w)['‘]|['’](?!\w)|\s[-–—]\s"
    r"|\b(?:and|but|so|that|because|think|thinks|believe|believes|guess|know|knows|say|says|said)\b|觉得|认为|以为|说",
)
"""What may stand between clauses; `2.5` is none, nor is the apostrophe of a word."""
_CLAUSES = 12
"""More of them are not put together: each is looked at by itself."""
_BEFORE = expression(
    r"\A(?:(?:hi|hiya|hello|hey|there|oh|ah|ok|okay|yes|yeah|well|so|and|but|also|btw|by the way|actually|anyway|please"
    r"|thanks|remember that|remember|you know|good (?:morning|afternoon|evening|day)) )+(?=\w)"
)
"""What says nothing before a sentence."""
_CHINESE_BEFORE = expression(r"\A(?:你好|您好|大家好|嗨|哈喽|对了|顺便说一下|请记住|记住)+ ?(?=.)")


class Tombstones(Struct, frozen=True):
    """The hashes of what is forgotten, and the key (32 bytes) that they are made with, or one of the `others`."""

    key: bytes = b""
    hashes: Set[bytes] = frozenset()
    others: tuple[bytes, ...] = ()

    def of(self, memory: str, text: str) -> tuple[bytes, bytes, bytes]:
        """Return the hashes of a memory, by its id, by its text, and by the words of that."""
        said = self._hash("text", normalized_statement(text))
        return self.name(memory), said, self._hash("words", _run(bare_words(text)))

    def name(self, memory: str) -> bytes:
        """Return the hash of a memory by its id alone."""
        return self._hash("id", memory)

    def hold(self, memory: str, text: str) -> bool:
        """Tell whether this memory, or one that says the same, is forgotten."""
        return self.hold_id(memory) or self._has("text", normalized_statement(text))

    def hold_part_of(self, text: str) -> bool:
        """Tell whether something forgotten is all that a text says, or one or several clauses of it in a row."""
        if not self.hashes:
            return False
        if self._has("text", normalized_statement(text)):
            return True
        parts = filter(None, map(bare_words, parts_of(text)))
        # of what was forgotten before there was one of the words, the other hash may be of the same
        return any(self._has("words", _run(one)) or self._has("text", one) for one in parts)

    def cut_from(self, text: str) -> str:
        """Return a text with `[forgotten]` where something forgotten stands in it as whole words in a row."""
        if not self.hashes:
            return text
        words = list(_SIGN_OR_WORD.finditer(text))
        pieces, at, first = list[str](), 0, 0
        while first < len(words):
            row = words[first : first + _ROW_WORDS]
            behind = max(self._end_of_forgotten(key, row) for key in (self.key, *self.others))
            if behind:
                pieces += [text[at : words[first].start()], FORGOTTEN]
                at = words[first + behind - 1].end()
            first += behind or 1
        return "".join([*pieces, text[at:]])

    def _end_of_forgotten(self, key: bytes, words: Sequence[TextMatch]) -> int:
        """Return how many of the words, from the first, are something forgotten: the most that are; 0 for none."""
        made, chars, length = hmac.new(key, b"words\0", sha256), 0, 0
        for count, word in enumerate(words, start=1):
            run = word[0].casefold()
            made.update(run.encode("utf-8", "surrogatepass"))
            chars += len(run)
            if chars >= MIN_CHARS and made.copy().digest()[:HASH_BYTES] in self.hashes:
                length = count
        return length

    def hold_id(self, memory: str) -> bool:
        """Tell whether this very memory is forgotten."""
        return self._has("id", memory)

    def _has(self, kind: str, value: str) -> bool:
        keys = (self.key, *self.others) if self.hashes else ()
        return any(_hash(key, kind, value) in self.hashes for key in keys)

    def _hash(self, kind: str, value: str) -> bytes:
        return _hash(self.key, kind, value)


def _hash(key: bytes, kind: str, value: str) -> bytes:
    return hmac.new(key, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), sha256).digest()[:HASH_BYTES]


def parsed(text: str) -> frozenset[bytes]:
    """Return the hashes of a mirror: one a line, hexadecimal; a line that is none says nothing."""
    return frozenset(filter(None, map(_hash_of, text.splitlines())))


def rendered(hashes: Iterable[bytes]) -> str:
    """Return the mirror of the hashes, in an order that says nothing."""
    return "".join(f"{one.hex()}\n" for one in sorted(hashes))


def _hash_of(line: str) -> bytes:
    try:
        hash_bytes = bytes.fromhex(line.strip())
    except ValueError:
        return b""
    return hash_bytes if len(hash_bytes) == HASH_BYTES else b""


def normalized_statement(text: str) -> str:
    """Return what texts that say the same have in common: without layout, case and the mark at the end."""
    said = gist(text) or text
    # who says it again may leave out the mark at its end
    return " ".join(said.split()).casefold().rstrip(".!。！ ")


def bare_words(text: str) -> str:
    """Return the words of a text alone, without the marks, the quotation marks, and a greeting before them."""
    words = " ".join(_WORD.findall(normalized_statement(text)))
    return _CHINESE_BEFORE.sub("", _BEFORE.sub("", words, count=1), count=1)


def _run(words: str) -> str:
    """Return words without what is between them: beside a Chinese sign a space says nothing."""
    return words.replace(" ", "")


def parts_of(text: str) -> Iterator[str]:
    """Yield a text, and its clauses, also several of them in a row."""
    yield text
    edges = [(0, 0), *(match.span() for match in _CLAUSE.finditer(text)), (len(text), len(text))]
    clauses = [(before[1], after[0]) for before, after in pairwise(edges)]
    for at, (start, end) in enumerate(clauses):
        yield text[start:end]
        if len(clauses) <= _CLAUSES:
            yield from (text[start:last] for _, last in clauses[at + 1 :])


FORGOTTEN = "[forgotten]"
"""What stands where the words of a forgotten memory stood."""
MIN_CHARS = 6
"""A shorter text stands in many sentences that say something else; it is found only where it is all that is said."""
END_MARKS = ".!?…,;:。！？，；：、"
"""What may end a sentence or a part of one: who says it again may leave it out, or put another."""
QUOTES = "\"'`*“”„‟‚‘’‛«»‹›「」『』"
"""What may stand around words without saying anything: quotation marks and emphasis."""
_QUOTED_WORDS = 200
"""So many words at most are looked for in quotation marks, too: a pattern for more of them is slow to make."""
_QUOTE = "(?-i:[\"'*`«»]|[‘-‟]|[「-』])*"
_LETTER = f"(?-i:[^\\W{UNSPACED}])"
"""Of a script with spaces: there words have edges. Neither has cases, and to look for those of each sign is slow."""
_IS_LETTER = expression(_LETTER)


class TextMatcher(Struct, frozen=True, dict=True):
    """A text that may stand inside others. Composed letters count as their compositions (NFC), case not at all.

    Neither do the marks at its end, nor quotation marks around its words.
    One of fewer signs than `least` stands only where it is all that is said.
    """

    text: str
    least: int = MIN_CHARS

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.text.split()

    def occurs_in(self, other: str) -> bool:
        """Tell whether the words stand in another text, whole and in a row."""
        return not self.is_empty and self._pattern.search(composed(other)) is not None

    def are_near(self, other: str) -> bool:
        """Tell whether another text has the words that say something, or all but one of three, in whatever order."""
        terms = query_terms(self.text)
        said = frozenset(spoken_words(other))
        return len(terms) > 1 and sum(term not in said for term in terms) <= len(terms) // 3

    def cut_from(self, other: str) -> str:
        """Return the other text with `[forgotten]` in their stead; itself where they do not stand in it."""
        text = composed(other)
        if self.is_empty or self._pattern.search(text) is None:
            return other
        return self._pattern.sub(lambda _: FORGOTTEN, text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = composed(self.text).split()
        first, last = words[0].strip(QUOTES) or words[0], _core(words[-1])
        if not _is_short(words, self.least) and _is_short([*words[:-1], last], self.least):
            last = words[-1]
        gap = rf"{_QUOTE}\s+{_QUOTE}" if len(words) <= _QUOTED_WORDS else r"\s+"
        inner = gap.join(map(re.escape, [*(word.strip(QUOTES) or word for word in words[:-1]), last]))
        if _is_short(words, self.least):
            # signs around it may be many: only where they cannot be its own
            around = r"\W*" if first[0].isalnum() and last[-1].isalnum() else r"\s*"
            return re.compile(rf"\A{around}{inner}{around}\Z", re.IGNORECASE)
        before = rf"(?<!{_LETTER})" if _IS_LETTER.match(first) else ""
        after = rf"(?!{_LETTER})" if _IS_LETTER.match(last[-1]) else ""
        # a five is no part of 2.5, nor of 9:35
        before += "(?<![0-9][.,:])" if first[0].isdecimal() else ""
        after += "(?![.,:][0-9])" if last[-1].isdecimal() else ""
        # its own mark goes with it where it stands
        own = words[-1][-1]
        mark = f"{re.escape(own)}?" if own in END_MARKS and last != words[-1] else ""
        return re.compile(f"{before}{inner}{after}{mark}", re.IGNORECASE)


def _is_short(words: Sequence[str], least: int) -> bool:
    return sum(map(len, words)) < least


def _core(word: str) -> str:
    """Return a word without quotation marks around it and marks behind it; of these alone they are what it says."""
    return word.strip(QUOTES).rstrip(END_MARKS + QUOTES) or word


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, NFC."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
