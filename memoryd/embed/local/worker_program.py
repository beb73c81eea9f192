"""The common part of all worker programs: load one GGUF and answer requests until the daemon closes the connection.

A program passes `serve` a function that loads its model. One thread reads messages, so that questions overtake
documents and cancelled requests are dropped; another computes. Requests are computed one at a time: several sequences
in one decode are slower, since attention spans the complete batch.

`LlamaModel` calls llama.cpp's C functions directly: `Llama.embed` of llama-cpp-python turns flash attention off, which
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
"""Text is cut to `context` times this before tokenization, since the tokenizer's time and stack use are unbounded."""
_LOG_ERROR = 4
"""ggml's GGML_LOG_LEVEL_ERROR."""


class LoadError(Exception):
    """The model cannot be loaded, or is unfit for the worker."""


class LoadedModel(Protocol):
    """A model that answers requests, with the number of values in an answer and the tokens of its context."""

    dimensions: int
    context: int

    def answer(self, request: WorkerRequest) -> Message:
        """Return the one reply to a request."""
        ...


class Lanes:
    """The queue between the reading thread and the computing thread."""

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
        """Mark a request that is queued or being computed; no effect on an answered request."""
        with self._changed:
            if number in self._queued:
                self._cancelled.add(number)
            elif number == self._taken:
                self._is_unwanted = True

    def take(self) -> tuple[WorkerRequest, bool]:
        """Wait for the next request, questions first; return it, and whether it was cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: any(self._waiting.values()))
            request = (self._waiting[Purpose.QUERY] or self._waiting[Purpose.DOCUMENT]).popleft()
            self._queued.discard(request.id)
            is_cancelled = request.id in self._cancelled
            self._cancelled.discard(request.id)
            self._taken, self._is_unwanted = request.id, False
            return request, is_cancelled

    def is_unwanted(self) -> bool:
        """Return whether the request being computed was cancelled. It is called often, so it takes no lock."""
        return self._is_unwanted


def serve(descriptor: int, load: Callable[[Load, Callable[[], bool]], LoadedModel]) -> None:
    """Serve the daemon at the other end of `descriptor` until it closes the connection; its first message is Load.

    `load` gets this message, and a function that returns whether the current request was cancelled; it raises
    LoadError.
    """
    prepare_process()
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


def prepare_process() -> None:
    """Send native output to stderr, lower the priority, and disable core dumps, which would contain memory text."""
    os.dup2(2, 1)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _listen(connection: socket.socket, lanes: Lanes) -> None:
    """Queue the daemon's messages; end the process when the connection ends, also during a computation."""
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
    """Receives llama.cpp's log: errors go to stderr and the first two are stored; other levels are dropped."""

    def __init__(self, library: Any) -> None:
        self._first: list[str] = []
        # llama.cpp stores only the pointer: the callback must live as long as the library logs
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
        """Return the first errors; later errors only repeat that the file cannot be loaded."""
        return "; ".join(self._first) or "llama.cpp gives no reason"


class LlamaModel:
    """A loaded model and its context. Never freed: the process ends instead.

    `pooling` is a value of llama.cpp's `enum llama_pooling_type`: how token vectors are combined into one vector.
    `is_unwanted` can end a computation early: it is called before each step, a few hundred times per computation.
    """

    def __init__(self, library: Any, order: Load, pooling: int, is_unwanted: Callable[[], bool] | None = None) -> None:
        self.library = library
        self._errors = ErrorLog(library)
        self.model = self._load(order)
        self.vocabulary = library.llama_model_get_vocab(self.model)
        self.context = min(order.context, int(library.llama_model_n_ctx_train(self.model)))
        # an attribute, since llama.cpp stores only the pointer
        self._abort = library.ggml_abort_callback(lambda _data: bool(is_unwanted and is_unwanted()))
        self._context = self._open(order, pooling, may_end=is_unwanted is not None)
        self._memory = library.llama_get_memory(self._context)
        self._batch = self._single_sequence()
        self.tokens = (ctypes.c_int32 * (self.context * CHARACTERS_PER_TOKEN * 4 + 16))()
        """The tokens of the last tokenization, and the input of the next decode."""
        self._longest = 0

    def tokenize(self, text: str, *, has_ends: bool, has_marks: bool = False) -> int:
        """Fill `tokens` and return their number; negative if they do not fit.

        `has_ends` adds the model's begin and end tokens; `has_marks` parses special tokens such as [CLS] in the text.
        """
        data = text.encode(errors="replace")
        count = self.library.llama_tokenize(
            self.vocabulary, data, len(data), self.tokens, len(self.tokens), has_ends, has_marks
        )
        return int(count)

    def tokens_of(self, text: str, *, has_marks: bool = False) -> list[int]:
        """Return the tokens of a text without begin and end; of a far too long text the first ones. Fills `tokens`."""
        while (count := self.tokenize(text, has_ends=False, has_marks=has_marks)) < 0:
            text = text[: len(text) // 2]
        return list(self.tokens[:count])

    def fill(self, tokens: Sequence[int]) -> int:
        """Write the given tokens, at most `context`, into `tokens` for the next decode; return their number."""
        for at, token in enumerate(tokens):
            self.tokens[at] = token
        return len(tokens)

    def text_of(self, token: int) -> str:
        """Return the text of a token in the vocabulary."""
        return str(self.library.llama_vocab_get_text(self.vocabulary, token).decode(errors="replace"))

    def decode(self, count: int) -> str:
        """Decode the first `count` of `tokens`; return why it failed, empty if it succeeded."""
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
        """Return the pointer to the pooled output of the last decode; false if there is none."""
        return self.library.llama_get_embeddings_seq(self._context, 0)

    def _release_logits(self, count: int) -> None:
        """Return the memory for the logits of `count` tokens (tokens × vocabulary floats) to the system.

        llama.cpp allocates and clears it whenever a text is longer than all before, though embedding computes no
        logits: half a gigabyte for 512 tokens of a model with many languages.
        """
        start = ctypes.cast(self.library.llama_get_logits(self._context), ctypes.c_void_p).value
        if start and sys.platform == "linux":
            end = start + count * self.library.llama_vocab_n_tokens(self.vocabulary) * ctypes.sizeof(ctypes.c_float)
            first, last = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
            if first < last:
                # complete pages only: the memory before and after is in use
                advise = ctypes.CDLL(None).madvise
                advise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), mmap.MADV_DONTNEED)

    def is_control_token(self, token: int) -> bool:
        """Return whether a token is a control token of the model, which never comes from text."""
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
            # else large operations run on the graphics card, and take memory there
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
    """Return the C functions of llama-cpp-python; with `is_whole` the full package, which is slower to import.

    Raises LoadError.
    """
    try:
        if not is_whole and "llama_cpp" not in sys.modules and (spec := find_spec("llama_cpp")):
            package = sys.modules["llama_cpp"] = ModuleType("llama_cpp")
            package.__path__ = spec.submodule_search_locations or []
        # not part of a plain installation
        return import_module("llama_cpp" if is_whole else "llama_cpp.llama_cpp")
    except (ImportError, OSError, RuntimeError) as exc:
        raise LoadError(f"llama-cpp-python cannot be used ({exc}); install memoryd[local]") from exc
