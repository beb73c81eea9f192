"""What functions remember of texts, so that they are taken apart once: dropped when something is forgotten."""

from collections.abc import Callable
from typing import Final

from memoryd.domain.sessions.making_turns import answer_words
from memoryd.search.word_background import commonness

DROPPED: Final[tuple[Callable[[], None], ...]] = (answer_words.cache_clear, commonness.cache_clear)
"""All that hold a text, or words of one; a test knows what else is remembered, and that it is no text."""


def drop_remembered_texts() -> None:
    """Drop all of them: none tells which texts it holds. What still stands is taken apart anew."""
    for drop in DROPPED:
        drop()
