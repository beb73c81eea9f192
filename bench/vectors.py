"""Random unit vectors for an index at rest: the price of a search does not depend on what they mean."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from memoryd.domain.vector import Matrix
from memoryd.embed.local.local_model import identity_of
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.models.families import family_of, inspect
from memoryd.store.index.database import Database
from memoryd.store.index.vectors import Vectors

NOTE = "random vectors written into the index at rest"
BATCH = 50_000


def model_identity(model: Path) -> EmbedderIdentity:
    """Return the identity that the daemon gives this model, so that it takes the vectors for its own."""
    metadata = inspect(model)
    return identity_of(model, metadata, family_of(metadata))


def fill(index: Path, identity: EmbedderIdentity) -> int:
    """Give every passage of the index a random vector; return how many distinct texts there are."""
    return asyncio.run(_fill(index, identity))


def random_units(count: int, dimensions: int, random: np.random.Generator) -> Matrix:
    """Return `count` vectors of length 1."""
    drawn = random.standard_normal((count, dimensions), dtype=np.float32)
    units: Matrix = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return units


async def _fill(index: Path, identity: EmbedderIdentity) -> int:
    with ThreadPoolExecutor(2) as executor:
        database = Database(path=index, executor=executor)
        await database.open()
        try:
            return await _fill_batches(database.vectors, identity)
        finally:
            await database.close()


async def _fill_batches(vectors: Vectors, identity: EmbedderIdentity) -> int:
    space = await vectors.open_space(
        fingerprint=identity.fingerprint,
        provider=identity.provider,
        model=identity.model,
        dimensions=identity.dimensions,
        now=time.time(),
    )
    random, filled = np.random.default_rng(identity.dimensions), 0
    while waiting := (await vectors.pending(space, BATCH)).passages:
        units = random_units(len(waiting), identity.dimensions, random)
        given = [(item.hash, unit, item.language) for item, unit in zip(waiting, units, strict=True)]
        await vectors.put(space, given, (), time.time())
        filled += len(waiting)
    return filled
