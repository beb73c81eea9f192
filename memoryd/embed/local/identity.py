"""The identity of a local model: its content decides which vector a text gets, not its name."""

from pathlib import Path
from typing import Final

from memoryd.embed.protocol import EmbedderIdentity
from memoryd.models.families import ModelFamily, ModelMetadata
from memoryd.models.gguf import content_hash

REVISION_DIGITS: Final = 16


def identity_of(
    path: Path, metadata: ModelMetadata, family: ModelFamily, *, cache_dir: Path | None = None
) -> EmbedderIdentity:
    """Return the identity of the model at `path`; its revision is the first 16 hexadecimal digits of its SHA-256.

    Blocks while it hashes (a second for 300 MB): call it in a thread. With `cache_dir`, the hash is kept there
    for as long as the file's size, time and inode stay. Raises OSError if the file cannot be read.
    """
    return EmbedderIdentity(
        provider="local",
        model=metadata.name or path.stem,
        revision=content_hash(path, cache_dir=cache_dir)[:REVISION_DIGITS],
        endpoint="",
        dimensions=metadata.dimensions,
        pooling=family.pooling,
        query_prompt=family.query_prompt,
        document_prompt=family.document_prompt,
    )
