"""What it costs to hold hits against their files, and what three users are told who edit and ask at once."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.measurement import Aim, Bench, Row
from bench.timing import Stopwatch, median, percentile
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.syncplan import RACY_WINDOW_NS, IndexedFile
from memoryd.files.excerpts import FileChecker
from memoryd.files.ignore import IgnoreFile
from memoryd.files.reading import read_snapshot
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRules
from memoryd.search.file_check import FileCheck
from memoryd.store.index.passages import ChunkRow
from tests.editing_users import EDITS, missed, run_edits, stale

HITS, LINES, CALLS, THREADS = 6, 300, 2_000, 6
STALE_AIM, IDLE_AIM = Aim(0), Aim(0.3)


def rows(bench: Bench) -> Iterator[Row]:
    """Check hits in files that did not change, then edit and ask with a watcher and without one."""
    took = asyncio.run(_unchanged(bench.folder / "unchanged"))
    note = f"{HITS} hits in as many files, beside the look before a question"
    yield Row("hits held against files that did not change", took, "ms", IDLE_AIM, note)
    for name, watch in (("watched", True), ("scanned", False)):
        history, answers = run_edits(bench.folder / name, 1, sync={"watch": watch})
        asked = [one.end - one.start for one in answers[:EDITS]]
        complete = sum(one.is_complete for one in answers[:EDITS])
        yield Row(f"{EDITS} edits, {name}: stale hits told", len(list(stale(history, answers))), "hits", STALE_AIM)
        yield Row(f"{EDITS} edits, {name}: complete without the note", len(list(missed(answers))), "hits", STALE_AIM)
        yield Row(f"{EDITS} edits, {name}: complete answers", complete, "answers")
        yield Row(f"{EDITS} edits, {name}: question, p50", 1000 * median(asked), "ms")
        yield Row(f"{EDITS} edits, {name}: question, p95", 1000 * percentile(asked, 95), "ms")


async def _unchanged(workspace: Path) -> float:
    """Return the milliseconds of one check, the median of many, in this process."""
    (workspace / "memory").mkdir(parents=True)
    paths = [RelativePath(f"memory/{number}.md") for number in range(HITS)]
    for path in paths:
        (workspace / path).write_text("line\n" * LINES)
    # only then an equal stat proves something
    await asyncio.sleep(1.1 * RACY_WINDOW_NS / 1e9)
    found = [_row(workspace, path) for path in paths]
    ignore = IgnoreFile(workspace)

    def rules() -> ScanRules:
        ruling = ignore.read()
        return ScanRules(
            workspace, is_ignored=ruling.is_ignored, may_hide=ruling.may_hide, is_current=ruling.is_current
        )

    files = FileChecker(rules=rules, roots=lambda: workspace_roots(workspace, ()))
    with ThreadPoolExecutor(THREADS) as executor:
        check, took = FileCheck(files=files, executor=executor, chunker=""), []
        for _ in range(CALLS):
            watch = Stopwatch()
            await check.check(found, 1.0)
            took.append(watch.ms)
        return median(took)


def _row(workspace: Path, path: RelativePath) -> ChunkRow:
    content = read_snapshot(workspace, path, max_bytes=1 << 20)
    known = IndexedFile(content.stat, time.time_ns(), content.sha256)
    return ChunkRow(0, path, Source.MEMORY, 1, 2, "", "line\nline\n", content.stat.mtime_ns, known)
