"""Writes to the memories of a small workspace, run in a child that the tests kill; this module imports quickly."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

from memoryd.agents.retained.entities import merge
from memoryd.agents.retained.retaining import AgentCore, CoreRights
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, EntityPage, MemorySource, book_of
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine
from memoryd.files.scanner import ScanRules
from memoryd.memory.journal import Journal
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.retaining import Retaining
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.ledger import Ledger

DAY = date(2026, 11, 18)
LOG, CORE = RelativePath("memory/2026-11-18.md"), RelativePath("MEMORY.md")
PAGE = RelativePath("bank/entities/peter.md")
BEFORE = {
    LOG: b"# Wednesday\r\n\r\n## Retain\r\n- W: one\r\n",
    CORE: b"# Memory\n\nPeter lives in Graz.\n",
    PAGE: b"---\naliases: [ P ] # his\n---\n# Peter\n\nA friend.\n",
}


@asynccontextmanager
async def journal_in(folder: Path) -> AsyncIterator[Journal]:
    workspace = folder / "workspace"
    rules = ScanRules(workspace=workspace, is_ignored=lambda _path: False)
    with ThreadPoolExecutor(2) as executor:
        ledger = Ledger(folder / "state" / "ledger.sqlite", executor)
        try:
            files = NoteFiles(workspace, lambda: rules)
            yield Journal(files=files, changes=ChangeLog(ledger, str(workspace)), executor=executor)
        finally:
            await ledger.close()


async def act(folder: Path, what: str) -> None:
    async with journal_in(folder) as journal:
        if what == "core":
            await AgentCore(journal=journal, max_chars=12_000, rights=CoreRights(0.95)).replace("Graz", "Wien")
        elif what == "merge":
            await merge(journal, _book(), "Pete", "Peter")
        else:
            await Retaining(journal, lambda: DAY).retain([RetainedLine(Kind.WORLD, "two", ("Peter",))])


def _book() -> Book:
    line = RetainedLine(Kind.WORLD, "lives in Graz", ("Pete",))
    return book_of([MemorySource(LOG, 4, 4, line, DAY, None, 1)], [EntityPage(PAGE, "Peter", ("P",))])


def run_act(folder: str, what: str) -> None:
    """Run one action in this process, which may be killed."""
    asyncio.run(act(Path(folder), what))
