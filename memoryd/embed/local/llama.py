"""The embedding worker: a child process that loads one GGUF with llama.cpp and turns texts into vectors.

Run as `python -m memoryd.embed.local.llama FD`. FD is one end of a socket pair; the process ends when the other end is
closed.
"""

import math
import sys
from array import array
from collections.abc import Callable, Sequence

from memoryd.embed.local.frames import Embed, Embedded, Load, Message, NoResult, WorkerRequest
from memoryd.embed.local.worker_program import CHARACTERS_PER_TOKEN, LlamaModel, LoadError, library, serve

_POOLING = {"mean": 1, "cls": 2, "last": 3}
"""llama.cpp's `enum llama_pooling_type`."""


class EmbeddingModel:
    """A loaded embedding model."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model
        # the newer function differs only for models that project their output
        width = getattr(model.library, "llama_model_n_embd_out", model.library.llama_model_n_embd)
        self.dimensions = int(width(model.model))
        self.context = model.context
        self._specials = model.tokenize("", has_ends=True)

    def answer(self, request: WorkerRequest) -> Message:
        """Return Embedded with the vector of a text, or NoResult with the reason."""
        if not isinstance(request, Embed):
            return NoResult(request.id, "an embedding model embeds texts only")
        result = self.embed(request.text)
        if isinstance(result, str):
            return NoResult(request.id, result)
        return Embedded(request.id, result)

    def embed(self, text: str) -> bytes | str:
        """Return the vector of `text`, cut to the context, of length 1, as float32; or why there is none."""
        count = self._fit(self._model.tokenize(text[: self.context * CHARACTERS_PER_TOKEN], has_ends=True))
        if count <= self._specials:
            return "no token of the model's vocabulary in it"
        if failure := self._model.decode(count):
            return failure
        pointer = self._model.pooled()
        return _normalised(pointer[: self.dimensions] if pointer else ())

    def _fit(self, count: int) -> int:
        if count <= self.context:
            return count
        last = self._model.tokens[count - 1]
        if self._model.is_control_token(last):
            self._model.tokens[self.context - 1] = last
        return self.context


def _normalised(vector: Sequence[float]) -> bytes | str:
    if not all(map(math.isfinite, vector)):
        return "the model gives a vector that is not finite"
    length = math.hypot(*vector)
    if length == 0:
        return "the model gives a zero vector"
    return array("f", [number / length for number in vector]).tobytes()


def load(order: Load, _is_unwanted: Callable[[], bool]) -> EmbeddingModel:
    """Load the model; raises LoadError. A text takes milliseconds, so that no computation is interrupted."""
    if order.pooling not in _POOLING:
        raise LoadError(f"pooling {order.pooling!r} is none of {', '.join(_POOLING)}")
    return EmbeddingModel(LlamaModel(library(), order, _POOLING[order.pooling]))


if __name__ == "__main__":
    serve(int(sys.argv[1]), load)
