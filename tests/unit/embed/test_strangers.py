"""The strangers of a model are embedded once, kept in a file, and embedded again if the file is damaged."""

import asyncio
import os
from pathlib import Path

import numpy as np
import pytest

from memoryd.domain.vector import Vector
from memoryd.embed import calibration
from memoryd.embed.calibration import SPACED, UNSPACED, UnrelatedTexts, speed_of
from tests.fakes import FakeEmbedder, vector_of
from tests.waiting import eventually_async


@pytest.fixture(autouse=True)
def no_remeasure_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "REMEASURE_SECONDS", 0.0)


async def test_model_is_asked_once_for_all_processes(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    await UnrelatedTexts(tmp_path).measure(embedder)
    known = UnrelatedTexts(tmp_path)
    await known.measure(embedder)
    await known.measure(embedder)
    assert embedder.embedded == [*SPACED, *UNSPACED]
    rows = known.for_question(embedder, "Who keeps the bees?")
    assert rows is not None
    assert np.allclose(rows.vectors, [vector_of(text) for text in SPACED], atol=1e-3)


async def test_strangers_match_the_script_of_the_question(tmp_path: Path) -> None:
    known, embedder = UnrelatedTexts(tmp_path), FakeEmbedder()
    await known.measure(embedder)
    rows = known.for_question(embedder, "Mandy 人在哪个国家？")
    assert rows is not None
    assert np.allclose(rows.vectors, [vector_of(text) for text in UNSPACED], atol=1e-3)


async def test_each_model_has_its_own_strangers(tmp_path: Path) -> None:
    known, first, second = UnrelatedTexts(tmp_path), FakeEmbedder(name="first"), FakeEmbedder(name="second")
    await known.measure(first)
    assert known.for_question(second, "Who?") is None
    await known.measure(second)
    assert first.embedded == second.embedded
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "another model's", "grown", "a pipe", "a folder"])
async def test_damaged_file_is_measured_again(tmp_path: Path, damage: str) -> None:
    embedder, other = FakeEmbedder(), FakeEmbedder(name="other")
    await UnrelatedTexts(tmp_path).measure(embedder)
    path = tmp_path / embedder.identity.fingerprint
    data = path.read_bytes()
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[:-2])
        case "flipped":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        case "another model's":
            await UnrelatedTexts(tmp_path).measure(other)
            path.write_bytes((tmp_path / other.identity.fingerprint).read_bytes())
        case "grown":
            path.write_bytes(data + b"\0")
        case "a pipe":
            # opening a pipe without a writer blocks for ever
            path.unlink()
            os.mkfifo(path)
        case _:
            path.unlink()
            path.mkdir()
    known, asked = UnrelatedTexts(tmp_path), FakeEmbedder()
    await known.measure(asked)
    assert len(asked.embedded) == len(SPACED) + len(UNSPACED)
    assert known.for_question(asked, "Who?") is not None


async def test_changed_texts_are_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder()
    await UnrelatedTexts(tmp_path).measure(embedder)
    monkeypatch.setattr(calibration, "_TEXTS", (*SPACED[:-1], "Another note.", *UNSPACED))
    await UnrelatedTexts(tmp_path).measure(embedder)
    assert embedder.embedded.count("Another note.") == 1


@pytest.mark.parametrize(
    "embedder", [FakeEmbedder(is_down=True), FakeEmbedder(unfit=frozenset({"plum"}))], ids=["down", "unfit"]
)
async def test_model_without_vectors_is_asked_again_later(tmp_path: Path, embedder: FakeEmbedder) -> None:
    known = UnrelatedTexts(tmp_path)
    await known.measure(embedder)
    assert known.for_question(embedder, "Who?") is None
    embedder.is_down, embedder.unfit = False, frozenset()
    await known.measure(embedder)
    assert known.for_question(embedder, "Who?") is not None


async def test_model_that_rejects_a_stranger_counts_as_measured(tmp_path: Path) -> None:
    known, refusing = UnrelatedTexts(tmp_path), FakeEmbedder(unfit=frozenset({"plum"}))
    down = FakeEmbedder(name="down", is_down=True)
    for embedder in (refusing, down):
        assert known.is_unmeasured(embedder)
        await known.measure(embedder)
    assert known.is_unmeasured(down)
    assert not known.is_unmeasured(refusing)


async def test_second_measurement_does_not_wait_for_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "REMEASURE_SECONDS", 900.0)
    known, embedder = UnrelatedTexts(tmp_path), FakeEmbedder()
    embedder.goes_on.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(known.measure(embedder))
        await eventually_async(lambda: embedder.batches)
        await known.measure(embedder)
        assert len(embedder.batches) == 1
        embedder.goes_on.set()
    assert known.for_question(embedder, "Who?") is not None


async def test_question_triggers_the_missing_measurement(tmp_path: Path) -> None:
    known, embedder = UnrelatedTexts(tmp_path), FakeEmbedder()
    loop = asyncio.create_task(known.run())
    try:
        assert known.for_question(embedder, "Who?") is None
        await eventually_async(lambda: known.for_question(embedder, "Who?") is not None)
    finally:
        loop.cancel()
    assert len(embedder.embedded) == len(SPACED) + len(UNSPACED)


async def test_unwritable_folder_does_not_prevent_measuring(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    known, embedder = UnrelatedTexts(tmp_path / "file" / "below"), FakeEmbedder()
    await known.measure(embedder)
    assert known.for_question(embedder, "Who?") is not None


class PassagesOnly(FakeEmbedder):
    async def embed_query(self, text: str) -> Vector:
        pytest.fail("no question is a passage")


async def test_speed_is_measured_with_passages_only() -> None:
    embedder = PassagesOnly()
    assert await speed_of(embedder) > 0
    assert embedder.embedded == [*SPACED, *UNSPACED]
