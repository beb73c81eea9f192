"""Models that write text: what their files must hold to answer under a grammar."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.errors import ModelError
from memoryd.models.families import ENCODERS
from memoryd.models.gguf_header import WRITING_KEY, GgufHeader, read_header
from memoryd.models.rerankers import has_rank_head

TEMPLATE_KEY: Final = "tokenizer.chat_template"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """What the header of a GGUF says about a model that writes."""

    name: str
    """`general.name`, else that of the file."""
    architecture: str
    context: int
    """Tokens of a question and its answer together."""
    has_template: bool
    """Whether it says how a chat is put to it."""


def inspect_chat_model(path: Path) -> ChatModel:
    """Return what the file says about itself, once it is known to be a whole model that writes.

    Raises ModelError in plain words, which name the key: missing, unreadable, cut short, damaged, for vectors.
    Blocks as `inspect` does: call it in a thread.
    """
    header = read_header(path, key=WRITING_KEY)
    architecture = str(header.values.get("general.architecture", ""))
    context = header.values.get(f"{architecture}.context_length")
    if reason := _unfitness(header, architecture, context):
        raise ModelError(f"the model {path} {reason}", hint=f"name a chat model in {WRITING_KEY}")
    name = str(header.values.get("general.name", "")).strip() or path.stem
    return ChatModel(name, architecture, int(context or 0), TEMPLATE_KEY in header.values)


def _unfitness(header: GgufHeader, architecture: str, context: object) -> str:
    parts = header.values.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        return f"is one of {parts} parts; a model in one file is needed"
    if not architecture or not header.tensors or not isinstance(context, int) or context < 1:
        return "has no weights or does not say what it is"
    if architecture in ENCODERS or header.values.get(f"{architecture}.pooling_type"):
        return f"makes vectors (architecture {architecture}); it does not write"
    if has_rank_head(header):
        return "is a reranker; it does not write"
    return ""
