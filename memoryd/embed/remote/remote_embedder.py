"""The remote embedder: an Embedder over one provider's endpoint."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from memoryd.domain.embedding import Vector
from memoryd.domain.text.tokens import estimate
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.embed.remote.api import Input
from memoryd.embed.remote.catalogue import ESTIMATE_MARGIN
from memoryd.embed.remote.channel import Channel
from memoryd.embed.remote.failures import CallError, FailureKind
from memoryd.embed.remote.media_sender import MediaAnswers, MediaSender
from memoryd.embed.remote.normalising import vector_of
from memoryd.embed.remote.prompts import PromptTemplate
from memoryd.embed.remote.splitting import Answers, Splitter
from memoryd.errors import EmbedderUnavailable, EmbeddingError

TEXT_CHARACTERS: Final = 128 * 1024
TITLE_CHARACTERS: Final = 512
KEPT: Final = 4096
"""How many vectors of calls that failed in part are kept for the next call."""
NOT_THIS_TEXT: Final = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY})


class RemoteEmbedder:
    """Embedder over HTTP. `tokens` bounds one request, `context` one text, both in tokens; a context of 0 leaves the
    cutting to the endpoint.

    Vectors that came before a call failed are kept for the next call: no text is paid for twice.
    """

    def __init__(self, channel: Channel, identity: EmbedderIdentity, *, tokens: int, context: int) -> None:
        self.channel = channel
        self._identity = identity
        self._context = context * ESTIMATE_MARGIN
        self._splitter = Splitter(channel, tokens=tokens * ESTIMATE_MARGIN)
        self._media = MediaSender(channel, self._splitter)
        self._kept: OrderedDict[Input, Vector | Unembeddable] = OrderedDict()

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space: endpoint, model, dimensions, prompts; no key and no header."""
        return self._identity

    @property
    def destination(self) -> str:
        """The host that texts are sent to."""
        return self.channel.endpoint.host

    async def aclose(self) -> None:
        """Close the connections."""
        await self.channel.endpoint.aclose()

    async def embed_query(self, text: str) -> Vector:
        """Give the vector of a question; raises EmbedderUnavailable if there is none in time, and EmbeddingError if
        the endpoint gives none for this text."""
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        question = self._input(self.channel.api.prompts.query, text)
        try:
            (row,) = await self.channel.rows([question], Purpose.QUERY)
            vector = vector_of(row)
        except CallError as error:
            if error.kind in NOT_THIS_TEXT:
                raise EmbeddingError(f"no vector for this question: {error.reason}") from error
            raise unavailable(error) from error
        if isinstance(vector, Unembeddable):
            raise EmbeddingError(f"no vector for this question: {vector.reason}")
        return vector

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Give a vector or a reason for each passage, in order; raises EmbedderUnavailable."""
        inputs = [self.input_of(passage) for passage in passages]
        texts = await self.answers_for([item for item in dict.fromkeys(inputs) if item is not None])
        files = await self._media_answers(passages)

        def answer(passage: Passage, item: Input | None) -> Vector | Unembeddable:
            if passage.attachment is not None:
                return files[passage.attachment.sha256]
            return Unembeddable("empty text") if item is None else texts[item]

        return [answer(passage, item) for passage, item in zip(passages, inputs, strict=True)]

    async def answers_for(self, inputs: Sequence[Input]) -> Answers:
        """Return the same for texts as they are sent, each once; raises EmbedderUnavailable."""
        answers: Answers = {item: self._kept[item] for item in inputs if item in self._kept}
        try:
            await self._embed_all([item for item in inputs if item not in answers], answers)
        except BaseException:
            self._keep(answers)
            raise
        for item in inputs:
            self._kept.pop(item, None)
        return answers

    def input_of(self, passage: Passage) -> Input | None:
        """Return the text of the passage as it is sent; None if there is none, or a file to be sent instead."""
        if passage.attachment is not None or not passage.text.strip():
            return None
        return self._input(self.channel.api.prompts.document, passage.text, passage.title)

    async def _embed_all(self, todo: Sequence[Input], answers: Answers) -> None:
        parts = self._splitter.parts(todo)
        # every request ends before the failure of one is told: what the others bring is kept
        outcomes = await asyncio.gather(
            *(self._splitter.embed(part, answers) for part in parts), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, CallError):
                raise unavailable(outcome) from outcome
            if outcome is not None:
                raise outcome

    def _keep(self, answers: Answers) -> None:
        self._kept |= answers
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def _input(self, template: PromptTemplate, text: str, title: str = "") -> Input:
        title = title.strip()[:TITLE_CHARACTERS]
        return Input(template.apply(_cut(text, self._context), title), title)

    async def _media_answers(self, passages: Sequence[Passage]) -> MediaAnswers:
        try:
            return await self._media.answers_for(passages)
        except CallError as error:
            raise unavailable(error) from error


def _cut(text: str, context: float) -> str:
    """Return the beginning of a text that fits about `context` tokens; 0 for no such bound."""
    text = text[:TEXT_CHARACTERS]
    cost = estimate(text) if context else 0
    return text[: int(len(text) * context / cost)] if cost > context else text


def unavailable(error: CallError) -> EmbedderUnavailable:
    """Return the failure as the callers of an embedder know it."""
    return EmbedderUnavailable(error.reason, hint=error.hint)
