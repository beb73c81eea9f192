"""The fastest thing there is to compare with: llama.cpp in a plain loop, one sequence a decode, nothing around it.

Run as `python -m bench.bare MODEL NICENESS`: reads a JSON list of texts a line, writes [tokens, seconds] a line.
"""

import ctypes
import json
import os
import sys
import time
from typing import Any, Final

import llama_cpp as library

CONTEXT: Final = 512
POOLING_MEAN: Final = 1


class Loop:
    """A loaded model."""

    def __init__(self, model: str) -> None:
        self._context, self._vocabulary = _load(model)
        self._batch = library.llama_batch_init(CONTEXT, 0, 1)

    def run(self, texts: list[str]) -> tuple[int, float]:
        """Embed every text; return how many tokens that were, and the seconds."""
        start = time.perf_counter()
        tokens = sum(_embed(self._context, self._vocabulary, self._batch, text) for text in texts)
        return tokens, time.perf_counter() - start


def _load(path: str) -> tuple[Any, Any]:
    library.llama_log_set(SILENCE, ctypes.c_void_p(0))
    library.llama_backend_init()
    model = library.llama_model_load_from_file(path.encode(), library.llama_model_default_params())
    parameters = library.llama_context_default_params()
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = CONTEXT
    parameters.n_seq_max = 1
    parameters.n_threads = parameters.n_threads_batch = 1
    parameters.pooling_type = POOLING_MEAN
    parameters.embeddings = True
    return library.llama_init_from_model(model, parameters), library.llama_model_get_vocab(model)


def _embed(context: Any, vocabulary: Any, batch: Any, text: str) -> int:
    data = text.encode()
    tokens = (ctypes.c_int32 * (len(data) + 2))()
    count = min(CONTEXT, library.llama_tokenize(vocabulary, data, len(data), tokens, len(tokens), True, False))
    batch.n_tokens = count
    for position in range(count):
        batch.token[position] = tokens[position]
        batch.pos[position] = position
        batch.n_seq_id[position] = 1
        batch.seq_id[position][0] = 0
        batch.logits[position] = 1
    if library.llama_decode(context, batch) != 0:
        raise RuntimeError("llama.cpp cannot decode a passage")
    library.llama_get_embeddings_seq(context, 0)
    return int(count)


def _drop(_level: int, _text: bytes, _user_data: object) -> None:
    """Take a line of llama.cpp's log."""


SILENCE: Final = library.llama_log_callback(_drop)
"""llama.cpp keeps the pointer only, so this must live on."""


def main() -> None:
    """Embed what stdin asks for, as nice as the daemon's worker is."""
    os.nice(int(sys.argv[2]))
    loop = Loop(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(loop.run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
