"""What names a memory: the same statement about the same entities has the same id, wherever and however often it
is written. Kind, confidence and the other attributes are no part of it: they may be corrected in place."""

import json
import unicodedata
from collections.abc import Iterable
from typing import Final, NewType
from uuid import UUID, uuid5

from memoryd.domain.memories.entities import EntitySlug

MemoryId = NewType("MemoryId", str)
"""A UUIDv5 in its usual spelling."""
ShortId = NewType("ShortId", str)
"""The first eight signs of an id, by which lines name each other."""

SHORT_SIGNS: Final = 8
_NAMESPACE: Final = UUID("8c704803-bde9-420e-82d8-13e1bceabffd")
"""Drawn once; another one would give every memory another id."""


def memory_id(*, scope: str, slugs: Iterable[EntitySlug], at: str, text: str) -> MemoryId:
    """Return the UUIDv5 (RFC 9562) of scope, sorted slugs, event time as written, and the text.

    The text counts in NFC with its white space folded. The parts are joined as JSON, so that no sign in one of them
    can be taken for the end of it.
    """
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    named = json.dumps([scope, sorted(set(slugs)), at, folded], separators=(",", ":"))
    return MemoryId(str(uuid5(_NAMESPACE, named)))


def short_id(memory: MemoryId) -> ShortId:
    """Return the beginning of an id that lines, citations and people use."""
    return ShortId(memory[:SHORT_SIGNS])
