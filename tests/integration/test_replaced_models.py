"""A model file that is replaced at an awkward moment is tried, and one that cannot be fetched fills no log."""

import asyncio
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from memoryd.embed.current import CurrentEmbedder
from memoryd.embed.local import local_model
from memoryd.embed.local.local_model import LocalEmbedding, LocalSettings
from memoryd.errors import ModelError
from memoryd.models.fetching import DownloadTimeouts
from memoryd.models.store import ModelStore
from memoryd.retry import BreakerRule, Retry
from tests.fakes import blow_up
from tests.waiting import eventually_async


@pytest.mark.parametrize("before", [None, b"half"])
async def test_file_replaced_during_loading_is_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    monkeypatch.setattr(local_model, "POLL_SECONDS", 0.02)
    path = tmp_path / "model.gguf"
    tried = list[bytes]()
    if before is not None:
        path.write_bytes(before)

    class Tried(local_model.LocalModel[Any]):
        failure_event, fallback_text = "no model", "nothing goes on"

        def make(self, found: Path) -> Any:
            tried.append(found.read_bytes())
            # the copy completes before the next poll
            path.write_bytes(b"whole")
            raise ModelError("no model")

    model = Tried(source=str(path), store=ModelStore(tmp_path))
    running = asyncio.create_task(model.run())
    try:
        if before is None:
            await eventually_async(lambda: model.trouble() is not None)
            path.write_bytes(b"half")
        await eventually_async(lambda: b"whole" in tried)
    finally:
        running.cancel()
    assert tried[:2] == [b"half", b"whole"]


async def test_hub_that_stays_out_of_reach_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "POLL_SECONDS", 0.02)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        hub = f"http://127.0.0.1:{closed.getsockname()[1]}"
        store = ModelStore(tmp_path, hub=hub, timeouts=DownloadTimeouts(pauses=()))
        model = LocalEmbedding(
            settings=LocalSettings(spec="hf:owner/name/model.gguf", threads=1, idle_unload=timedelta(minutes=1)),
            store=store,
            slot=CurrentEmbedder(lambda _state: None),
        )
        monkeypatch.setattr(model, "_retry", Retry(BreakerRule(first_delay=0.01, longest_delay=0.01)))
        with capture_logs() as logs:
            running = asyncio.create_task(model.run())
            try:
                failure = LocalEmbedding.failure_event
                await eventually_async(lambda: [one["event"] for one in logs].count(failure) > 2)
            finally:
                running.cancel()
    told = [(one["event"], one["log_level"]) for one in logs if one["log_level"] != "debug"]
    assert told == [("fetching a model", "info"), (failure, "warning")]


async def test_failed_worker_loop_leaves_no_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "POLL_SECONDS", 0.02)
    (tmp_path / "model.gguf").write_bytes(b"whole")

    class Broken:
        is_failing = False

        async def run(self) -> None:
            # after the task that watches it has started
            await asyncio.sleep(0.05)
            blow_up()

    class Kept(local_model.LocalModel[Any]):
        failure_event, fallback_text = "no model", "nothing goes on"

        def make(self, found: Path) -> Any:
            return Broken()

    before = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError):
        await Kept(source=str(tmp_path / "model.gguf"), store=ModelStore(tmp_path)).run()
    assert asyncio.all_tasks() == before
