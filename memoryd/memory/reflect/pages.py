"""Writing the pages of a reflect plan: the text between their markers, and no other byte; with the result of a run.

Where a text model is configured, a page gets a paragraph of prose above its facts.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Final

import structlog
from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.generated import (
    SUMMARY,
    GeneratedPage,
    as_text,
    block_in,
    block_of,
    citations_in,
    has_no_marker,
    with_block,
)
from memoryd.domain.memories.kinds import ShortId, WrittenBy, short_id
from memoryd.domain.memories.reflect.pages import CitedFiles, why_refused
from memoryd.errors import InvalidRequest, MemorydError, RequestError, TextModelUnavailable
from memoryd.memory.journal import Journal
from memoryd.memory.llm import CitedFact, Prose

log = structlog.get_logger(__name__)

MAX_SUMMARIES: Final = 20
"""Of one run: a local model takes seconds for each."""
MIN_FACTS: Final = 3
WHY: Final = "reflect brought the page up to date"


class ReflectOptions(Struct, frozen=True, kw_only=True):
    """What a run is to do. `since` is the first day it looks at for observations and proposals; pages are made of all
    memories, and evidence counts once, however old.

    `is_dry`: nothing is written. `allows_loss`: pages may lose what they told, since it is gone on purpose.
    """

    since: date
    is_dry: bool = False
    allows_loss: bool = False


class PageRefusal(Struct, frozen=True):
    """A page that was left as it is, and why."""

    path: str
    why: str
    lacks_markers: bool = False


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


class PageState(Struct, frozen=True):
    """A page as it is to be, and the text that it has; None where there is no file."""

    page: GeneratedPage
    text: str | None


class WrittenPages(Struct, frozen=True):
    """What came of writing pages; `unchanged` counts those that said it all already."""

    written: tuple[str, ...]
    unchanged: int
    refusals: tuple[PageRefusal, ...]


class PageWriter(Struct, frozen=True):
    """Writes pages through the journal of a workspace; of a run that is dry it tells what it would write.

    A page is held against `stated` and `files` before that; `allows_loss`: the owner said that what is lost may go.
    """

    journal: Journal
    stated: Mapping[ShortId, frozenset[str]]
    files: CitedFiles
    allows_loss: bool = False
    summaries: PageSummaries | None = None

    async def write(self, states: Sequence[PageState], run: str, *, is_dry: bool) -> WrittenPages:
        """Write what differs; a page that cannot be written is left as it is and told."""
        written: list[str] = []
        refusals: list[PageRefusal] = []
        unchanged = 0
        for state in states:
            try:
                has_changed = await self._write(state, run, is_dry=is_dry)
            except (ValueError, RequestError) as exc:
                lacks_markers = state.text is not None and has_no_marker(state.text)
                refusals.append(PageRefusal(state.page.path, str(exc), lacks_markers))
            else:
                unchanged += not has_changed
                written += [state.page.path] * has_changed
        return WrittenPages(tuple(written), unchanged, tuple(refusals))

    async def _write(self, state: PageState, run: str, *, is_dry: bool) -> bool:
        page, text = state.page, state.text
        # a page of many entries takes longer than the loop may be held
        made = await asyncio.to_thread(self._made, page, text, "")
        if made is None:
            return False
        summary = "" if self.summaries is None or is_dry else await self.summaries.of(page)
        if is_dry:
            return True
        change = await self.journal.change(
            page.path, lambda now: self._made(page, now, summary), by=WrittenBy.REFLECT, why=WHY, run=run
        )
        return change.is_written

    def _made(self, page: GeneratedPage, text: str | None, summary: str) -> str | None:
        """Return what the text of a page is to become, None if it says so already; raises ValueError."""
        if text is None:
            return with_block(None, page, block_of(page, summary)) if page.sections else None
        block, stands = block_of(page), block_in(text)
        with_block(text, page, block)
        if stands is not None and without_summary(stands) == block:
            # a summary of the same facts stays, so that a second run changes nothing
            return None
        why = "" if stands is None or self.allows_loss else why_refused(stands, page, self.stated, self.files)
        if why:
            raise ValueError(f"{why}; if that is meant to be: memoryctl reflect --allow-loss")
        return with_block(text, page, block_of(page, summary))


async def cited_files(journal: Journal, states: Collection[PageState], known: Collection[str]) -> CitedFiles:
    """Look for the files that blocks cite and the index does not have."""
    texts = [state.text for state in states if state.text is not None]
    blocks = await asyncio.to_thread(lambda: [citations_in(block_in(text) or "") for text in texts])
    cited = {path for block in blocks for _, path in block}
    gone: set[str] = set()
    private: set[str] = set()
    for path in sorted(cited.difference(known)):
        try:
            is_there = (await journal.read(RelativePath(path))).text is not None
        except InvalidRequest:
            # what may not be read any more
            is_there = True
        except MemorydError:
            is_there = False
        (private if is_there else gone).add(path)
    return CitedFiles(frozenset(gone), frozenset(private))
