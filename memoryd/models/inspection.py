"""What a model file is, before anything is loaded: a whole embedding model, or why it is none."""

from pathlib import Path
from typing import Final

from memoryd.errors import ModelError
from memoryd.models.families import ModelMetadata, names_embedding
from memoryd.models.gguf_header import EMBEDDING_KEY, GgufHeader, Value, read_header

DIMENSIONS_MAX: Final = 65_536
POOLINGS: Final = {1: "mean", 2: "cls", 3: "last"}
POOLING_RANK: Final = 4


def inspect(path: Path) -> ModelMetadata:
    """Return what the file says about itself, once it is known to be a whole embedding model.

    Raises ModelError in plain words: missing, unreadable, a web page, no GGUF, cut short, not for embedding.
    Blocks (0.2 s for a vocabulary of 262,000): call it in a thread.
    """
    header = read_header(path)
    metadata = _describe(header, path)
    _require_embedding(header, metadata, path)
    return metadata


def _describe(header: GgufHeader, path: Path) -> ModelMetadata:
    values = header.values
    architecture = str(values.get("general.architecture", ""))
    pooling = values.get(f"{architecture}.pooling_type")
    return ModelMetadata(
        architecture=architecture,
        name=str(values.get("general.name", "")).strip(),
        dimensions=_count(values, f"{architecture}.embedding_length_out", f"{architecture}.embedding_length"),
        context=_count(values, f"{architecture}.context_length"),
        pooling=POOLINGS.get(pooling) if isinstance(pooling, int) else None,
        basename=str(values.get("general.basename", "")).strip(),
        file_name=path.stem,
    )


def _count(values: dict[str, Value], *keys: str) -> int:
    for key in keys:
        value = values.get(key)
        if isinstance(value, int) and value > 0:
            return value
    return 0


def _require_embedding(header: GgufHeader, metadata: ModelMetadata, path: Path) -> None:
    architecture = metadata.architecture
    parts = _count(header.values, "split.count")
    reason = ""
    if parts > 1:
        reason = f"is one of {parts} parts; a model in one file is needed"
    elif not architecture or not header.tensors or not metadata.context:
        reason = "has no weights or does not say what it is"
    elif header.values.get(f"{architecture}.pooling_type") == POOLING_RANK:
        reason = "is a reranker, not an embedding model"
    elif not names_embedding(metadata):
        reason = f"writes text (architecture {architecture}); it is not an embedding model"
    elif not 0 < metadata.dimensions <= DIMENSIONS_MAX:
        reason = f"has vectors of {metadata.dimensions} numbers"
    if reason:
        raise ModelError(f"the model {path} {reason}", hint=f"name an embedding model in {EMBEDDING_KEY}")
