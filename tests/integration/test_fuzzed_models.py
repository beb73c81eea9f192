"""Row 154 of the fault catalogue: models with changed bytes, given to the real worker."""

import asyncio
import math
import os
import random
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from memoryd.errors import EmbedderUnavailable, EmbeddingError, ModelError
from memoryd.models.families import inspect, inspect_chat_model, inspect_reranker
from tests.integration.test_worker_faults import comes_back, real, running
from tests.sweeps import whole_or

HEAD_BYTES = 200_000
"""The part of the file with metadata; the rest is numbers."""
SECONDS = 60
MAX_BYTES = 100_000_000
"""The header of the whole model takes some 10 MB."""


def fuzzed(whole: bytes, seed: int) -> bytes:
    """Return the file with some bytes changed, mostly in its metadata, or truncated."""
    rnd, data = random.Random(seed), bytearray(whole)
    for _ in range(rnd.choice((1, 4, 64))):
        at = rnd.randrange(rnd.choice((64, 4096, HEAD_BYTES, len(data))))
        data[at] = rnd.choice((0, 0x7F, 0xFF, rnd.randrange(256)))
    return bytes(data if rnd.random() < 0.8 else data[: rnd.randrange(len(data))])


@pytest.mark.sweep
@pytest.mark.parametrize("read", [inspect, inspect_chat_model, inspect_reranker])
def test_f154_fuzzed_header_is_read_or_refused_by_the_daemon(
    tmp_path: Path, starter_model: Path, read: Callable[[Path], object]
) -> None:
    """A changed header is read, or refused in words; no other error and no great memory comes of it."""
    with starter_model.open("rb") as file:
        head = file.read(HEAD_BYTES)
    model, refused = tmp_path / "model.gguf", 0
    tracemalloc.start()
    for seed in range(whole_or(10, 1000)):
        model.write_bytes(fuzzed(head, seed))
        os.truncate(model, starter_model.stat().st_size)
        try:
            assert read(model)
        except ModelError as exc:
            refused += bool(str(exc))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refused
    assert most < MAX_BYTES


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(whole_or(1, 100)))
async def test_f154_fuzzed_model_is_refused_or_embeds(tmp_path: Path, starter_model: Path, seed: int) -> None:
    """A model with changed bytes is an error with a reason, or gives numbers; a whole one in its place then works."""
    whole, model = starter_model.read_bytes(), tmp_path / "model.gguf"
    model.write_bytes(fuzzed(whole, seed))
    async with running(real(model)) as worker, asyncio.timeout(SECONDS):
        vector: Sequence[float] = ()
        with suppress(EmbedderUnavailable, ModelError, EmbeddingError):
            vector = (await worker.embed_query("a good question")).tolist()
        assert all(map(math.isfinite, vector))
        beside = tmp_path / "whole.gguf"
        beside.write_bytes(whole)
        beside.rename(model)
        await comes_back(worker)
