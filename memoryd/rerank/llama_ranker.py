"""The reranking worker: a child process that loads one GGUF with llama.cpp and scores how a text answers a question.

Run as `python -m memoryd.rerank.llama_ranker FD`, FD being one end of a socket pair; it ends when the other end closes.

Question and text are formatted as by llama.cpp's own server. Models with a template named `rerank` (qwen3-reranker) get
it filled in; others (bge-reranker, jina-reranker) get both texts with the marks of their vocabulary:
[BOS]question[EOS][SEP]text[EOS]. Source: `format_prompt_rerank` of llama.cpp, tools/server/server-common.cpp. Unlike
there, marks inside a question or a text are plain text, and long texts are cut.
"""

import re
import sys
from collections.abc import Callable, Iterator

from memoryd.domain.expressions import expression
from memoryd.embed.local.frames import RANK_POOLING, Load, Message, NoResult, Score, Scored, WorkerRequest
from memoryd.embed.local.worker_program import CHARACTERS_PER_TOKEN, LlamaModel, LoadError, library, serve

QUESTION = "{query}"
TEXT = "{document}"
QUESTION_SHARE = 2
"""A question takes at most one part in this many of the room for question and text."""
_SLOT = expression(f"{re.escape(QUESTION)}|{re.escape(TEXT)}")
_POOLING_RANK = 4
"""llama.cpp's LLAMA_POOLING_TYPE_RANK: the classification head on the pooled output."""


class PairFormat:
    """The input format of one model's pairs. Raises LoadError if the model's template has no places for both texts."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model
        template = model.library.llama_model_chat_template(model.model, b"rerank")
        self._parts = list(_template_parts(model, template.decode()) if template else _mark_parts(model))
        """Tokens, and strings with the places of question and text."""
        if not all(any(slot in part for part in self._parts if isinstance(part, str)) for slot in (QUESTION, TEXT)):
            raise LoadError(f"its template for pairs lacks {QUESTION} or {TEXT}")
        self._room = model.context - len(self._fill("", ""))
        if self._room < 1:
            raise LoadError(f"its template for pairs fills the context of {model.context} tokens")

    def tokens(self, question: str, text: str) -> list[int]:
        """Return the tokens of a pair. Question and text are cut at their ends so that both fit into the context."""
        limit = self._model.context
        share = limit - self._room // QUESTION_SHARE
        question = _longest_fit(self._truncate(question), lambda start: len(self._fill(start, "")) <= share)
        text = _longest_fit(self._truncate(text), lambda start: len(self._fill(question, start)) <= limit)
        return self._fill(question, text)

    def _fill(self, question: str, text: str) -> list[int]:
        tokens: list[int] = []
        for part in self._parts:
            if isinstance(part, int):
                tokens.append(part)
            else:
                # both in one pass: {document} inside a question is no place for the text
                filled = _SLOT.sub(lambda slot: question if slot[0] == QUESTION else text, part)
                tokens += self._model.tokens_of(filled)
        return tokens

    def _truncate(self, text: str) -> str:
        return text[: self._model.context * CHARACTERS_PER_TOKEN]


def _longest_fit(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of a text that fits; the empty text always does."""
    if fits(text):
        return text
    low, high = 0, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    return text[:low]


def _template_parts(model: LlamaModel, template: str) -> Iterator[int | str]:
    """Split a template at its marks, so that the same characters inside a text stay plain text."""
    marks = {
        model.text_of(token): token
        for token in model.tokens_of(template, has_marks=True)
        if model.is_control_token(token)
    }
    if not marks:
        yield template
        return
    longest_first = sorted(marks, key=len, reverse=True)
    for piece in re.split(f"({'|'.join(map(re.escape, longest_first))})", template):
        if piece:
            yield marks.get(piece, piece)


def _mark_parts(model: LlamaModel) -> Iterator[int | str]:
    """Yield the places of both texts, between the marks that the vocabulary adds."""
    library, vocabulary = model.library, model.vocabulary
    separator = library.llama_vocab_sep(vocabulary)
    end = library.llama_vocab_eos(vocabulary)
    end = separator if end < 0 else end
    has_end, has_separator = library.llama_vocab_get_add_eos(vocabulary), library.llama_vocab_get_add_sep(vocabulary)
    between = [token for token, has in ((end, has_end), (separator, has_separator)) if has and token >= 0]
    if library.llama_vocab_get_add_bos(vocabulary):
        yield library.llama_vocab_bos(vocabulary)
    yield QUESTION
    yield from between
    yield TEXT
    if has_end and end >= 0:
        yield end


class RankingModel:
    """A loaded model that scores pairs; `dimensions` is the number of its classes."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model
        self._format = PairFormat(model)
        self.dimensions = int(model.library.llama_model_n_cls_out(model.model))
        self.context = model.context

    def answer(self, request: WorkerRequest) -> Message:
        """Return the score of a pair, or the reason why there is none."""
        if not isinstance(request, Score):
            return NoResult(request.id, "a reranker scores pairs only")
        count = self._model.fill(self._format.tokens(request.question, request.text))
        if failure := self._model.decode(count):
            return NoResult(request.id, failure)
        pooled = self._model.pooled()
        # the first class is the only one, or "yes"
        return Scored(request.id, float(pooled[0])) if pooled else NoResult(request.id, "the model gives no score")


def load(order: Load, is_unwanted: Callable[[], bool]) -> RankingModel:
    """Load the model. Raises LoadError. A pair may take seconds; it is aborted when `is_unwanted` returns true."""
    if order.pooling != RANK_POOLING:
        raise LoadError(f"pooling {order.pooling!r} is not {RANK_POOLING}")
    return RankingModel(LlamaModel(library(), order, _POOLING_RANK, is_unwanted))


if __name__ == "__main__":
    serve(int(sys.argv[1]), load)
