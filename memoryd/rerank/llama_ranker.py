"""The reranking worker: a child process that loads one GGUF with llama.cpp and scores how a text answers a question.

Run as `python -m memoryd.rerank.llama_ranker FD`, FD being one end of a socket pair; it ends when the other end does.
"""

import sys
from collections.abc import Callable
from typing import Final

from memoryd.embed.local.frames import RANK_POOLING, Load, Message, NoResult, Score, Scored, WorkerRequest
from memoryd.embed.local.worker_program import LlamaModel, LoadError, Pooling, library, serve
from memoryd.rerank.pair_format import PairFormat

_POOLING_RANK: Final = 4
"""llama.cpp's LLAMA_POOLING_TYPE_RANK: the classification head on top of what is pooled."""


class RankingModel:
    """A loaded model that scores pairs; `dimensions` is the number of its classes."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model
        self._format = PairFormat(model)
        self.dimensions = int(model.library.llama_model_n_cls_out(model.model))
        self.context = model.context

    def answer(self, request: WorkerRequest) -> Message:
        """Return the score of a pair, or why there is none."""
        if not isinstance(request, Score):
            return NoResult(request.id, "a reranker scores pairs only")
        count = self._model.fill(self._format.tokens(request.question, request.text))
        if failure := self._model.decode(count):
            return NoResult(request.id, failure)
        pooled = self._model.pooled()
        # the first class is the one that is asked for: the only one, or yes
        return Scored(request.id, float(pooled[0])) if pooled else NoResult(request.id, "the model gives no score")


def load(order: Load, is_unwanted: Callable[[], bool]) -> RankingModel:
    """Load the model; raises LoadError. A pair may take seconds: one that nobody waits for is broken off."""
    if order.pooling != RANK_POOLING:
        raise LoadError(f"pooling {order.pooling!r} is not {RANK_POOLING}")
    return RankingModel(LlamaModel(library(), order, Pooling(_POOLING_RANK, is_unwanted)))


if __name__ == "__main__":
    serve(int(sys.argv[1]), load)
