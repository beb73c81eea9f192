"""The embedding worker: a child process that loads one GGUF with llama.cpp and turns texts into vectors.

Run as `python -m memoryd.embed.local.llama FD`, FD being one end of a socket pair; it ends when the other end does.
Texts
are computed one at a time: several sequences in one decode are slower, since attention spans the whole batch. It calls
llama.cpp's C functions itself: llama-cpp-python's own `Llama.embed` turns flash attention off, which halves the speed
of long passages, and copies tokens one by one.
"""

import ctypes
import os
import re
import resource
import socket
import sys
from collections import deque
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoryd.embed.local.frames import (
    Cancel,
    Embed,
    Embedded,
    Failed,
    Load,
    Message,
    NoVector,
    Ready,
    receive,
    send,
)
from memoryd.embed.protocol import Purpose

NICENESS: Final = 10
CHARACTERS_PER_TOKEN: Final = 32
"""Beyond `context` times this, text is cut before the tokenizer sees it: its time and stack are not ours to bound."""

_POOLING: Final = {"mean": 1, "cls": 2, "last": 3}
"""llama.cpp's `enum llama_pooling_type`."""

_LOG_ERROR: Final = 4
"""ggml's GGML_LOG_LEVEL_ERROR."""


class LoadError(Exception):
    """The model cannot be loaded or used for embedding."""


class Lanes:
    """The queue between the reading thread and the computing one."""

    def __init__(self) -> None:
        self._waiting: dict[Purpose, deque[Embed]] = {Purpose.QUERY: deque(), Purpose.DOCUMENT: deque()}
        self._queued: set[int] = set()
        self._cancelled: set[int] = set()
        self._changed = Condition()

    def put(self, request: Embed) -> None:
        """Queue a text."""
        with self._changed:
            self._waiting[request.purpose].append(request)
            self._queued.add(request.id)
            self._changed.notify()

    def cancel(self, number: int) -> None:
        """Mark a text that is still queued; one that is computed already is left alone."""
        with self._changed:
            if number in self._queued:
                self._cancelled.add(number)

    def take(self) -> tuple[Embed, bool]:
        """Wait for the next text, questions first, and say whether it was cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            request = (self._waiting[Purpose.QUERY] or self._waiting[Purpose.DOCUMENT]).popleft()
            self._queued.discard(request.id)
            is_cancelled = request.id in self._cancelled
            self._cancelled.discard(request.id)
            return request, is_cancelled


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


class Model:
    """A loaded model and its context. Never freed: the process ends instead."""

    def __init__(self, library: Any, order: Load) -> None:
        self._library = library
        self._errors = ErrorLog(library)
        self._model = self._load(order)
        self._vocabulary = library.llama_model_get_vocab(self._model)
        self.dimensions = int(_output_width(library)(self._model))
        self.context = min(order.context, int(library.llama_model_n_ctx_train(self._model)))
        self._context = self._open(order)
        self._memory = library.llama_get_memory(self._context)
        self._batch = self._single_sequence()
        self._tokens = (ctypes.c_int32 * (self.context * CHARACTERS_PER_TOKEN * 4 + 16))()
        self._specials = self._tokenize("")

    def embed(self, text: str) -> NDArray[np.float32] | str:
        """Give the vector of `text`, cut to the context, of length 1; or why there is none."""
        count = self._fit(self._tokenize(text[: self.context * CHARACTERS_PER_TOKEN]))
        if count <= self._specials:
            return "no token of the model's vocabulary in it"
        self._batch.n_tokens = count
        ctypes.memmove(self._batch.token, self._tokens, count * ctypes.sizeof(ctypes.c_int32))
        if self._memory:
            self._library.llama_memory_clear(self._memory, True)
        status = self._library.llama_decode(self._context, self._batch)
        if status != 0:
            return f"llama.cpp cannot decode it (status {status})"
        return _normalised(self._pooled())

    def _load(self, order: Load) -> Any:
        if not Path(order.model).is_file():
            raise LoadError("no such file")
        self._library.llama_backend_init()
        parameters = self._library.llama_model_default_params()
        model = self._library.llama_model_load_from_file(os.fsencode(order.model), parameters)
        if not model:
            raise LoadError(self._errors.reason())
        return model

    def _open(self, order: Load) -> Any:
        if order.pooling not in _POOLING:
            raise LoadError(f"pooling {order.pooling!r} is none of {', '.join(_POOLING)}")
        parameters = self._library.llama_context_default_params()
        # a text longer than n_ubatch aborts the process
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.context
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = order.threads
        parameters.pooling_type = _POOLING[order.pooling]
        parameters.embeddings = True
        parameters.no_perf = True
        context = self._library.llama_init_from_model(self._model, parameters)
        if not context:
            raise LoadError(self._errors.reason())
        return context

    def _single_sequence(self) -> Any:
        batch = self._library.llama_batch_init(self.context, 0, 1)
        for position in range(self.context):
            batch.pos[position] = position
            batch.n_seq_id[position] = 1
            batch.seq_id[position][0] = 0
            batch.logits[position] = 1
        return batch

    def _tokenize(self, text: str) -> int:
        data = text.encode(errors="replace")
        # the model's own begin and end tokens are added; marks such as [CLS] inside the text stay text
        count = self._library.llama_tokenize(
            self._vocabulary, data, len(data), self._tokens, len(self._tokens), True, False
        )
        return int(count)

    def _fit(self, count: int) -> int:
        if count <= self.context:
            return count
        last = self._tokens[count - 1]
        if self._library.llama_vocab_is_control(self._vocabulary, last):
            self._tokens[self.context - 1] = last
        return self.context

    def _pooled(self) -> NDArray[np.float32]:
        pointer = self._library.llama_get_embeddings_seq(self._context, 0)
        if not pointer:
            return np.zeros(self.dimensions, np.float32)
        return np.ctypeslib.as_array(pointer, (self.dimensions,))


def _output_width(library: Any) -> Any:
    # newer; differs from n_embd only in models that project their output
    return getattr(library, "llama_model_n_embd_out", library.llama_model_n_embd)


def _normalised(vector: NDArray[np.float32]) -> NDArray[np.float32] | str:
    if not np.isfinite(vector).all():
        return "the model gives a vector that is not finite"
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if length == 0:
        return "the model gives a zero vector"
    return (vector / length).astype(np.float32)


def answer(model: Model, request: Embed, is_cancelled: bool) -> Message:
    """Give the one reply to a request."""
    if is_cancelled:
        return NoVector(request.id, "cancelled")
    result = model.embed(request.text)
    if isinstance(result, str):
        return NoVector(request.id, result)
    return Embedded(request.id, result.tobytes())


def listen(connection: socket.socket, lanes: Lanes) -> None:
    """Queue what the daemon sends, and end the process with the connection, also in the middle of a computation."""
    try:
        while (message := receive(connection)) is not None:
            match message:
                case Embed():
                    lanes.put(message)
                case Cancel():
                    lanes.cancel(message.id)
                case _:
                    raise ValueError(f"unexpected {type(message).__name__}")
    except (OSError, ValueError) as exc:
        print(f"connection lost: {exc}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is this program's log
        os._exit(1)
    os._exit(0)


def load(order: Load) -> Model:
    """Load the model; raises LoadError."""
    try:
        # heavy, and missing in a plain install
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as exc:
        raise LoadError(f"llama-cpp-python cannot be used ({exc}); install memoryd[local]") from exc
    return Model(llama_cpp, order)


def settle_down() -> None:
    """Make the process a good neighbour: native prints go to stderr, low priority, no core dump of memory text."""
    os.dup2(2, 1)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(descriptor: int) -> None:
    """Serve the daemon at the other end of `descriptor` until it hangs up."""
    settle_down()
    connection = socket.socket(fileno=descriptor)
    order = receive(connection)
    if not isinstance(order, Load):
        sys.exit("the first message must be Load")
    try:
        model = load(order)
    except LoadError as exc:
        send(connection, Failed(str(exc)))
        return
    lanes = Lanes()
    Thread(target=listen, args=(connection, lanes), daemon=True).start()
    send(connection, Ready(model.dimensions, model.context))
    while True:
        send(connection, answer(model, *lanes.take()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
