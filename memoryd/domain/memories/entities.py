"""Entities: what a memory is about, by the names that people write and the slugs that these compare by.

A text names an entity by name or alias, letter for letter but for case and hyphens, never by similarity.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NewType

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.words import STOP_WORDS, UNSPACED_RUN

EntitySlug = NewType("EntitySlug", str)
"""How the name of an entity compares, and the name of its page: `bank/entities/<slug>.md`."""

ENTITY_PAGES = "bank/entities/"
MAX_SLUG_BYTES = 120
"""In UTF-8; a file name has room for 255, of which a temporary copy takes some."""
_HASH_CHARS = 8
_UNSAFE = frozenset('/\\:*?"<>|')
_JOINERS = frozenset("\u200c\u200d")
_LEADING = frozenset(".#~")
"""What a file name may not begin with that is to be indexed."""


def slug_of(name: str) -> EntitySlug:
    """Return the slug of an entity: its name without case, in NFC, with hyphens for white space.

    Different names keep different slugs, so no sign is left out: one that a file name cannot have is written by its
    bytes, `%2f` for a slash. What is longer than `MAX_SLUG_BYTES` is cut, and ends in a hash of all of it. The slug
    of a slug is itself.
    """
    if name.isascii() and name.isalnum():
        return EntitySlug(_short(name.lower()))
    folded = "".join(map(_without_case, "-".join(unicodedata.normalize("NFC", name).split())))
    plain = unicodedata.normalize("NFC", folded)
    return EntitySlug(_short("".join(_safe(sign, at == 0) for at, sign in enumerate(plain))))


def entity_page(slug: EntitySlug) -> str:
    """Return the path of the page of an entity, relative to the workspace."""
    return f"{ENTITY_PAGES}{slug}.md"


def _without_case(sign: str) -> str:
    """Fold the case of a letter, unless that would make two of it: Weiß is not Weiss."""
    folded = sign.casefold()
    return folded if len(folded) == 1 else sign.lower()


def _safe(sign: str, is_first: bool) -> str:
    category = unicodedata.category(sign)
    is_unsafe = sign in _UNSAFE or category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and sign not in _JOINERS)
    if is_unsafe or (is_first and sign in _LEADING):
        return "".join(f"%{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))
    return sign


def _short(slug: str) -> str:
    written = slug.encode()
    if len(written) <= MAX_SLUG_BYTES:
        return slug
    kept = written[: MAX_SLUG_BYTES - _HASH_CHARS - 1].decode("utf-8", "ignore")
    return f"{kept}-{sha256(written).hexdigest()[:_HASH_CHARS]}"


MAX_CHARS = 20_000
"""Of a text that are looked at."""
_WORD = expression(r"[^\W_]+")
_MENTION = expression(
    r"[@＠](?:[\[［](?P<words>[^\[\]［］\n]{1,200}+)[\]］]|(?P<name>[^\s@＠:：,，、()（）\[\]［］?？!！。;；]{1,200}+))"
)
_SENTENCE = expression(r"(?:\A|[.!?。！？:：])[\s\"'“‘(]*\Z")
_NAMES_AND_WORDS = """
may will mark march april june august bill rose grace hope sun sat can might art ray dawn summer monday friday jan joy
rob sue pat
"""
_ALSO_WORDS = STOP_WORDS | frozenset(_NAMES_AND_WORDS.split())
"""Names that are words too: meant only where they stand capitalised, and not because a sentence begins."""

_Words = tuple[str, ...]


class EntityNames:
    """The names that entities go by; of two that begin at one place the longer one is meant."""

    def __init__(self, names: Iterable[tuple[str, EntitySlug]]) -> None:
        self._slugs: dict[EntitySlug, EntitySlug] = {}
        self._phrases: defaultdict[str, list[tuple[_Words, EntitySlug, bool]]] = defaultdict(list)
        self._unspaced: dict[str, EntitySlug] = {}
        for name, slug in names:
            self._add(name, slug)
        for found in self._phrases.values():
            found.sort(key=lambda one: -len(one[0]))
        self._lengths = sorted({len(name) for name in self._unspaced}, reverse=True)

    def within(self, text: str) -> tuple[EntitySlug, ...]:
        """Return the distinct entities that a text names, in order; one by `@Name` is meant without doubt.

        Names in scripts without spaces are found within words if they have two characters or more; of others whole
        words count. A name of one letter or sign needs its `@`.
        """
        plain = unicodedata.normalize("NFC", text[:MAX_CHARS])
        found = sorted([*self._by_mention(plain), *self._by_words(plain), *self._by_characters(plain)])
        return tuple(dict.fromkeys(slug for _, slug in found))

    def _add(self, name: str, slug: EntitySlug) -> None:
        plain = unicodedata.normalize("NFC", name)
        self._slugs.setdefault(slug_of(plain), slug)
        if UNSPACED_RUN.search(plain):
            key = "".join(plain.split()).lower()
            if len(key) > 1:
                self._unspaced.setdefault(key, slug)
            return
        words = tuple(word.lower() for word in _WORD.findall(plain))
        if len("".join(words)) > 1:
            self._phrases[words[0]].append((words, slug, len(words) == 1 and words[0] in _ALSO_WORDS))

    def _by_mention(self, text: str) -> Iterator[tuple[int, EntitySlug]]:
        for match in _MENTION.finditer(text):
            slug = self._slugs.get(slug_of(match["words"] or match["name"].rstrip(".'’")))
            if slug is not None:
                yield match.start(), slug

    def _by_words(self, text: str) -> Iterator[tuple[int, EntitySlug]]:
        words = [(match[0].lower(), match) for match in _WORD.finditer(text)]
        behind = 0
        for at, (word, match) in enumerate(words):
            if at < behind:
                continue
            for phrase, slug, is_word in self._phrases.get(word, ()):
                here = tuple(one for one, _ in words[at : at + len(phrase)])
                if here == phrase and (not is_word or _is_name(match, text)):
                    yield match.start(), slug
                    behind = at + len(phrase)
                    break

    def _by_characters(self, text: str) -> Iterator[tuple[int, EntitySlug]]:
        small, at = text.lower(), 0
        while self._lengths and at < len(small):
            found = next(
                (small[at : at + size] for size in self._lengths if small[at : at + size] in self._unspaced), ""
            )
            if found:
                yield at, self._unspaced[found]
            at += len(found) or 1


def _is_name(match: TextMatch, text: str) -> bool:
    before = text[max(0, match.start() - 8) : match.start()]
    return match[0][0].isupper() and (before.endswith("@") or _SENTENCE.search(before) is None)


def alias_table(pages: Iterable[tuple[str, Iterable[str]]]) -> Mapping[EntitySlug, EntitySlug]:
    """Return the slug of each alias with the entity that it is another name of, given names and aliases of the pages.

    An alias that two pages claim, or that has a page of its own, is nobody's: entities are never merged in doubt.
    """
    known = [(slug_of(name), [slug_of(alias) for alias in aliases]) for name, aliases in pages]
    own = {slug for slug, _ in known}
    claimed: defaultdict[EntitySlug, set[EntitySlug]] = defaultdict(set)
    for slug, aliases in known:
        for alias in aliases:
            claimed[alias].add(slug)
    return {alias: min(slugs) for alias, slugs in claimed.items() if len(slugs) == 1 and alias not in own}
