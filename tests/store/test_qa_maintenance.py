"""Maintenance of the main file: a failed step is reported and retried until it succeeds."""

import asyncio
import contextlib
from datetime import UTC, datetime
from pathlib import Path

from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.sessions.qa_store import QaMaintenance, QaStore
from tests.waiting import eventually_async

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


async def test_failed_step_is_reported_and_retried(tmp_path: Path) -> None:
    maintenance = QaMaintenance(now=lambda: NOW, update_seconds=0.01, retry_seconds=0.02)
    store = QaStore(tmp_path, on_change=maintenance.note_change)
    store.sessions.open()
    assert store.turns.append("x", RawTurn("Which port?", None, NOW), agent="main")
    sessions, aside = tmp_path / "memory/sessions", tmp_path / "aside"
    sessions.rename(aside)
    sessions.write_text("no folder")
    running = asyncio.ensure_future(maintenance.run(store))
    await eventually_async(lambda: maintenance.trouble)
    assert not (tmp_path / "memory/qa-index.json").exists()
    sessions.unlink()
    aside.rename(sessions)
    await eventually_async(lambda: not maintenance.trouble and (tmp_path / "memory/qa-index.json").exists())
    assert not running.done()
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
