"""Families of rerankers, cross-encoders that read a question and a text together, and what their files must hold.

llama.cpp ranks with any model that has a classification head. What is told apart by metadata is what the head's number
means, and whether the file must carry the template of its pairs.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoryd.errors import ModelError
from memoryd.models.gguf_header import RERANKING_KEY, GgufHeader, read_header

HEADS: Final = frozenset({"cls.weight", "cls.output.weight"})
"""One of these tensors is the head; some models have the first alone, some the second."""
TEMPLATE_KEY: Final = "tokenizer.chat_template.rerank"
YES_OR_NO: Final = frozenset({"qwen3", "qwen3vl"})
"""Architectures of which llama.cpp gives a probability: a softmax over yes and no, yes first."""

RULES: Final = (
    ("bge-reranker", r"bge-reranker"),
    ("jina-reranker", r"jina-reranker"),
    ("qwen3-reranker", r"qwen3(-vl)?-reranker"),
)
"""(family, pattern over lower-case words joined by hyphens); the first match counts."""


@dataclass(frozen=True, slots=True)
class Reranker:
    """What the header of a GGUF says about a reranker."""

    name: str
    """`general.name`, else that of the file."""
    family: str
    """bge-reranker, jina-reranker, qwen3-reranker, or plain."""
    architecture: str
    context: int
    """Tokens of a question and a text together."""

    def relevance(self, score: float) -> float:
        """Return the head's number as 0 to 1, in the same order: a probability as it is, a logit by the sigmoid.

        Raises ValueError for one that is not finite.
        """
        if not math.isfinite(score):
            raise ValueError("the model gives a score that is not finite")
        if self.architecture in YES_OR_NO:
            return min(1.0, max(0.0, score))
        # the form for negative numbers too, which would overflow in the other
        return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))


def inspect_reranker(path: Path) -> Reranker:
    """Return what the file says about itself, once it is known to be a whole reranker.

    Raises ModelError in plain words, which name the key: missing, unreadable, cut short, damaged, no head that ranks.
    Blocks as `inspect` does: call it in a thread.
    """
    header = read_header(path, key=RERANKING_KEY)
    architecture = str(header.values.get("general.architecture", ""))
    context = header.values.get(f"{architecture}.context_length")
    if reason := _unfitness(header, architecture, context):
        raise ModelError(f"the model {path} {reason}", hint=f"name a reranker in {RERANKING_KEY}")
    name = str(header.values.get("general.name", "")).strip()
    names = (name, str(header.values.get("general.basename", "")), path.stem)
    return Reranker(name or path.stem, _family(names), architecture, int(context or 0))


def has_rank_head(header: GgufHeader) -> bool:
    """Tell whether a model has a head that may rank."""
    return not HEADS.isdisjoint(header.heads)


def _unfitness(header: GgufHeader, architecture: str, context: object) -> str:
    parts = header.values.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        return f"is one of {parts} parts; a model in one file is needed"
    if not architecture or not header.tensors or not isinstance(context, int) or context < 1:
        return "has no weights or does not say what it is"
    if not has_rank_head(header):
        return f"has no head that ranks (architecture {architecture}); it is not a reranker, or was converted as none"
    if architecture in YES_OR_NO and not header.values.get(TEMPLATE_KEY):
        return f"does not say how a question and a text are put to it ({TEMPLATE_KEY} is missing)"
    return ""


def _family(names: tuple[str, ...]) -> str:
    for name in names:
        words = re.sub(r"[^a-z0-9]+", "-", name.lower())
        for family, pattern in RULES:
            if re.search(pattern, words):
                return family
    return "plain"
