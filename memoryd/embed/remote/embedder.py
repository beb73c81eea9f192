"""The remote embedder: turns texts and media files into vectors at one provider's endpoint.

A rejected request is split until the text that causes the rejection is found; each media file has its own request. When
it is opened, it embeds a probe text to get the number of dimensions.
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
"""A text without information about the user that every model embeds."""
SHORTEST = 64
"""Least characters of a text to be halved if it is rejected as too long."""
SUSPECT = frozenset({FailureKind.REFUSED, FailureKind.FAILING})
"""Failures caused by the texts, the settings or the endpoint; a probe distinguishes them."""
NOT_THIS_INPUT = frozenset({FailureKind.REFUSED, FailureKind.TOO_LONG, FailureKind.TOO_MANY})
"""Failures caused by the text or file, not by the endpoint."""
TEXT_CHARACTERS = 128 * 1024
TITLE_CHARACTERS = 512
CACHED_VECTORS_MAX = 4096
"""How many vectors of partly failed calls are cached for the next call."""


class Channel(Struct):
    """An endpoint with its wire format; changes to the provider's older format if the newer address is unknown."""

    endpoint: Endpoint
    wire: OpenAiWire
    dimensions: int | None = None
    """The required length of all vectors; None before the first answer."""

    async def rows(self, inputs: Sequence[Input], purpose: Purpose, *, attempts: int | None = None) -> list[RawVector]:
        """Return one row per text, in order; raises CallError. There are at most `wire.items` inputs."""
        try:
            return await self._rows(self.wire, inputs, purpose, attempts)
        except CallError as error:
            older = self.wire.older
            # Ollama answers 404 with a message for an unknown model, and without one for an unknown path
            if error.kind is not FailureKind.MISSING or older is None or "model" in error.reason.lower():
                raise
        rows = [row for item in inputs for row in await self._rows(older, [item], purpose, attempts)]
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
        """Make a call and return one row per text; raises CallError, which quotes none of the texts."""
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
        """Return the rows of an answer; raises ValueError, and CallError if their length has changed."""
        rows = wire.rows(decode_json(body), count)
        for row in rows:
            # raised here so that the breaker counts it: vectors of two models must not be mixed
            if self.dimensions not in {None, len(row)}:
                raise CallError(
                    FailureKind.CHANGED,
                    f"it now answers with {len(row)} dimensions, and {self.dimensions} are wanted",
                    hint="if another model is behind the address for good, all notes are embedded with it soon",
                )
        first, others = vector_of(rows[0]), rows[1:]
        if isinstance(first, Unembeddable) and all(isinstance(vector_of(row), Unembeddable) for row in others):
            # a single bad row is caused by its text; if all rows are bad, a probe must find the cause
            raise CallError(FailureKind.FAILING, first.reason)
        return rows


class Splitter(Struct):
    """Splits texts into requests and adapts their number to the endpoint; `tokens` bounds one request."""

    channel: Channel
    tokens: float
    _items: int = BUSY_ITEMS

    def parts(self, inputs: Sequence[Input]) -> list[list[Input]]:
        """Return requests within the provider's limits; a text that exceeds them is a request of its own."""
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
        """Send one request, split if it is rejected, and add each result to `answers`; raises CallError."""
        try:
            await self._send(part, part, answers)
        except CallError as error:
            if error.kind in SUSPECT:
                await self.probe()
            await self._embed_halves(part, error, answers)

    async def probe(self) -> int:
        """Embed PROBE_INPUT and return the number of dimensions; raises CallError if it fails."""
        (row,) = await self.channel.rows([PROBE_INPUT], Purpose.DOCUMENT)
        return len(row)

    async def _send(
        self, sent: Sequence[Input], part: Sequence[Input], answers: Answers, *, attempts: int | None = None
    ) -> None:
        rows = await self.channel.rows(sent, Purpose.DOCUMENT, attempts=attempts)
        answers.update(zip(part, [vector_of(row) for row in rows], strict=True))

    async def _embed_halves(self, part: Sequence[Input], error: CallError, answers: Answers) -> None:
        """Continue after a rejection: with two halves of the request, or with a shorter text if there is only one."""
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
        """Return the vector of the longest beginning of a text that the endpoint accepts, by halving it."""
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
    """Await all calls, so that the results of each are stored; then raise the first failure, if any."""
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        if outcome is not None:
            raise outcome


class RemoteEmbedder:
    """Embedder over HTTP. `tokens` bounds one request and `context` one text, in tokens; 0: the endpoint truncates.

    Vectors that arrived before a call failed are cached for the next call, so that no text is paid for twice.
    """

    def __init__(self, channel: Channel, identity: EmbedderIdentity, *, tokens: int, context: int) -> None:
        self.channel = channel
        self._identity = identity
        self._context = context * ESTIMATE_MARGIN
        self._splitter = Splitter(channel, tokens=tokens * ESTIMATE_MARGIN)
        self._media: dict[bytes, Vector | Unembeddable] = {}
        """SHA-256 → result of files of a batch that failed for another file, so that no file is paid for twice."""
        self._cached: OrderedDict[Input, Vector | Unembeddable] = OrderedDict()

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the vector space: endpoint, model, dimensions and prompts, but no key and no header."""
        return self._identity

    @property
    def destination(self) -> str:
        """The host that texts are sent to."""
        return self.channel.endpoint.host

    async def aclose(self) -> None:
        """Close the connections."""
        await self.channel.endpoint.aclose()

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises EmbedderUnavailable if there is none in time, and EmbeddingError if the endpoint gives none for this
        text.
        """
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
        """Return a vector or a reason for each passage, in order; raises EmbedderUnavailable."""
        inputs = [self.input_of(passage) for passage in passages]
        texts = await self.answers_for([item for item in dict.fromkeys(inputs) if item is not None])
        files = {passage.attachment: passage.text for passage in passages if passage.attachment is not None}
        unsent = [file for file in files if file.sha256 not in self._media]
        try:
            await _finish(self._send_file(file, files[file]) for file in unsent)
        except CallError as error:
            raise unavailable(error) from error
        media = {file.sha256: self._media.pop(file.sha256) for file in files}

        def answer(passage: Passage, item: Input | None) -> Vector | Unembeddable:
            if passage.attachment is not None:
                return media[passage.attachment.sha256]
            return Unembeddable("empty text") if item is None else texts[item]

        return [answer(passage, item) for passage, item in zip(passages, inputs, strict=True)]

    async def answers_for(self, inputs: Sequence[Input]) -> Answers:
        """Return a vector or a reason for each input, which must be distinct; raises EmbedderUnavailable."""
        answers: Answers = {item: self._cached[item] for item in inputs if item in self._cached}
        try:
            parts = self._splitter.parts([item for item in inputs if item not in answers])
            await _finish(self._splitter.embed(part, answers) for part in parts)
        except BaseException as exc:
            self._cached |= answers
            while len(self._cached) > CACHED_VECTORS_MAX:
                self._cached.popitem(last=False)
            if isinstance(exc, CallError):
                raise unavailable(exc) from exc
            raise
        for item in inputs:
            self._cached.pop(item, None)
        return answers

    def input_of(self, passage: Passage) -> Input | None:
        """Return the input for the text of a passage; None if the text is empty, or an attachment is sent instead."""
        if passage.attachment is not None or not passage.text.strip():
            return None
        return self._input(self.channel.wire.prompts.document, passage.text, passage.title)

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
    """Return the beginning of a text that fits into about `context` tokens; 0 means no limit."""
    text = text[:TEXT_CHARACTERS]
    cost = estimate(text) if context else 0
    return text[: int(len(text) * context / cost)] if cost > context else text


def unavailable(error: CallError) -> EmbedderUnavailable:
    """Return the EmbedderUnavailable for a failed call."""
    return EmbedderUnavailable(error.reason, hint=error.hint)


async def open_remote(
    settings: RemoteSettings, credentials: Credentials, breaker: EndpointBreaker, on_lost: Lost | None = None
) -> RemoteEmbedder:
    """Embed PROBE_INPUT at the endpoint, and return an embedder with its dimensions.

    The `breaker` outlives a failed try and remembers how long the endpoint asked to wait.

    Raises ModelError for settings that cannot work, and EmbedderUnavailable, with a hint if one is known, if the
    endpoint does not answer, rejects the key or does not know the model.
    """
    breaker.start_with(credentials)
    wire = wire_of(settings, credentials.api_key)
    await asyncio.to_thread(tls)
    if settings.provider in BY_KEY and not credentials.api_key and settings.is_own_address:
        raise EmbedderUnavailable(f"no API key for {settings.provider}", hint=f"set {OWN_KEY}")
    row = PROVIDERS[settings.provider]
    endpoint = Endpoint(
        whose=settings.provider,
        base_url=wire.base_url,
        auth=wire.auth,
        credentials=credentials,
        concurrency=settings.concurrency or row.concurrency,
        timeouts=settings.timeouts,
        breaker=breaker,
        on_lost=on_lost,
    )
    channel = Channel(endpoint, wire)
    try:
        dimensions = channel.dimensions = await _dimensions(channel, settings)
    except BaseException:
        await endpoint.aclose()
        raise
    breaker.admit()
    identity = identity_of(settings, channel.wire, dimensions)
    return RemoteEmbedder(channel, identity, tokens=row.tokens, context=context_of(settings))


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
    """Return the name of the model at the endpoint."""
    model, row = settings.model_name, PROVIDERS[settings.provider]
    # at a router the maker's prefix is part of the model's name
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
    """Return the identity of the vectors; it has no key, no header, and no password or query of the address."""
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
    """Return how many tokens of one text the model takes; 0 if the endpoint truncates by itself, or it is unknown."""
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
