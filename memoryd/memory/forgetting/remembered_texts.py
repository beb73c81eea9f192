"""What is remembered of texts in memory alone, so that they are at hand: dropped when something is forgotten."""

from collections.abc import Callable
from typing import Final, Protocol
from weakref import WeakSet

from memoryd.domain.sessions.making_turns import answer_words
from memoryd.search.ranking import commonness

DROPPED: Final[tuple[Callable[[], None], ...]] = (answer_words.cache_clear, commonness.cache_clear)
"""All functions that hold a text, or words of one; a test knows what else is remembered, and that it is no text."""


class TextHolder(Protocol):
    """What holds texts, and can be without them."""

    def drop_texts(self) -> None:
        """Hold none any more."""
        ...


_HOLDERS: Final[WeakSet[TextHolder]] = WeakSet()


def drop_with_the_others(holder: TextHolder) -> None:
    """Have a holder drop its texts with the others, as long as it lives."""
    _HOLDERS.add(holder)


def drop_remembered_texts() -> None:
    """Drop all of them: none tells which texts it holds. What still stands is taken apart anew."""
    for drop in (*DROPPED, *(holder.drop_texts for holder in _HOLDERS)):
        drop()
