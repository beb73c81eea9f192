"""Telling an agent whether a citation that it was given still stands."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.citations import parse
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, book_of
from memoryd.domain.memories.changes.verification import CitationCheck, verified
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.errors import InvalidRequest, MemorydError
from memoryd.memory.book import MemoryBook
from memoryd.memory.journal import Journal

FOLLOW_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a citation, and the newer versions of the memory."""

    check: CitationCheck
    superseded_by: tuple[str, ...] = ()


class AgentVerifying:
    """Verifies citations of one agent's notes; of memories of others it knows nothing.

    `follow` has the index follow the disk.
    """

    def __init__(
        self, *, agent: Agent, book: MemoryBook, journal: Journal, follow: Callable[[], Awaitable[None]]
    ) -> None:
        self._agent = agent
        self._book = book
        self._journal = journal
        self._follow = follow

    async def verify(self, text: str, admitted: Admitted) -> Verified:
        """Return what became of a citation; raises InvalidRequest for what is none, StoreError."""
        try:
            citation = parse(text)
        except ValueError as exc:
            raise InvalidRequest(str(exc)) from exc
        if citation.start_line is None:
            raise InvalidRequest(f"{text} names no lines", hint="give a citation such as memory/2026-11-20.md#L12")
        # what was saved a moment ago counts: the citation is held against the disk
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FOLLOW_SECONDS):
                await self._follow()
        book = self._reaching(await self._book.now(), admitted)
        check = verified(book, citation, await self._lines(citation.path))
        older = check.memory.id if check.memory is not None else None
        return Verified(check, tuple(newer for newer, olds in book.superseded.items() if older in olds))

    def _reaching(self, book: Book, admitted: Admitted) -> Book:
        reach = MemoryReach(self._agent.id, admitted.channel, is_owner=admitted.is_owner)
        sources = [
            source
            for memory in book.memories.values()
            for source in memory.sources
            if reach.admits(source.line.attributes.scope)
        ]
        return book_of(sources, book.pages.values())

    async def _lines(self, path: str) -> int | None:
        """Count the lines of a note as it stands; None if nothing may be told of it."""
        try:
            text = (await self._journal.read(RelativePath(path))).text
        except MemorydError:
            return None
        return None if text is None else len(text.removesuffix("\n").split("\n"))
