"""A GGUF that llama.cpp has loaded, as the worker programs use it: texts into tokens, tokens into what is pooled.

It calls llama.cpp's C functions itself: llama-cpp-python's own `Llama.embed` turns flash attention off, which halves
the speed of long passages, and copies tokens one by one.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memoryd.embed.local.frames import Load
from memoryd.embed.local.worker_program import LoadError

CHARACTERS_PER_TOKEN: Final = 32
"""Beyond `context` times this, text is cut before the tokenizer sees it: its time and stack are not ours to bound."""

_LOG_ERROR: Final = 4
"""ggml's GGML_LOG_LEVEL_ERROR."""


class ErrorLog:
    """Takes llama.cpp's log: errors go to stderr and the first are kept, the rest is dropped."""

    def __init__(self, library: Any) -> None:
        self._first: list[str] = []
        # llama.cpp keeps the pointer only: the callback must live as long as the library logs
        self._callback = library.llama_log_callback(self._write)
        library.llama_log_set(self._callback, None)

    def _write(self, level: int, text: bytes, _user_data: object) -> None:
        if level != _LOG_ERROR:
            return
        line = text.decode(errors="replace").strip()
        if len(self._first) < 2:
            # without the C function's name
            self._first.append(re.sub(r"^\w+: ", "", line))
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - stderr is this program's log

    def reason(self) -> str:
        """Say what went wrong first; the errors after it only repeat that the file cannot be loaded."""
        return "; ".join(self._first) or "llama.cpp gives no reason"


@dataclass(frozen=True, slots=True)
class Pooling:
    """How the vectors of the tokens become one: a value of llama.cpp's `enum llama_pooling_type`.

    `is_unwanted` lets a computation end early: asked before each step of it, a few hundred times in all.
    """

    kind: int
    is_unwanted: Callable[[], bool] | None = None


class LlamaModel:
    """A loaded model and its context. Never freed: the process ends instead."""

    def __init__(self, library: Any, order: Load, pooling: Pooling) -> None:
        self.library = library
        self._errors = ErrorLog(library)
        self.model = self._load(order)
        self.vocabulary = library.llama_model_get_vocab(self.model)
        self.context = min(order.context, int(library.llama_model_n_ctx_train(self.model)))
        # llama.cpp keeps the pointer only
        self._abort = library.ggml_abort_callback(lambda _data: bool(pooling.is_unwanted and pooling.is_unwanted()))
        self._context = self._open(order, pooling)
        self._memory = library.llama_get_memory(self._context)
        self._batch = self._single_sequence()
        self.tokens = (ctypes.c_int32 * (self.context * CHARACTERS_PER_TOKEN * 4 + 16))()
        """What was tokenised last, and what is decoded next."""

    def tokenize(self, text: str, *, has_ends: bool, has_marks: bool = False) -> int:
        """Fill `tokens` and return how many there are; negative if they do not fit.

        `has_ends` adds the model's own begin and end; `has_marks` reads marks such as [CLS] inside the text as such.
        """
        data = text.encode(errors="replace")
        count = self.library.llama_tokenize(
            self.vocabulary, data, len(data), self.tokens, len(self.tokens), has_ends, has_marks
        )
        return int(count)

    def tokens_of(self, text: str, *, has_marks: bool = False) -> list[int]:
        """Return the tokens of a text alone, of one that is far too long only the first; `tokens` holds them, too."""
        while (count := self.tokenize(text, has_ends=False, has_marks=has_marks)) < 0:
            text = text[: len(text) // 2]
        return list(self.tokens[:count])

    def fill(self, tokens: Sequence[int]) -> int:
        """Put these into `tokens`, to be decoded; return how many there are, at most the context."""
        for at, token in enumerate(tokens):
            self.tokens[at] = token
        return len(tokens)

    def text_of(self, token: int) -> str:
        """Return how a token is written in the vocabulary."""
        return str(self.library.llama_vocab_get_text(self.vocabulary, token).decode(errors="replace"))

    def decode(self, count: int) -> str:
        """Compute the first `count` of `tokens`; return why that failed, empty if it did not."""
        self._batch.n_tokens = count
        ctypes.memmove(self._batch.token, self.tokens, count * ctypes.sizeof(ctypes.c_int32))
        if self._memory:
            self.library.llama_memory_clear(self._memory, True)
        status = self.library.llama_decode(self._context, self._batch)
        return "" if status == 0 else f"llama.cpp cannot decode it (status {status})"

    def pooled(self) -> Any:
        """Return the pointer to what the last computation gave; false if it gave nothing."""
        return self.library.llama_get_embeddings_seq(self._context, 0)

    def is_mark(self, token: int) -> bool:
        """Tell whether a token is a mark of the model, which no text has."""
        return bool(self.library.llama_vocab_is_control(self.vocabulary, token))

    def _load(self, order: Load) -> Any:
        if not Path(order.model).is_file():
            raise LoadError("no such file")
        self.library.llama_backend_init()
        parameters = self.library.llama_model_default_params()
        model = self.library.llama_model_load_from_file(os.fsencode(order.model), parameters)
        if not model:
            raise LoadError(self._errors.reason())
        return model

    def _open(self, order: Load, pooling: Pooling) -> Any:
        parameters = self.library.llama_context_default_params()
        # a text longer than n_ubatch aborts the process
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.context
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = order.threads
        parameters.pooling_type = pooling.kind
        parameters.embeddings = True
        parameters.no_perf = True
        if pooling.is_unwanted is not None:
            parameters.abort_callback = self._abort
        context = self.library.llama_init_from_model(self.model, parameters)
        if not context:
            raise LoadError(self._errors.reason())
        return context

    def _single_sequence(self) -> Any:
        batch = self.library.llama_batch_init(self.context, 0, 1)
        for position in range(self.context):
            batch.pos[position] = position
            batch.n_seq_id[position] = 1
            batch.seq_id[position][0] = 0
            batch.logits[position] = 1
        return batch


def library() -> Any:
    """Return llama-cpp-python; raises LoadError."""
    try:
        # heavy, and missing in a plain install
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as exc:
        raise LoadError(f"llama-cpp-python cannot be used ({exc}); install memoryd[local]") from exc
    return llama_cpp
