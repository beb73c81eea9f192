"""Entities: what a memory is about, by the names that people write and the slugs that these compare by."""

import unicodedata
from hashlib import sha256
from typing import Final, NewType

EntitySlug = NewType("EntitySlug", str)
"""How the name of an entity compares, and the name of its page: `bank/entities/<slug>.md`."""

PAGES: Final = "bank/entities/"
MAX_SLUG_BYTES: Final = 120
"""In UTF-8; a file name has room for 255, of which a temporary copy takes some."""
_HASH_SIGNS: Final = 8
_UNSAFE: Final = frozenset('/\\:*?"<>|')
_JOINERS: Final = frozenset("\u200c\u200d")
_LEADING: Final = frozenset(".#~")
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
    return f"{PAGES}{slug}.md"


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
    kept = written[: MAX_SLUG_BYTES - _HASH_SIGNS - 1].decode("utf-8", "ignore")
    return f"{kept}-{sha256(written).hexdigest()[:_HASH_SIGNS]}"
