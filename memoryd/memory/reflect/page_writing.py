"""Writes the pages of a plan, one after the other: what stands between their markers, and no other byte."""

import asyncio
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.generated import GeneratedPage, block_in, block_of, citations_in, has_no_marker, with_block
from memoryd.domain.memories.kinds import ShortId, WrittenBy
from memoryd.domain.memories.reflect.pages import CitedFiles, StatedMemories, why_refused
from memoryd.errors import InvalidRequest, MemorydError, RequestError
from memoryd.memory.journal import Journal
from memoryd.memory.reflect.outcome import PageRefusal
from memoryd.memory.reflect.page_summaries import PageSummaries, without_summary

WHY: Final = "reflect brought the page up to date"


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as it is to be, and the text that it has; None where there is no file."""

    page: GeneratedPage
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossGuard:
    """What a page is held against before it is written. `is_off`: the owner said that what is lost may go."""

    stated: StatedMemories
    files: CitedFiles
    forgotten: Set[ShortId] = frozenset()
    is_off: bool = False

    def check(self, text: str, page: GeneratedPage) -> None:
        """Raise ValueError if a page would lose too much."""
        block = block_in(text)
        if block is None or self.is_off:
            return
        if why := why_refused(block, page, self.stated, self.files, self.forgotten):
            raise ValueError(f"{why}; if that is meant to be: memoryctl reflect --allow-loss")


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """What came of writing pages; `unchanged` counts those that said it all already."""

    written: tuple[str, ...]
    unchanged: int
    refusals: tuple[PageRefusal, ...]


class PageWriter:
    """Writes pages through the journal of a workspace; of a run that is dry it tells what it would write."""

    def __init__(self, journal: Journal, guard: LossGuard, summaries: PageSummaries | None = None) -> None:
        self._journal = journal
        self._guard = guard
        self._summaries = summaries

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
        summary = "" if self._summaries is None or is_dry else await self._summaries.of(page)
        if is_dry:
            return True
        change = await self._journal.change(
            page.path, lambda now: self._made(page, now, summary), by=WrittenBy.REFLECT, why=WHY, run=run
        )
        return change.is_written

    def _made(self, page: GeneratedPage, text: str | None, summary: str) -> str | None:
        """Return what the text of a page is to become, None if it says so already; raises ValueError."""
        if text is None:
            return with_block(None, page, block_of(page, summary)) if page.sections else None
        block = block_of(page)
        with_block(text, page, block)
        if block_in(text) is not None and without_summary(block_in(text) or "") == block:
            # a summary of the same facts stays, so that a second run changes nothing
            return None
        self._guard.check(text, page)
        return with_block(text, page, block_of(page, summary))


def _cited(texts: Sequence[str]) -> set[str]:
    blocks = filter(None, map(block_in, texts))
    return {one.path for block in blocks for one in citations_in(block)}


async def cited_files(journal: Journal, states: Collection[PageState], known: Collection[str]) -> CitedFiles:
    """Look for the files that blocks cite and the index does not have."""
    cited = await asyncio.to_thread(_cited, [state.text for state in states if state.text is not None])
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
