"""The pages of entities that a question names: the first lines of each that the asker may see."""

import asyncio
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, EntityPage
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.generated import citations_in
from memoryd.domain.memories.kinds import MemoryId, ShortId
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.files.excerpts import Presence, PresentFiles
from memoryd.memory.recall.query import RecalledEntity

SUMMARY_CHARS = 600
MAX_PAGES = 3
"""Of one question."""
_PAGE_BYTES = 64 * 1024
_LINE_CHARS = 2_000
"""So much of a page, and of a line of it, is read for its summary."""
_LINK = expression(r"\s*\(?\[[^\[\]\n]{0,400}+\]\([^()\s]{1,2000}+(?: \"[0-9a-f]{8}\")?\)\)?")
_COMMENT = expression(r"<!--.{0,200}?-->")


class EntityPages(Struct, frozen=True, kw_only=True):
    """Reads the pages of one workspace; one that is private, gone or late is not told."""

    files: PresentFiles
    executor: Executor

    async def of(
        self, entities: Iterable[EntitySlug], book: Book, filters: RecallFilters, seconds: float
    ) -> tuple[RecalledEntity, ...]:
        """Return the pages of these entities, as far as they can be read within so many seconds."""
        named = [
            (slug, book.pages[slug]) for slug in sorted(entities) if slug in book.pages and filters.admits_entity(slug)
        ][:MAX_PAGES]
        if not named or filters.turns_back or not filters.admits_pages:
            # what a page said then nobody knows
            return ()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                texts = await loop.run_in_executor(self.executor, lambda: [self._text(page) for _, page in named])
        except TimeoutError:
            return ()
        found = (_summed_up(slug, page, text, book, filters) for (slug, page), text in zip(named, texts, strict=True))
        return tuple(one for one in found if one.summary)

    def _text(self, page: EntityPage) -> str:
        seen = self.files.look(RelativePath(page.path), None, self.files.moment())
        if seen.presence is not Presence.OTHER:
            return ""
        body = seen.data[: len(seen.data) - len(PADDING)]
        return body[front_matter_bytes(seen.data) :][:_PAGE_BYTES].decode("utf-8", "replace")


def _summed_up(slug: EntitySlug, page: EntityPage, text: str, book: Book, filters: RecallFilters) -> RecalledEntity:
    """Return the first lines of a page that the asker may see, and the memories that these rest on."""
    told, memories, left = list[str](), dict[MemoryId, None](), SUMMARY_CHARS
    for line, cited in _summary_lines(text):
        rests_on = [key for one in cited if (key := book.of_short(one)) is not None]
        # a line that rests on what is beyond the asker's reach tells of it
        if len(rests_on) < len(cited) or not all(filters.standing(book.memories[one]) for one in rests_on):
            continue
        if len(line) > left:
            break
        told.append(line)
        memories |= dict.fromkeys(rests_on)
        left -= len(line) + 1
    return RecalledEntity(slug, page.name, page.path, "\n".join(told), tuple(memories))


def _summary_lines(text: str) -> Iterator[tuple[str, list[ShortId]]]:
    """Yield the lines that say something, without links, and which memories each links to."""
    for raw in text.split("\n"):
        line = _COMMENT.sub("", raw[:_LINE_CHARS]).strip()
        if not line or line.startswith("#"):
            continue
        cited = [memory for memory, _ in citations_in(line)]
        if plain := _LINK.sub("", line).strip():
            yield plain, cited
