"""Prose for pages, where a text model is configured: a paragraph over the facts of a page, which stay below it."""

from typing import Final

import structlog

from memoryd.domain.memories.generated import GeneratedPage, as_text
from memoryd.domain.memories.kinds import short_id
from memoryd.errors import TextModelUnavailable
from memoryd.memory.llm_prose import CitedFact, Prose

log = structlog.get_logger(__name__)

MAX_SUMMARIES: Final = 20
"""Of one run: a local model takes seconds for each."""
MIN_FACTS: Final = 3
SUMMARY: Final = "> Summary by "
"""How the paragraph begins."""


class PageSummaries:
    """Writes summaries: of one run at most `MAX_SUMMARIES`, and no more once the model is away.

    One that was refused stops no other.
    """

    def __init__(self, prose: Prose) -> None:
        self._prose = prose
        self._left = MAX_SUMMARIES

    def begin(self) -> None:
        """Begin a run."""
        self._left = MAX_SUMMARIES

    async def of(self, page: GeneratedPage) -> str:
        """Return the paragraph of a page, empty if there is none."""
        entries = [entry for section in page.sections for entry in section.entries]
        if self._left <= 0 or len(entries) < MIN_FACTS:
            return ""
        self._left -= 1
        facts = [CitedFact(short_id(one.memory), as_text(one.text)) for one in entries]
        try:
            summary = await self._prose.summary(facts)
        except TextModelUnavailable as exc:
            # one that is away is not waited for again and again
            log.info("no summaries from the text model", reason=str(exc))
            self._left = 0
            return ""
        return "" if summary is None else as_text_of(summary.model, summary.text)


def as_text_of(model: str, text: str) -> str:
    """Return the paragraph: who wrote it, and what."""
    return f"{SUMMARY}{as_text(model)}: {' '.join(text.split())}"


def without_summary(block: str) -> str:
    """Return a block without the paragraph that a text model wrote."""
    lines = block.split("\n")
    at = next((at for at, line in enumerate(lines) if line.startswith(SUMMARY)), None)
    return block if at is None else "\n".join([*lines[:at], *lines[at + 2 :]])
