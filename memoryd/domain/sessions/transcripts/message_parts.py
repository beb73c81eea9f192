"""Take a message out of a record: its text, and its blocks by their types."""

from collections.abc import Iterator, Mapping
from typing import Final

from memoryd.domain.sessions.transcripts.spoken_text import MAX_CHARS, MAX_RAW_CHARS, shortened, spoken_text
from memoryd.domain.sessions.transcripts.utterances import LeftOut, Speaker, Utterance

_SPEAKERS: Final = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}


def speaker_of(role: object) -> Speaker | None:
    """Return who has a role, None for tools, systems and what is no role."""
    return _SPEAKERS.get(role) if isinstance(role, str) else None


def text_blocks(content: object) -> list[str] | None:
    """Return the texts of a message's content: the one of a string, or of its text blocks; None if it is neither.

    No more than `MAX_RAW_CHARS` characters of each, and of all together.
    """
    if isinstance(content, str):
        return [shortened(content, MAX_RAW_CHARS)]
    if not isinstance(content, list):
        return None
    texts, left = [], MAX_RAW_CHARS
    for text in _texts(content):
        if left <= 0:
            break
        texts.append(shortened(text, left))
        left -= len(text)
    return texts


def _texts(content: list[object]) -> Iterator[str]:
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def inner(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return an object inside of a record, an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def uttered(speaker: Speaker, text: str) -> Utterance | LeftOut:
    """Return what is kept of a text, or that nothing of it is."""
    kept = spoken_text(text)
    return Utterance(speaker, kept, is_cut=len(text) > MAX_CHARS) if kept else LeftOut.DROPPED
