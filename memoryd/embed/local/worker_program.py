"""What every worker program does: load one GGUF and answer requests until the daemon hangs up.

A program hands `serve` its way to load a model; one thread listens, so that a question overtakes documents and
cancelled requests are dropped, and one computes. Requests are computed one at a time: several sequences in one decode
are slower, since attention spans the whole batch.

`LlamaModel` calls llama.cpp's C functions itself: llama-cpp-python's own `Llama.embed` turns flash attention off, which
halves the speed of long passages, and copies tokens one by one.
"""

import ctypes
import mmap
import os
import re
import resource
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Condition, Thread
from types import ModuleType
from typing import Any, Protocol

from memoryd.embed.local.frames import (
    Cancel,
    Embed,
    Failed,
    Load,
    Message,
    NoResult,
    Ready,
    Score,
    WorkerRequest,
    Write,
    receive,
    send,
)
from memoryd.embed.protocol import Purpose

NICENESS = 10
CHARACTERS_PER_TOKEN = 32
"""Beyond `context` times this, text is cut before the tokenizer sees it: its time and stack are not ours to bound."""
_LOG_ERROR = 4
"""ggml's GGML_LOG_LEVEL_ERROR."""


class LoadError(Exception):
    """The model cannot be loaded or used for what is asked of it."""


class LoadedModel(Protocol):
    """A model that answers. `dimensions` is how many numbers it gives, `context` how many tokens it takes."""

    dimensions: int
    context: int

    def answer(self, request: WorkerRequest) -> Message:
        """Return the one reply to a request."""
        ...


class Lanes:
    """The queue between the reading thread and the computing one."""

    def __init__(self) -> None:
        self._waiting: dict[Purpose, deque[WorkerRequest]] = {Purpose.QUERY: deque(), Purpose.DOCUMENT: deque()}
        self._queued: set[int] = set()
        self._cancelled: set[int] = set()
        self._taken: int | None = None
        self._is_unwanted = False
        self._changed = Condition()

    def put(self, request: WorkerRequest) -> None:
        """Queue a request."""
        with self._changed:
            self._waiting[request.purpose].append(request)
            self._queued.add(request.id)
            self._changed.notify()

    def cancel(self, number: int) -> None:
        """Mark a request that is still queued, or computed now; one that is answered already is left alone."""
        with self._changed:
            if number in self._queued:
                self._cancelled.add(number)
            elif number == self._taken:
                self._is_unwanted = True

    def take(self) -> tuple[WorkerRequest, bool]:
        """Wait for the next request, questions first, and say whether it was cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            request = (self._waiting[Purpose.QUERY] or self._waiting[Purpose.DOCUMENT]).popleft()
            self._queued.discard(request.id)
            is_cancelled = request.id in self._cancelled
            self._cancelled.discard(request.id)
            self._taken, self._is_unwanted = request.id, False
            return request, is_cancelled

    def is_unwanted(self) -> bool:
        """Tell whether nobody waits for the request that was taken last; asked often, so it takes no lock."""
        return self._is_unwanted


def serve(descriptor: int, load: Callable[[Load, Callable[[], bool]], LoadedModel]) -> None:
    """Serve the daemon at the other end of `descriptor`, which first orders a model, until it hangs up.

    `load` is given the order, and what tells it that its present work is wanted no more; it raises LoadError.
    """
    settle_down()
    connection = socket.socket(fileno=descriptor)
    order = receive(connection)
    if not isinstance(order, Load):
        sys.exit("the first message must be Load")
    lanes = Lanes()
    try:
        model = load(order, lanes.is_unwanted)
    except LoadError as exc:
        send(connection, Failed(str(exc)))
        return
    Thread(target=_listen, args=(connection, lanes), daemon=True).start()
    offloads = bool(library().llama_supports_gpu_offload())
    send(connection, Ready(model.dimensions, model.context, offloads))
    while True:
        request, is_cancelled = lanes.take()
        send(connection, NoResult(request.id, "cancelled") if is_cancelled else model.answer(request))


def settle_down() -> None:
    """Make the process a good neighbour: native prints go to stderr, low priority, no core dump of memory text."""
    os.dup2(2, 1)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen(connection: socket.socket, lanes: Lanes) -> None:
    """Queue what the daemon sends, and end the process with the connection, also in the middle of a computation."""
    try:
        while (message := receive(connection)) is not None:
            match message:
                case Embed() | Score() | Write():
                    lanes.put(message)
                case Cancel():
                    lanes.cancel(message.id)
                case _:
                    raise ValueError(f"unexpected {type(message).__name__}")
    except (OSError, ValueError) as exc:
        print(f"connection lost: {exc}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is this program's log
        os._exit(1)
    os._exit(0)


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


class LlamaModel:
    """A loaded model and its context. Never freed: the process ends instead.

    `pooling` is a value of llama.cpp's `enum llama_pooling_type`: how the vectors of the tokens become one.
    `is_unwanted` lets a computation end early: asked before each step of it, a few hundred times in all.
    """

    def __init__(self, library: Any, order: Load, pooling: int, is_unwanted: Callable[[], bool] | None = None) -> None:
        self.library = library
        self._errors = ErrorLog(library)
        self.model = self._load(order)
        self.vocabulary = library.llama_model_get_vocab(self.model)
        self.context = min(order.context, int(library.llama_model_n_ctx_train(self.model)))
        # llama.cpp keeps the pointer only
        self._abort = library.ggml_abort_callback(lambda _data: bool(is_unwanted and is_unwanted()))
        self._context = self._open(order, pooling, may_end=is_unwanted is not None)
        self._memory = library.llama_get_memory(self._context)
        self._batch = self._single_sequence()
        self.tokens = (ctypes.c_int32 * (self.context * CHARACTERS_PER_TOKEN * 4 + 16))()
        """What was tokenised last, and what is decoded next."""
        self._longest = 0

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
        if status:
            return f"llama.cpp cannot decode it (status {status})"
        if count > self._longest:
            self._longest = count
            self._release_logits(count)
        return ""

    def pooled(self) -> Any:
        """Return the pointer to what the last computation gave; false if it gave nothing."""
        return self.library.llama_get_embeddings_seq(self._context, 0)

    def _release_logits(self, count: int) -> None:
        """Give back the memory for the logits of `count` tokens: a number for each of them and each of the vocabulary.

        llama.cpp makes and clears room for them whenever a text is longer than all before, though it computes none
        for a vector: half a gigabyte for 512 tokens of a model that knows many languages.
        """
        start = ctypes.cast(self.library.llama_get_logits(self._context), ctypes.c_void_p).value
        if start and sys.platform == "linux":
            end = start + count * self.library.llama_vocab_n_tokens(self.vocabulary) * ctypes.sizeof(ctypes.c_float)
            first, last = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
            if first < last:
                # whole pages alone: what stands before and behind is in use
                advise = ctypes.CDLL(None).madvise
                advise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), mmap.MADV_DONTNEED)

    def is_mark(self, token: int) -> bool:
        """Tell whether a token is a mark of the model, which no text has."""
        return bool(self.library.llama_vocab_is_control(self.vocabulary, token))

    def _load(self, order: Load) -> Any:
        if not Path(order.model).is_file():
            raise LoadError("no such file")
        self.library.llama_backend_init()
        parameters = self.library.llama_model_default_params()
        if order.gpu_layers is not None:
            parameters.n_gpu_layers = order.gpu_layers
        model = self.library.llama_model_load_from_file(os.fsencode(order.model), parameters)
        if not model:
            raise LoadError(self._errors.reason())
        return model

    def _open(self, order: Load, pooling: int, *, may_end: bool) -> Any:
        parameters = self.library.llama_context_default_params()
        # a text longer than n_ubatch aborts the process
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.context
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = order.threads
        parameters.pooling_type = pooling
        parameters.embeddings = True
        parameters.no_perf = True
        if order.gpu_layers == 0:
            # else a card computes what is large, and needs memory for it
            parameters.offload_kqv = parameters.op_offload = False
        if may_end:
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


def library(*, is_whole: bool = False) -> Any:
    """Return the C functions of llama-cpp-python, or the whole package, which imports for longer than a model loads.

    Raises LoadError.
    """
    try:
        if not is_whole and "llama_cpp" not in sys.modules and (found := find_spec("llama_cpp")):
            package = sys.modules["llama_cpp"] = ModuleType("llama_cpp")
            package.__path__ = found.submodule_search_locations or []
        # missing in a plain install
        return import_module("llama_cpp" if is_whole else "llama_cpp.llama_cpp")
    except (ImportError, OSError, RuntimeError) as exc:
        raise LoadError(f"llama-cpp-python cannot be used ({exc}); install memoryd[local]") from exc
