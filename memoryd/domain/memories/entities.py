"""Entities, which memories are about: the names that people write, and the slugs by which names are compared.

A text names an entity by name or alias, literally except for case and hyphens, never by similarity.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NewType

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.words import STOP_WORDS, UNSPACED_RUN

EntitySlug = NewType("EntitySlug", str)
"""The normalised name of an entity, and the name of its page: `bank/entities/<slug>.md`."""

ENTITY_PAGES = "bank/entities/"
MAX_SLUG_BYTES = 120
"""In UTF-8; a file name has room for 255 bytes, some of which a temporary copy needs."""
_HASH_CHARS = 8
_UNSAFE = frozenset('/\\:*?"<>|')
_JOINERS = frozenset("\u200c\u200d")
_LEADING = frozenset(".#~")
"""Characters at the beginning of file names that are not indexed."""


def slug_of(name: str) -> EntitySlug:
    """Return the slug of an entity: its name in NFC, with case folded, and hyphens for white space.

    Different names have different slugs, so no character is dropped: one that is not allowed in a file name is escaped
    by its bytes, `%2f` for a slash. A slug longer than `MAX_SLUG_BYTES` is truncated, and ends in a hash of all of it.
    The slug of a slug is itself.
    """
    if name.isascii() and name.isalnum():
        return EntitySlug(_short(name.lower()))
    folded = "".join(map(_without_case, "-".join(unicodedata.normalize("NFC", name).split())))
    plain = unicodedata.normalize("NFC", folded)
    return EntitySlug(_short("".join(_safe(sign, at == 0) for at, sign in enumerate(plain))))


def entity_page(slug: EntitySlug) -> str:
    """Return the path of an entity's page, relative to the workspace."""
    return f"{ENTITY_PAGES}{slug}.md"


def _without_case(sign: str) -> str:
    """Fold the case of a letter, unless it would become two letters: Weiß is not Weiss."""
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
    prefix = written[: MAX_SLUG_BYTES - _HASH_CHARS - 1].decode("utf-8", "ignore")
    return f"{prefix}-{sha256(written).hexdigest()[:_HASH_CHARS]}"


MAX_CHARS = 20_000
"""Characters of a text that are searched for names."""
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
"""Names that are also words: they only count if capitalised within a sentence."""

_Words = tuple[str, ...]


class EntityNames:
    """Finds the names of entities in texts; of two names that begin at the same place the longer one counts."""

    def __init__(self, names: Iterable[tuple[str, EntitySlug]]) -> None:
        self._slugs: dict[EntitySlug, EntitySlug] = {}
        self._phrases: defaultdict[str, list[tuple[_Words, EntitySlug, bool]]] = defaultdict(list)
        self._unspaced: dict[str, EntitySlug] = {}
        for name, slug in names:
            self._add(name, slug)
        for phrases in self._phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))
        self._lengths = sorted({len(name) for name in self._unspaced}, reverse=True)

    def within(self, text: str) -> tuple[EntitySlug, ...]:
        """Return the distinct entities that a text names, in order; `@Name` always names one.

        Names of two characters or more in scripts without spaces also match within words; other names only match
        complete words. A name of one letter or character needs `@`.
        """
        plain = unicodedata.normalize("NFC", text[:MAX_CHARS])
        places = sorted([*self._by_mention(plain), *self._by_words(plain), *self._by_characters(plain)])
        return tuple(dict.fromkeys(slug for _, slug in places))

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
        end = 0
        for at, (word, match) in enumerate(words):
            if at < end:
                continue
            for phrase, slug, is_word in self._phrases.get(word, ()):
                here = tuple(lower for lower, _ in words[at : at + len(phrase)])
                if here == phrase and (not is_word or _is_name(match, text)):
                    yield match.start(), slug
                    end = at + len(phrase)
                    break

    def _by_characters(self, text: str) -> Iterator[tuple[int, EntitySlug]]:
        small, at = text.lower(), 0
        while self._lengths and at < len(small):
            name = next(
                (small[at : at + size] for size in self._lengths if small[at : at + size] in self._unspaced), ""
            )
            if name:
                yield at, self._unspaced[name]
            at += len(name) or 1


def _is_name(match: TextMatch, text: str) -> bool:
    before = text[max(0, match.start() - 8) : match.start()]
    return match[0][0].isupper() and (before.endswith("@") or _SENTENCE.search(before) is None)


def alias_table(pages: Iterable[tuple[str, Iterable[str]]]) -> Mapping[EntitySlug, EntitySlug]:
    """Return the entity of each alias, from the names and aliases of the pages.

    An alias on two pages, or with a page of its own, has no entity: in doubt entities are not merged.
    """
    known = [(slug_of(name), [slug_of(alias) for alias in aliases]) for name, aliases in pages]
    own = {slug for slug, _ in known}
    claimed: defaultdict[EntitySlug, set[EntitySlug]] = defaultdict(set)
    for slug, aliases in known:
        for alias in aliases:
            claimed[alias].add(slug)
    return {alias: min(slugs) for alias, slugs in claimed.items() if len(slugs) == 1 and alias not in own}
