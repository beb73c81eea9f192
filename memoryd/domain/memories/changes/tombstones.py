"""Tombstones: keyed hashes of forgotten memories, which do not reveal the text, and the search for their words.

The hashes are HMAC-SHA-256 (RFC 2104), truncated to 16 bytes. A memory has three: one of its id; one of its text, which
recognises the text under another scope or entity; one of its bare words, which recognises them in quotation marks,
after a greeting, or as a part of a sentence.
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
"""Most consecutive words, or characters of a script without spaces, that are compared with forgotten text."""
_CLAUSE = caseless(
    r"(?<!\d)[,;:.!?](?=\W|\Z)|(?<=\d)[,;:.!?](?=\s|\Z)|[…。！？，；：、\n()\"«»“”„「」『』]|(?<!\w)['‘]|['’](?!\w)|\s[-–—]\s"
    r"|\b(?:and|but|so|that|because|think|thinks|believe|believes|guess|know|knows|say|says|said)\b|觉得|认为|以为|说",
)
"""Separators of clauses; not the point in `2.5`, nor the apostrophe in a word."""
_CLAUSES = 12
"""In a text with more clauses, only single clauses are compared, not sequences of them."""
_BEFORE = expression(
    r"\A(?:(?:hi|hiya|hello|hey|there|oh|ah|ok|okay|yes|yeah|well|so|and|but|also|btw|by the way|actually|anyway|please"
    r"|thanks|remember that|remember|you know|good (?:morning|afternoon|evening|day)) )+(?=\w)"
)
"""Words without meaning before a sentence."""
_CHINESE_BEFORE = expression(r"\A(?:你好|您好|大家好|嗨|哈喽|对了|顺便说一下|请记住|记住)+ ?(?=.)")


class Tombstones(Struct, frozen=True):
    """The hashes of forgotten memories, and the 32-byte keys that they were made with: `key` and older `others`."""

    key: bytes = b""
    hashes: Set[bytes] = frozenset()
    others: tuple[bytes, ...] = ()

    def hashes_of(self, memory: str, text: str) -> tuple[bytes, bytes, bytes]:
        """Return the hashes of a memory: of its id, its text, and its bare words."""
        text_hash = _hash(self.key, "text", normalized_statement(text))
        return self.id_hash(memory), text_hash, _hash(self.key, "words", _run(bare_words(text)))

    def id_hash(self, memory: str) -> bytes:
        """Return the hash of a memory's id."""
        return _hash(self.key, "id", memory)

    def contains(self, memory: str, text: str) -> bool:
        """Return whether this memory, or one with the same text, is forgotten."""
        return self.contains_id(memory) or self._has("text", normalized_statement(text))

    def contains_part_of(self, text: str) -> bool:
        """Return whether the text, or one or several consecutive clauses of it, is forgotten."""
        if not self.hashes:
            return False
        if self._has("text", normalized_statement(text)):
            return True
        parts = filter(None, map(bare_words, parts_of(text)))
        # older tombstones have no hash of the bare words, but their hash of the text may be the same
        return any(self._has("words", _run(part)) or self._has("text", part) for part in parts)

    def cut_from(self, text: str) -> str:
        """Return a text with forgotten sequences of complete words replaced by `[forgotten]`."""
        if not self.hashes:
            return text
        words = list(_SIGN_OR_WORD.finditer(text))
        pieces, at, first = list[str](), 0, 0
        while first < len(words):
            row = words[first : first + _ROW_WORDS]
            count = max(self._end_of_forgotten(key, row) for key in (self.key, *self.others))
            if count:
                pieces += [text[at : words[first].start()], FORGOTTEN]
                at = words[first + count - 1].end()
            first += count or 1
        return "".join([*pieces, text[at:]])

    def _end_of_forgotten(self, key: bytes, words: Sequence[TextMatch]) -> int:
        """Return how many of the words, from the first, are forgotten together: the longest match; 0 for none."""
        digest, chars, length = hmac.new(key, b"words\0", sha256), 0, 0
        for count, word in enumerate(words, start=1):
            run = word[0].casefold()
            digest.update(run.encode("utf-8", "surrogatepass"))
            chars += len(run)
            if chars >= MIN_CHARS and digest.copy().digest()[:HASH_BYTES] in self.hashes:
                length = count
        return length

    def contains_id(self, memory: str) -> bool:
        """Return whether the memory with this id is forgotten."""
        return self._has("id", memory)

    def _has(self, kind: str, value: str) -> bool:
        keys = (self.key, *self.others) if self.hashes else ()
        return any(_hash(key, kind, value) in self.hashes for key in keys)


def _hash(key: bytes, kind: str, value: str) -> bytes:
    return hmac.new(key, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), sha256).digest()[:HASH_BYTES]


def parse_mirror(text: str) -> frozenset[bytes]:
    """Return the hashes in a mirror file: one a line, hexadecimal; other lines are ignored."""
    return frozenset(filter(None, map(_hash_of, text.splitlines())))


def render_mirror(hashes: Iterable[bytes]) -> str:
    """Return the mirror file of the hashes, sorted, so that their order reveals nothing."""
    return "".join(f"{hash_bytes.hex()}\n" for hash_bytes in sorted(hashes))


def _hash_of(line: str) -> bytes:
    try:
        hash_bytes = bytes.fromhex(line.strip())
    except ValueError:
        return b""
    return hash_bytes if len(hash_bytes) == HASH_BYTES else b""


def normalized_statement(text: str) -> str:
    """Return a text normalised for comparison: without layout, case and the mark at its end."""
    # the mark at the end is often omitted in a repetition
    return " ".join((gist(text) or text).split()).casefold().rstrip(".!。！ ")


def bare_words(text: str) -> str:
    """Return the words of a text without punctuation, quotation marks, and a greeting before them."""
    words = " ".join(_WORD.findall(normalized_statement(text)))
    return _CHINESE_BEFORE.sub("", _BEFORE.sub("", words, count=1), count=1)


def _run(words: str) -> str:
    """Return words without the spaces between them: next to a Chinese character a space has no meaning."""
    return words.replace(" ", "")


def parts_of(text: str) -> Iterator[str]:
    """Yield a text, its clauses, and sequences of consecutive clauses."""
    yield text
    edges = [(0, 0), *(match.span() for match in _CLAUSE.finditer(text)), (len(text), len(text))]
    clauses = [(before[1], after[0]) for before, after in pairwise(edges)]
    for at, (start, end) in enumerate(clauses):
        yield text[start:end]
        if len(clauses) <= _CLAUSES:
            yield from (text[start:last] for _, last in clauses[at + 1 :])


FORGOTTEN = "[forgotten]"
"""Replaces the words of a forgotten memory."""
MIN_CHARS = 6
"""A shorter text occurs in many unrelated sentences; it only matches as a complete text."""
END_MARKS = ".!?…,;:。！？，；：、"
"""Marks at the end of a sentence or clause, which a repetition may omit or replace."""
QUOTES = "\"'`*“”„‟‚‘’‛«»‹›「」『』"
"""Quotation marks and emphasis, which may surround words without changing the meaning."""
_QUOTED_WORDS = 200
"""Longer texts are not searched with quotation marks between their words: the pattern is slow to compile."""
_QUOTE = "(?-i:[\"'*`«»]|[‘-‟]|[「-』])*"
_LETTER = f"(?-i:[^\\W{UNSPACED}])"
"""A letter of a script with spaces, where words have edges. Case is not ignored here and in `_QUOTE`: that is slow."""
_IS_LETTER = expression(_LETTER)


class TextMatcher(Struct, frozen=True, dict=True):
    """A text to search in other texts: letters in composed form (NFC), ignoring case.

    Marks at its end and quotation marks around its words are ignored. A text of fewer characters than `least` only
    matches as a complete text.
    """

    text: str
    least: int = MIN_CHARS

    @property
    def is_empty(self) -> bool:
        """Whether the text is blank."""
        return not self.text.split()

    def occurs_in(self, other: str) -> bool:
        """Return whether the words occur in another text, complete and in sequence."""
        return not self.is_empty and self._pattern.search(composed(other)) is not None

    def is_near(self, other: str) -> bool:
        """Return whether another text has the significant words in any order; a third of them may be missing."""
        terms = query_terms(self.text)
        words = frozenset(spoken_words(other))
        return len(terms) > 1 and sum(term not in words for term in terms) <= len(terms) // 3

    def cut_from(self, other: str) -> str:
        """Return the other text with the words replaced by `[forgotten]`; unchanged if it does not contain them."""
        text = composed(other)
        if self.is_empty or self._pattern.search(text) is None:
            return other
        return self._pattern.sub(lambda _: FORGOTTEN, text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = composed(self.text).split()
        first, last = (
            words[0].strip(QUOTES) or words[0],
            words[-1].strip(QUOTES).rstrip(END_MARKS + QUOTES) or words[-1],
        )
        if not _is_short(words, self.least) and _is_short([*words[:-1], last], self.least):
            last = words[-1]
        gap = rf"{_QUOTE}\s+{_QUOTE}" if len(words) <= _QUOTED_WORDS else r"\s+"
        inner = gap.join(map(re.escape, [*(word.strip(QUOTES) or word for word in words[:-1]), last]))
        if _is_short(words, self.least):
            # many characters may surround it: they are matched only where they cannot be its own
            around = r"\W*" if first[0].isalnum() and last[-1].isalnum() else r"\s*"
            return re.compile(rf"\A{around}{inner}{around}\Z", re.IGNORECASE)
        before = rf"(?<!{_LETTER})" if _IS_LETTER.match(first) else ""
        after = rf"(?!{_LETTER})" if _IS_LETTER.match(last[-1]) else ""
        # a 5 is not part of 2.5, nor of 9:35
        before += "(?<![0-9][.,:])" if first[0].isdecimal() else ""
        after += "(?![.,:][0-9])" if last[-1].isdecimal() else ""
        # its own end mark is removed with it
        own = words[-1][-1]
        mark = f"{re.escape(own)}?" if own in END_MARKS and last != words[-1] else ""
        return re.compile(f"{before}{inner}{after}{mark}", re.IGNORECASE)


def _is_short(words: Sequence[str], least: int) -> bool:
    return sum(map(len, words)) < least


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, NFC."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
