"""A model of one layer with random weights: any width, next to no computing, so that what is left is the search."""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from bench.corpus import VOCABULARY
from memoryd.domain.vector import Matrix
from memoryd.models.convert import CONTROL_TOKENS, convert

FEED_FORWARD = 32
CONTEXT = 512
FREQUENT = 2_000
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-.?`#"


def make_model(folder: Path, dimensions: int) -> Path:
    """Write a GGUF of that width; its vocabulary is the frequent words of the notes, and single characters."""
    path = folder / f"standin-{dimensions}.gguf"
    weights, vocabulary = path.with_suffix(".safetensors"), path.with_suffix(".txt")
    tokens = [*CONTROL_TOKENS, *CHARACTERS, *(f"##{sign}" for sign in CHARACTERS), *VOCABULARY[:FREQUENT]]
    tokens = list(dict.fromkeys(tokens))
    vocabulary.write_text("\n".join(tokens))
    save_file(_tensors(len(tokens), dimensions), weights)
    config = {
        "num_hidden_layers": 1,
        "hidden_size": dimensions,
        "num_attention_heads": 12,
        "intermediate_size": FEED_FORWARD,
        "max_position_embeddings": CONTEXT,
        "layer_norm_eps": 1e-12,
        "type_vocab_size": 2,
    }
    convert(f"stand-in {dimensions}", config, weights, vocabulary, path)
    return path


def _tensors(tokens: int, width: int) -> dict[str, Matrix]:
    layer = "encoder.layer.0"
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (tokens, width),
        "embeddings.position_embeddings.weight": (CONTEXT, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        f"{layer}.intermediate.dense.weight": (FEED_FORWARD, width),
        f"{layer}.intermediate.dense.bias": (FEED_FORWARD,),
        f"{layer}.output.dense.weight": (width, FEED_FORWARD),
        f"{layer}.output.dense.bias": (width,),
    }
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"{layer}.attention.{part}.weight"] = (width, width)
        shapes[f"{layer}.attention.{part}.bias"] = (width,)
    random = np.random.default_rng(width)
    tensors = {name: random.standard_normal(shape, dtype=np.float32) * 0.05 for name, shape in shapes.items()}
    for norm in ("embeddings.LayerNorm", f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        tensors[f"{norm}.weight"] = np.ones(width, np.float32)
        tensors[f"{norm}.bias"] = np.zeros(width, np.float32)
    return tensors
