"""A model file that is replaced at an awkward moment is tried."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memoryd.embed.local import local_model
from memoryd.errors import ModelError
from memoryd.models.store import ModelStore
from tests.waiting import eventually_async


@pytest.mark.parametrize("before", [None, b"half"])
async def test_file_replaced_while_it_was_tried_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    monkeypatch.setattr(local_model, "POLL_SECONDS", 0.02)
    path = tmp_path / "model.gguf"
    tried = list[bytes]()
    if before is not None:
        path.write_bytes(before)

    class Tried(local_model.LocalModel[Any]):
        absent, meanwhile = "no model", "nothing goes on"

        def make(self, found: Path) -> Any:
            tried.append(found.read_bytes())
            # whoever copies it is done before anybody looks again
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
