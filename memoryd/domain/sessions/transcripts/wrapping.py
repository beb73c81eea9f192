"""Wrap what was said as OpenClaw does, in copies for programs that cannot have long lines; the index does not."""

from collections.abc import Iterator
from typing import Final

from memoryd.domain.sessions.transcripts.utterances import Utterance

WRAP_CHARS: Final = 800
"""Of a piece without the name of its speaker; OpenClaw counts a character beyond U+FFFF twice."""


def wrapped_lines(utterance: Utterance, max_chars: int = WRAP_CHARS) -> list[str]:
    """Return the lines of an utterance, each with its speaker, cut at the last space that fits, else in the word.

    No character is cut: a text that was made harmless holds no halves of any.
    """
    return [f"{utterance.speaker}: {piece}" for piece in _pieces(utterance.text, max_chars)]


def _pieces(text: str, max_chars: int) -> Iterator[str]:
    at = 0
    while len(text) - at > max_chars:
        space = text.rfind(" ", at + 1, at + max_chars + 1)
        end = at + max_chars if space < 0 else space
        yield text[at:end].strip()
        at = end + (space >= 0)
    if at < len(text):
        yield text[at:].strip()
