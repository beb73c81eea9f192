"""What must not matter: the order of edits, a temporary rename, the debounce time, and other documents."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fault.model import document
from tests.integration.indexing import QUICK, Stage, staged
from tests.store.consistency import Dump
from tests.sweeps import swept

Edit = Callable[[Stage], object]
SEEDS = range(3)


def of_paths(dump: Dump, prefix: str) -> Dump:
    return [row for row in dump if str(row[0]).startswith(prefix)]


def edits(rnd: random.Random, folder: str, count: int) -> list[Edit]:
    """Return one edit per document: another text, a deletion, a rename, or a new file."""
    return [_edit(rnd, f"{folder}/{number}.md") for number in range(count)]


def _edit(rnd: random.Random, path: str) -> Edit:
    data = document(rnd, rnd.randint(1, 5))
    return rnd.choice(
        (
            lambda stage: stage.write(path, data),
            lambda stage: (stage.workspace / path).unlink(),
            lambda stage: (stage.workspace / path).rename(stage.workspace / f"{path}-renamed.md"),
            lambda stage: stage.write(f"{path}-new.md", data),
        )
    )


def fill(stage: Stage, folder: str, count: int = 12, seed: str = "first texts") -> None:
    rnd = random.Random(seed + folder)
    for number in range(count):
        stage.write(f"{folder}/{number}.md", document(rnd, rnd.randint(1, 5)))


async def after(stage: Stage, todo: Sequence[Edit], rnd: random.Random) -> Dump:
    """Apply the edits, with a sync after some of them; return the contents of the index at the end."""
    await stage.sync()
    for edit in todo:
        edit(stage)
        if rnd.random() < 0.4:
            await stage.sync()
    await stage.sync()
    return await stage.dump()


@swept("seed", [*SEEDS], 1)
async def test_order_of_edits_does_not_matter(tmp_path: Path, seed: int) -> None:
    dumps = []
    for turn in range(2):
        todo = edits(random.Random(seed), "memory", 12)
        rnd = random.Random(f"{seed}-{turn}")
        rnd.shuffle(todo)
        async with staged(tmp_path / f"w{turn}", tmp_path / f"s{turn}") as stage:
            fill(stage, "memory")
            dumps.append(await after(stage, todo, rnd))
    assert dumps[0] == dumps[1] != []


@pytest.mark.parametrize("name", ["memory/other.md", "bank/0.md", "memory/deep/er/0.md", "memory/0.txt"])
async def test_temporary_rename_changes_nothing(tmp_path: Path, name: str) -> None:
    async with staged(tmp_path / "w", tmp_path / "s") as stage:
        fill(stage, "memory")
        await stage.embed()
        before, sent = await stage.dump(), len(stage.embedder.embedded)
        old, new = stage.workspace / "memory/0.md", stage.workspace / name
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        await stage.sync()
        assert await stage.dump() != before
        new.rename(old)
        await stage.embed()
        assert await stage.dump() == before
        assert len(stage.embedder.embedded) == sent


@swept("seed", [*SEEDS], 1)
async def test_debounce_time_does_not_matter(tmp_path: Path, seed: int) -> None:
    dumps = []
    for factor in (1, 2):
        settings = replace(QUICK, debounce=QUICK.debounce * factor, max_hold=QUICK.max_hold * factor)
        async with staged(tmp_path / f"w{factor}", tmp_path / f"s{factor}", settings=settings) as stage:
            fill(stage, "memory")
            dumps.append(await after(stage, edits(random.Random(seed), "memory", 12), random.Random(seed)))
    assert dumps[0] == dumps[1] != []


@swept("seed", [*SEEDS], 1)
async def test_other_documents_do_not_matter(tmp_path: Path, seed: int) -> None:
    """An index of more documents, restricted to some, equals the index of those."""
    async with staged(tmp_path / "w1", tmp_path / "s1") as stage:
        fill(stage, "memory")
        alone = await after(stage, edits(random.Random(seed), "memory", 12), random.Random(seed))
    async with staged(tmp_path / "w2", tmp_path / "s2") as stage:
        fill(stage, "memory")
        fill(stage, "bank")
        todo = [*edits(random.Random(seed), "memory", 12), *edits(random.Random(seed + 99), "bank", 12)]
        random.Random(seed).shuffle(todo)
        among = await after(stage, todo, random.Random(seed))
    assert of_paths(among, "memory/") == alone != among
