"""What a model file is wanted for: which key names it, what it must be, and what goes on without it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.models.chat_models import inspect_chat_model
from memoryd.models.gguf_header import EMBEDDING_KEY, RERANKING_KEY, WRITING_KEY, read_header
from memoryd.models.inspection import inspect
from memoryd.models.rerankers import has_rank_head, inspect_reranker


@dataclass(frozen=True, slots=True)
class ModelUse:
    """`check` raises ModelError in plain words if a file is no whole model of the kind."""

    key: str
    check: Callable[[Path], object]
    without: str


def _inspect_either(path: Path) -> object:
    return inspect_reranker(path) if has_rank_head(read_header(path)) else inspect(path)


EMBEDDING: Final = ModelUse(EMBEDDING_KEY, inspect, "keyword search works without it; to have vectors")
RERANKING: Final = ModelUse(RERANKING_KEY, inspect_reranker, "answers come without it; to have them reranked")
WRITING: Final = ModelUse(WRITING_KEY, inspect_chat_model, "all works without it; to have it label and write")
EITHER: Final = ModelUse(EMBEDDING_KEY, _inspect_either, EMBEDDING.without)
"""For whoever fetches a model by its name."""
