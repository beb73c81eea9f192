"""Bundles in the message shapes of the APIs that agents call: the same text, its stable block first and apart.

What is stable stands in a part of its own before the tail, so that a cache of prompt prefixes ends there. The text is
that of the bundle, byte for byte: it was made harmless before, and no shape has it as anything but the value of a text.
A part that is empty is left out: the APIs refuse empty ones.
Shapes: https://platform.openai.com/docs/api-reference/chat, https://docs.anthropic.com/en/api/messages,
https://ai.google.dev/api/generate-content; that of rsclaw is the hidden field that its recall fills.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from memoryd.domain.memories.bundle import Bundle

EncodedBundle = str | dict[str, Any]


class Encoding(StrEnum):
    """How a bundle is written."""

    TEXT = "text"
    """Delimited text."""
    RSCLAW = "rsclaw"
    """`{"rsclaw_hidden": {"recall_context": TEXT}}`."""
    OPENAI = "openai"
    """`{"messages": […]}`: a system message with a text part for each block, or none; also for all who copy it."""
    ANTHROPIC = "anthropic"
    """`{"system": […]}`: a text block each, the stable one with `cache_control`."""
    GEMINI = "gemini"
    """`{"systemInstruction": {"parts": […]}}`: a text part each; an empty object where there is none."""


def encoded(made: Bundle, encoding: Encoding = Encoding.TEXT) -> EncodedBundle:
    """Return the bundle as text, or as an object to merge into a request; see `Encoding`."""
    return _SHAPES[encoding](made)


def blocks(made: Bundle) -> list[str]:
    """Return what is told, the stable block first; what is empty, or known to the asker, is left out."""
    return [text for text in ("" if made.is_unchanged else made.stable.text, made.tail) if text]


def _text(made: Bundle) -> EncodedBundle:
    return made.text


def _rsclaw(made: Bundle) -> EncodedBundle:
    return {"rsclaw_hidden": {"recall_context": made.text}}


def _openai(made: Bundle) -> EncodedBundle:
    # one message, not two: the chat templates of many models take a single system message, at the beginning
    parts = [{"type": "text", "text": text} for text in blocks(made)]
    return {"messages": [{"role": "system", "content": parts}] if parts else []}


def _anthropic(made: Bundle) -> EncodedBundle:
    parts: list[dict[str, object]] = [{"type": "text", "text": text} for text in blocks(made)]
    if made.stable.text and not made.is_unchanged:
        parts[0]["cache_control"] = {"type": "ephemeral"}
    return {"system": parts}


def _gemini(made: Bundle) -> EncodedBundle:
    parts = [{"text": text} for text in blocks(made)]
    return {"systemInstruction": {"parts": parts}} if parts else {}


_SHAPES: Final[Mapping[Encoding, Callable[[Bundle], EncodedBundle]]] = {
    Encoding.TEXT: _text,
    Encoding.RSCLAW: _rsclaw,
    Encoding.OPENAI: _openai,
    Encoding.ANTHROPIC: _anthropic,
    Encoding.GEMINI: _gemini,
}
