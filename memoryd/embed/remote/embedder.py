"""The remote embedder: texts and media files in, vectors of one provider's endpoint out.

A request that is refused is split until the one text that spoils it is found; each media file has its own request. To
open it asks its endpoint for the dimensions that it has.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Iterable, Sequence
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.embedding import BY_KEY, PROVIDERS
from memoryd.domain.text.tokens import estimate
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import Attachment, EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.embed.remote.breaker import CallError, EndpointBreaker, FailureKind
from memoryd.embed.remote.http import Endpoint, Lost, decode_json, tls
from memoryd.embed.remote.providers import (
    BUSY_ITEMS,
    CONTEXTS,
    ESTIMATE_MARGIN,
    SIZES,
    WIRES,
    Call,
    GeminiWire,
    Input,
    OpenAiWire,
    PromptTemplates,
    RawVector,
    WireOptions,
    overridden,
    vector_of,
)
from memoryd.embed.remote.settings import OWN_KEY, Credentials, RemoteSettings
from memoryd.errors import EmbedderUnavailable, EmbeddingError, ModelError
from memoryd.models.families import PromptTemplate

log = structlog.get_logger(__name__)

Answers = dict[Input, Vector | Unembeddable]
PROBE_INPUT = Input("memory")
"""A text that says nothing about the user and that every model embeds."""
SHORTEST = 64
"""Characters below which a text that is called too long is not halved any more."""
SUSPECT = frozenset({FailureKind.REFUSED, FailureKind.FAILING})
"""The texts may be the cause, or the settings, or the endpoint: a probe tells."""
NOT_THIS_INPUT = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY})
"""The text or file is to blame, not the endpoint."""
MediaAnswers = dict[bytes, Vector | Unembeddable]
"""By the SHA-256 of the bytes."""
TEXT_CHARACTERS = 128 * 1024
TITLE_CHARACTERS = 512
KEPT = 4096
"""How many vectors of calls that failed in part are kept for the next call."""


class Channel(Struct):
    """Speaks the provider's older format once the address of the newer one turned out to be unknown."""

    endpoint: Endpoint
    wire: OpenAiWire
    dimensions: int | None = None
    """What every answer must have from now on; None until the first one tells."""

    async def rows(self, inputs: Sequence[Input], purpose: Purpose, *, attempts: int | None = None) -> list[RawVector]:
        """Return one row a text, in order; raises CallError. `inputs` are no more than `wire.items`."""
        try:
            return await self._rows(self.wire, inputs, purpose, attempts)
        except CallError as error:
            older = self.wire.older
            # Ollama answers 404 in both cases: with words for a model it has not, without for a path it does not know
            if error.kind is not FailureKind.MISSING or older is None or "model" in error.reason.lower():
                raise
        rows = [row for one in inputs for row in await self._rows(older, [one], purpose, attempts)]
        self.wire = older
        return rows

    async def _rows(
        self, wire: OpenAiWire, inputs: Sequence[Input], purpose: Purpose, attempts: int | None
    ) -> list[RawVector]:
        return await self.ask(wire, wire.call(inputs, purpose), [item.text for item in inputs], purpose, attempts)

    async def ask(
        self,
        wire: OpenAiWire,
        call: Call,
        texts: Sequence[str],
        purpose: Purpose = Purpose.DOCUMENT,
        attempts: int | None = None,
    ) -> list[RawVector]:
        """Make a call, and return one row for each of the texts; raises CallError, which quotes none of them."""
        path, body = call
        return await self.endpoint.ask(
            "POST",
            self.endpoint.url(path),
            purpose,
            partial(self._decoded, wire, len(texts)),
            json_body=body,
            texts=texts,
            attempts=attempts,
        )

    def _decoded(self, wire: OpenAiWire, count: int, body: bytes) -> list[RawVector]:
        """Return the rows of an answer; raises ValueError, and CallError when their length has changed."""
        rows = wire.rows(decode_json(body), count)
        for row in rows:
            # told while the answer is read, so that the breaker counts it: vectors of two models are never mixed
            if self.dimensions not in {None, len(row)}:
                raise CallError(
                    FailureKind.CHANGED,
                    f"it now answers with {len(row)} dimensions, and {self.dimensions} are wanted",
                    hint="the model behind the address has changed; restart memoryd, or set outputDimensionality",
                )
        first, others = vector_of(rows[0]), rows[1:]
        if isinstance(first, Unembeddable) and all(isinstance(vector_of(row), Unembeddable) for row in others):
            # one of many is the fault of its text; where none is a vector, a probe tells whose fault it is
            raise CallError(FailureKind.FAILING, first.reason)
        return rows


class Splitter(Struct):
    """Remembers the size of request that an endpoint was heard to take. `tokens` bounds a request, too."""

    channel: Channel
    tokens: float
    _items: int = BUSY_ITEMS

    def parts(self, inputs: Sequence[Input]) -> list[list[Input]]:
        """Return requests within the provider's limits; a text that is larger than all of them stands alone."""
        parts: list[list[Input]] = []
        room, items = 0.0, min(self._items, self.channel.wire.items)
        for item in inputs:
            cost = estimate(item.text)
            if not parts or len(parts[-1]) >= items or cost > room:
                parts.append([])
                room = self.tokens
            parts[-1].append(item)
            room -= cost
        return parts

    async def embed(self, part: Sequence[Input], answers: Answers) -> None:
        """Send one request, or as many as it takes, and note every answer as it comes; raises CallError."""
        try:
            await self._send(part, part, answers)
        except CallError as error:
            if error.kind in SUSPECT:
                await self.probe()
            await self._embed_halves(part, error, answers)

    async def probe(self) -> int:
        """Embed a harmless text; the number of its dimensions. Raises CallError if even that fails."""
        (row,) = await self.channel.rows([PROBE_INPUT], Purpose.DOCUMENT)
        return len(row)

    async def _send(
        self, sent: Sequence[Input], part: Sequence[Input], answers: Answers, *, attempts: int | None = None
    ) -> None:
        rows = await self.channel.rows(sent, Purpose.DOCUMENT, attempts=attempts)
        answers.update(zip(part, [vector_of(row) for row in rows], strict=True))

    async def _embed_halves(self, part: Sequence[Input], error: CallError, answers: Answers) -> None:
        """Go on after a refusal: in halves, or, with a text that stands alone, with less of it."""
        if error.kind not in SUSPECT | {FailureKind.TOO_MANY, FailureKind.TOO_LONG}:
            raise error
        if len(part) == 1:
            answers[part[0]] = await self._embed_single(part[0], error, answers)
            return
        middle = len(part) // 2
        if error.kind is FailureKind.TOO_MANY:
            self._items = min(self._items, max(1, middle))
            log.info("smaller embedding requests from now on", texts=self._items, reason=error.reason)
        for half in (part[:middle], part[middle:]):
            try:
                await self._send(half, half, answers, attempts=1 if error.kind is FailureKind.FAILING else None)
            except CallError as again:
                await self._embed_halves(half, again, answers)

    async def _embed_single(self, item: Input, error: CallError, answers: Answers) -> Vector | Unembeddable:
        """Return the vector of as much of a text's beginning as the endpoint takes."""
        text = item.text
        while error.kind in {FailureKind.TOO_LONG, FailureKind.TOO_MANY} and len(text) > SHORTEST:
            text = text[: len(text) // 2]
            try:
                await self._send([Input(text, item.title)], [item], answers)
            except CallError as again:
                error = again
            else:
                return answers[item]
        if error.kind in SUSPECT | {FailureKind.TOO_LONG, FailureKind.TOO_MANY}:
            return Unembeddable(error.reason)
        raise error


async def _finish(calls: Iterable[Awaitable[None]]) -> None:
    """Await every call before the failure of the first that failed is raised: what the others bring is stored."""
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        if outcome is not None:
            raise outcome


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
        self._media: MediaAnswers = {}
        """Of files whose batch failed for another one: nothing is paid for twice."""
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
        question = self._input(self.channel.wire.prompts.query, text)
        try:
            (row,) = await self.channel.rows([question], Purpose.QUERY)
            vector = vector_of(row)
        except CallError as error:
            if error.kind in NOT_THIS_INPUT:
                raise EmbeddingError(f"no vector for this question: {error.reason}") from error
            raise unavailable(error) from error
        if isinstance(vector, Unembeddable):
            raise EmbeddingError(f"no vector for this question: {vector.reason}")
        return vector

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Give a vector or a reason for each passage, in order; raises EmbedderUnavailable."""
        inputs = [self.input_of(passage) for passage in passages]
        texts = await self.answers_for([item for item in dict.fromkeys(inputs) if item is not None])
        try:
            files = await self._media_answers(passages)
        except CallError as error:
            raise unavailable(error) from error

        def answer(passage: Passage, item: Input | None) -> Vector | Unembeddable:
            if passage.attachment is not None:
                return files[passage.attachment.sha256]
            return Unembeddable("empty text") if item is None else texts[item]

        return [answer(passage, item) for passage, item in zip(passages, inputs, strict=True)]

    async def answers_for(self, inputs: Sequence[Input]) -> Answers:
        """Return the same for texts as they are sent, each once; raises EmbedderUnavailable."""
        answers: Answers = {item: self._kept[item] for item in inputs if item in self._kept}
        try:
            parts = self._splitter.parts([item for item in inputs if item not in answers])
            await _finish(self._splitter.embed(part, answers) for part in parts)
        except BaseException as exc:
            self._kept |= answers
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            if isinstance(exc, CallError):
                raise unavailable(exc) from exc
            raise
        for item in inputs:
            self._kept.pop(item, None)
        return answers

    def input_of(self, passage: Passage) -> Input | None:
        """Return the text of the passage as it is sent; None if there is none, or a file to be sent instead."""
        if passage.attachment is not None or not passage.text.strip():
            return None
        return self._input(self.channel.wire.prompts.document, passage.text, passage.title)

    async def _media_answers(self, passages: Sequence[Passage]) -> MediaAnswers:
        """Return a vector or a reason for each attachment; raises CallError."""
        files = {passage.attachment: passage.text for passage in passages if passage.attachment is not None}
        await _finish(self._send_file(file, words) for file, words in files.items() if file.sha256 not in self._media)
        return {file.sha256: self._media.pop(file.sha256) for file in files}

    async def _send_file(self, file: Attachment, words: str) -> None:
        wire = self.channel.wire
        if not isinstance(wire, GeminiWire) or not wire.takes_media:
            self._media[file.sha256] = Unembeddable("this model embeds text only")
            return
        try:
            call = await asyncio.to_thread(wire.media_call, file.data, file.mime, words)
            (row,) = await self.channel.ask(wire, call, [words])
            self._media[file.sha256] = vector_of(row)
        except CallError as error:
            if error.kind not in NOT_THIS_INPUT | SUSPECT:
                raise
            await self._splitter.probe()
            self._media[file.sha256] = Unembeddable(error.reason)

    def _input(self, template: PromptTemplate, text: str, title: str = "") -> Input:
        title = title.strip()[:TITLE_CHARACTERS]
        return Input(template.apply(_truncate(text, self._context), title), title)


def _truncate(text: str, context: float) -> str:
    """Return the beginning of a text that fits about `context` tokens; 0 for no such bound."""
    text = text[:TEXT_CHARACTERS]
    cost = estimate(text) if context else 0
    return text[: int(len(text) * context / cost)] if cost > context else text


def unavailable(error: CallError) -> EmbedderUnavailable:
    """Return the failure as the callers of an embedder know it."""
    return EmbedderUnavailable(error.reason, hint=error.hint)


async def open_remote(
    settings: RemoteSettings, credentials: Credentials, breaker: EndpointBreaker, on_lost: Lost | None = None
) -> RemoteEmbedder:
    """Ask the endpoint for one vector, of a word that is not the user's, and return the embedder it tells of.

    A `breaker` that outlives the try remembers how long the endpoint asked to be left alone.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint where one is known, when
    the endpoint does not answer, refuses the key or does not know the model.
    """
    breaker.start_with(credentials)
    wire = wire_of(settings, credentials.api_key)
    await asyncio.to_thread(tls)
    channel = Channel(_endpoint(settings, credentials, wire, breaker, on_lost), wire)
    try:
        dimensions = channel.dimensions = await _dimensions(channel, settings)
    except BaseException:
        await channel.endpoint.aclose()
        raise
    breaker.admit()
    return RemoteEmbedder(
        channel,
        identity_of(settings, channel.wire, dimensions),
        tokens=PROVIDERS[settings.provider].tokens,
        context=context_of(settings),
    )


def _endpoint(
    settings: RemoteSettings,
    credentials: Credentials,
    wire: OpenAiWire,
    breaker: EndpointBreaker,
    on_lost: Lost | None,
) -> Endpoint:
    if settings.provider in BY_KEY and not credentials.api_key and settings.is_own_address:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint=f"set {OWN_KEY}")
    return Endpoint(
        whose=settings.provider,
        base_url=wire.base_url,
        auth=wire.auth,
        credentials=credentials,
        concurrency=settings.concurrency or PROVIDERS[settings.provider].concurrency,
        timeouts=settings.timeouts,
        breaker=breaker,
        on_lost=on_lost,
    )


async def _dimensions(channel: Channel, settings: RemoteSettings) -> int:
    try:
        (row,) = await channel.rows([PROBE_INPUT], Purpose.DOCUMENT, attempts=2)
    except CallError as exc:
        raise unavailable(exc) from exc
    if settings.dimensions not in {None, len(row)}:
        raise ModelError(
            f"{settings.dimensions} dimensions were asked for, and {channel.endpoint.host} answers with {len(row)}",
            hint=f"set memorySearch.outputDimensionality to {len(row)}, or leave it out",
        )
    return len(row)


def model_of(settings: RemoteSettings) -> str:
    """Return the model as the endpoint names it."""
    model, row = settings.model_name, PROVIDERS[settings.provider]
    # a router's models carry the maker's name: there it is part of theirs
    if row.is_spoken_by_others and not settings.is_own_address:
        return model
    for prefix in row.prefixes:
        model = model.removeprefix(prefix)
    return model


def wire_of(settings: RemoteSettings, api_key: str) -> OpenAiWire:
    """Return the provider's wire format for these settings; raises ModelError."""
    model, dimensions = model_of(settings), settings.dimensions
    sizes = SIZES.get(model)
    if sizes and dimensions not in {None, *sizes}:
        choices = ", ".join(map(str, sizes))
        raise ModelError(f"{model} gives no {dimensions} dimensions", hint=f"outputDimensionality is one of {choices}")
    options = WireOptions(
        base_url=settings.base_url,
        model=model,
        key=api_key,
        dimensions=dimensions,
        prompts=_prompts(settings),
        items=PROVIDERS[settings.provider].items,
    )
    return WIRES[settings.provider](options)


def identity_of(settings: RemoteSettings, wire: OpenAiWire, dimensions: int) -> EmbedderIdentity:
    """Return what the vectors depend on. No key, no header, and of the address neither a password nor a query."""
    address = urlsplit(wire.base_url)
    return EmbedderIdentity(
        provider=settings.provider,
        model=model_of(settings),
        revision="",
        endpoint=urlunsplit((address.scheme, address.netloc.rpartition("@")[2], address.path, "", "")),
        dimensions=dimensions,
        pooling="",
        query_prompt=wire.prompts.query.name,
        document_prompt=wire.prompts.document.name,
    )


def context_of(settings: RemoteSettings) -> int:
    """Return the tokens of one text that the model takes; 0 if the endpoint cuts by itself, or nobody knows."""
    row = PROVIDERS[settings.provider]
    return CONTEXTS.get(model_of(settings), row.context if settings.is_own_address else 0)


def _prompts(settings: RemoteSettings) -> PromptTemplates:
    model, wire = model_of(settings), WIRES[settings.provider]
    own = wire.own_prompts(model)
    query, document = settings.query, settings.document
    if not PROVIDERS[settings.provider].has_input_types:
        query, document = replace(query, input_type=None), replace(document, input_type=None)
    template = overridden(own.document, document)
    is_beside = wire.takes_title(model, template)
    return PromptTemplates(overridden(own.query, query), template if is_beside else template.titled)
