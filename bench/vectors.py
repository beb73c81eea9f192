"""Random unit vectors for an index at rest: the price of a search does not depend on what they mean."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np

from memoryd.embed.local.identity import identity_of
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.models.families import family_of
from memoryd.models.gguf_header import inspect
from memoryd.store.database import Database
from memoryd.store.index_schema import prepare_index
from memoryd.store.pending_passages import pending
from memoryd.store.stored_vectors import Matrix, put_vectors
from memoryd.store.vector_spaces import open_space

NOTE = "random vectors written into the index at rest"
BATCH = 10_000


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
    random = np.random.default_rng(identity.dimensions)
    with ThreadPoolExecutor(2) as executor:
        database = Database(path=index, executor=executor)
        await database.open(prepare_index)
        try:
            return await database.write(lambda db: sum(_fill_batches(db, identity, random)))
        finally:
            await database.close()


def _fill_batches(db: apsw.Connection, identity: EmbedderIdentity, random: np.random.Generator) -> Iterator[int]:
    space = open_space(
        db,
        fingerprint=identity.fingerprint,
        provider=identity.provider,
        model=identity.model,
        dimensions=identity.dimensions,
        now=time.time(),
    )
    while waiting := pending(db, space, BATCH):
        units = random_units(len(waiting), identity.dimensions, random)
        put_vectors(db, space, [(item.hash, unit) for item, unit in zip(waiting, units, strict=True)], time.time())
        yield len(waiting)
