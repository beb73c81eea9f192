"""What a model makes of notes that answer nothing: learned once for each model, and kept beside the models.

In a few notes nobody can tell noise from an answer: one of five may be the answer. But how near strangers come is a
trait of the model, and so it is measured on notes of nobody (`stranger_texts.py`). Those go where the owner's notes go,
never elsewhere, and hold nothing of anybody.
"""

import asyncio
import time
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from memoryd.domain.text.words import is_unspaced
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Fingerprint, Passage, Unembeddable
from memoryd.embed.stranger_texts import SPACED, UNSPACED
from memoryd.errors import EmbeddingError
from memoryd.files.reading import NotReadableError, TornReadError, read_octets
from memoryd.files.writing import replace_file

log = structlog.get_logger(__name__)

AGAIN_SECONDS: Final = 900.0
"""After this a model is asked again that gave no vectors, or that is being asked."""
LENGTH_TOLERANCE: Final = 0.01
_TEXTS: Final = (*SPACED, *UNSPACED)
_DIGEST_BYTES: Final = 32

Rows = NDArray[np.float32]
"""One vector of length 1 in each row."""


class Strangers:
    """The vectors of the notes of nobody, by model; one file of `folder` for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Fingerprint, Rows] = {}
        self._not_before: dict[Fingerprint, float] = {}
        """When a model may be asked (monotonic clock)."""
        self._wanted: asyncio.Queue[Embedder] = asyncio.Queue(1)

    def of(self, embedder: Embedder, question: str) -> Rows | None:
        """Return the strangers of a question, in a script like its own; None until they are known, which is seen to."""
        rows = self._known.get(embedder.identity.fingerprint)
        if rows is None:
            if not self._wanted.full():
                self._wanted.put_nowait(embedder)
            return None
        return rows[len(SPACED) :] if is_unspaced(question) else rows[: len(SPACED)]

    async def run(self) -> None:
        """Learn what was missed when somebody asked."""
        while True:
            await self.learn(await self._wanted.get())

    async def learn(self, embedder: Embedder) -> None:
        """See to it that the strangers of a model are known; a model that gives none now is asked again later.

        Whoever calls while another waits for the model goes on without them: no text is sent twice.
        """
        identity = embedder.identity
        fingerprint, now = identity.fingerprint, time.monotonic()
        if fingerprint in self._known or now < self._not_before.get(fingerprint, now):
            return
        self._not_before[fingerprint] = now + AGAIN_SECONDS
        path = self._folder / fingerprint
        rows = await asyncio.to_thread(_read, path, identity)
        if rows is None:
            try:
                rows = await _measured(embedder)
            except EmbeddingError as exc:
                log.info("how near strangers come is not known yet", model=identity.model, reason=str(exc))
                return
            await asyncio.to_thread(_keep, path, identity, rows)
        self._known[fingerprint] = rows


async def _measured(embedder: Embedder) -> Rows:
    """Return the vectors of the texts; raises EmbeddingError."""
    vectors = await embedder.embed_documents([Passage(text) for text in _TEXTS])
    rows = [vector for vector in vectors if not isinstance(vector, Unembeddable)]
    if len(rows) < len(_TEXTS):
        raise EmbeddingError("the model gives no vector for a plain sentence")
    return np.stack(rows).astype(np.float32)


def _read(path: Path, identity: EmbedderIdentity) -> Rows | None:
    """Return what was kept of a model; None if that is damaged, of other texts or of another model."""
    size = _DIGEST_BYTES + 2 * len(_TEXTS) * identity.dimensions
    try:
        data = read_octets(path.parent, path.name, max_bytes=size).data
    except (OSError, NotReadableError, TornReadError):
        return None
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if len(data) != size or digest != _digest(identity, body):
        return None
    rows = np.frombuffer(body, np.float16).reshape(len(_TEXTS), -1).astype(np.float32)
    is_whole = bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=LENGTH_TOLERANCE))
    return rows if is_whole else None


def _keep(path: Path, identity: EmbedderIdentity, rows: Rows) -> None:
    body = rows.astype(np.float16).tobytes()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, _digest(identity, body) + body)
    except OSError as exc:
        log.warning("what a model makes of strangers cannot be kept", reason=str(exc))


def _digest(identity: EmbedderIdentity, body: bytes) -> bytes:
    """Return what binds vectors to their model and their texts."""
    return sha256("\x1f".join((identity.fingerprint, *_TEXTS)).encode() + body).digest()
