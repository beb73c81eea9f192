"""What memoryd wrote of sessions, held against what they were about: the fact itself is the better answer."""

from collections.abc import Collection

from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.memory.recall.recalled import RecalledItem, RecalledMemory


def is_retelling(item: RecalledItem) -> bool:
    """Tell whether an item is what memoryd wrote of a session."""
    return isinstance(item, RecalledMemory) and is_of_session(item.memory.line)


def retells(item: RecalledItem, other: RecalledItem) -> bool:
    """Tell whether one is of a session and holds no more of the question than the other, which somebody stated."""
    if not isinstance(item, RecalledMemory) or not is_retelling(item) or other.placed.is_noise:
        return False
    if isinstance(other, RecalledMemory):
        return not is_retelling(other) and _has_all(item.evidence.terms, other.evidence.terms)
    return _has_all(item.evidence.terms, other.hit.terms)


def _has_all(terms: Collection[str], other: Collection[str]) -> bool:
    return bool(terms) and set(terms).issubset(other)
